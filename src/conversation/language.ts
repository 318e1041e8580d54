// Which language a call is in: what speaks for another one, and when that is enough. Pure, plain data.

/** Turns in a row for a language that the call has not been in. */
export const TURNS_TO_CHANGE = 2;

/** The same for one that the call has left: who mixes two languages has it changed once, and not back and forth. */
export const TURNS_TO_RETURN = 3;

/** What is shorter may be a name, a number, or a word that every language has. */
const LEAST_WORDS = 3;

/** This much of a turn is in its language. */
const LEAST_SHARE = 0.7;

/** A piece of what the caller said, of which the recognizer has told the language. */
export interface SpokenPiece {
  /** BCP 47 tag. */
  readonly tag: string;
  /** How many words it has, numbers left out. */
  readonly words: number;
  /** How sure the recognizer is, or how much of the piece is in that language, 0-1. */
  readonly confidence: number;
}

/** The language of a call. Tags are BCP 47, as the agent names them. */
export interface CallLanguage {
  /** The one that it is in; null where none was named, and before anybody has spoken. */
  readonly tag: string | null;
  /** The one that the caller has changed to, whoever has talked to them since. @default they have not */
  readonly spoken?: string | undefined;
  /** Another one that the caller's last turns were in. */
  readonly heard: { readonly tag: string; readonly turns: number } | null;
  /** Those that it was in before. */
  readonly left: readonly string[];
  /** The turn that has counted last; null before the first. A turn that the caller goes on with counts once. */
  readonly turnIndex: number | null;
}

export const NO_LANGUAGE: CallLanguage = { tag: null, heard: null, left: [], turnIndex: null };

/** What a turn says about the language: one of `languages`, `other` for none of them, null where it says nothing. */
export function languageOfTurn(pieces: readonly SpokenPiece[], languages: readonly string[]): string | null {
  const words: Record<string, number> = Object.create(null);
  let all = 0;
  for (const piece of pieces) {
    const language = primaryOf(piece.tag);
    words[language] = (words[language] ?? 0) + piece.words * piece.confidence;
    all += piece.words;
  }
  const [most] = Object.entries(words).sort(([, one], [, other]) => other - one);
  if (most === undefined || all < LEAST_WORDS || most[1] / all < LEAST_SHARE) return null;
  return tagIn(languages, most[0]) ?? 'other';
}

/** The caller has finished a turn. What says nothing about the language changes nothing: "OK" is no vote for English. */
export function turnSpoken(
  language: CallLanguage,
  { pieces, turnIndex }: { readonly pieces: readonly SpokenPiece[]; readonly turnIndex: number },
  languages: readonly string[],
): CallLanguage {
  const spoken = turnIndex === language.turnIndex ? null : languageOfTurn(pieces, languages);
  if (spoken === null) return language;
  const counted = { ...language, turnIndex };
  if (spoken === language.tag || spoken === 'other') return { ...counted, heard: null };
  const turns = (language.heard?.tag === spoken ? language.heard.turns : 0) + 1;
  const needed = language.left.includes(spoken) ? TURNS_TO_RETURN : TURNS_TO_CHANGE;
  return turns < needed ? { ...counted, heard: { tag: spoken, turns } } : inLanguage(counted, spoken);
}

/** The call goes on in `tag`, and what spoke for another language is forgotten. */
export function inLanguage(language: CallLanguage, tag: string): CallLanguage {
  const { tag: before, left } = language;
  const others = before === null || before === tag || left.includes(before) ? left : [...left, before];
  return { ...language, tag, spoken: tag, heard: null, left: others };
}

/** Who speaks `languages` goes on in this one: the caller's own, else the one that the call is in. Undefined where that is none of them. */
export function languageAmong(
  languages: readonly string[],
  { spoken, tag }: CallLanguage,
): string | undefined {
  return tagIn(languages, spoken ?? null) ?? tagIn(languages, tag);
}

/** The one of `languages` that `tag` is, whatever its region; undefined where it is none of them. */
export function tagIn(languages: readonly string[], tag: string | null): string | undefined {
  return tag === null ? undefined : languages.find((each) => primaryOf(each) === primaryOf(tag));
}

/** The language of a tag, without script and region. */
export function primaryOf(tag: string): string {
  return tag.toLowerCase().split(/[-_]/)[0] ?? '';
}
