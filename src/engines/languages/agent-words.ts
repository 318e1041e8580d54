// What an agent says in its own words, language by language, and with which voice.
import { tagIn } from '../../conversation/language.js';
import type { TextToSpeech } from '../../providers/text-to-speech.js';
import type { IdleSettings } from '../turn-taking.js';
import { type Lexicon, lexiconFor } from './lexicon.js';
import { type SetPhrases, setPhrasesFor } from './set-phrases.js';

/** What options say of one language. */
export interface LanguageWords {
  /** BCP 47 tag. */
  readonly language: string;
  readonly apology: string | undefined;
  readonly fillers: readonly string[];
  /** Without it a silent caller is waited for without end. */
  readonly idle: IdleSettings | undefined;
  /** @default the agent's */
  readonly tts?: TextToSpeech | undefined;
}

export interface AgentWords {
  /** @default nobody knows */
  readonly language: string | undefined;
  readonly fillers: readonly string[];
  readonly idle: IdleSettings | undefined;
  readonly setPhrases: SetPhrases;
  readonly lexicon: Lexicon;
  readonly tts: TextToSpeech | undefined;
}

/** What options say, of one language or of several. */
export interface WordsOptions {
  /** BCP 47 tag, handed to the providers. */
  readonly language?: string | undefined;
  /** Said, by whoever can, when the call cannot go on. @default words of the language */
  readonly apology?: string | undefined;
  /** Without it the agent waits for a silent caller without end. */
  readonly idle?: IdleSettings | undefined;
  readonly turnTaking?: { readonly fillers: readonly string[] } | undefined;
  /** Where the call may be in one of several, the first of them `language`. @default `language` alone */
  readonly languages?: readonly LanguageWords[] | undefined;
}

/** The languages of an agent, the one that its calls begin in first. */
export type AgentLanguages = readonly [AgentWords, ...AgentWords[]];

export function toAgentLanguages({ languages = [], ...own }: WordsOptions): AgentLanguages {
  const { language, apology, idle, turnTaking } = own;
  const [first, ...others] = languages;
  if (first !== undefined) return [toWords(first), ...others.map(toWords)];
  return [toWords({ language, apology, idle, fillers: turnTaking?.fillers ?? [] })];
}

function toWords({
  language,
  apology,
  fillers,
  idle,
  tts,
}: Omit<LanguageWords, 'language'> & { language: string | undefined }): AgentWords {
  const [setPhrases, lexicon] = [setPhrasesFor(language, apology), lexiconFor(language)];
  return { language, fillers, idle, setPhrases, lexicon, tts };
}

/** Their tags; none where the language is not known. */
export function tagsOf(languages: readonly { readonly language?: string | undefined }[]): string[] {
  return languages.flatMap(({ language }) => language ?? []);
}

/** By the tags of their languages, the names of voices that speak one alone. */
export function voicesOf(languages: AgentLanguages): Readonly<Record<string, string>> {
  const named = languages.flatMap(({ language, tts }) =>
    language === undefined || tts === undefined ? [] : [[language, tts.name] as const],
  );
  return Object.fromEntries(named);
}

/** The words of the language `tag`; of the first where there are none. */
export function wordsIn(languages: AgentLanguages, tag: string | null): AgentWords {
  const known = tagIn(tagsOf(languages), tag);
  return languages.find(({ language }) => language === known) ?? languages[0];
}

/** What a model is told before the conversation. */
export function instructionsIn(languages: AgentLanguages, tag: string | null, systemPrompt = ''): string {
  return [systemPrompt, answerIn(languages, tag)].filter((each) => each !== '').join('\n\n');
}

/** As long as the voice speaks one language, the model is not to answer in another. '' where there is no choice. */
function answerIn(languages: AgentLanguages, tag: string | null): string {
  const { language } = wordsIn(languages, tag);
  if (languages.length === 1 || language === undefined) return '';
  const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language;
  return `The call is in ${name} (${language}). Answer in it, whatever language the caller or these instructions use.`;
}

/** Those of a lexicon that changes with the language. */
export function following(words: () => AgentWords): Lexicon {
  return {
    get shortAnswers() {
      return words().lexicon.shortAnswers;
    },
    get openEndings() {
      return words().lexicon.openEndings;
    },
    get backchannels() {
      return words().lexicon.backchannels;
    },
    get stopWords() {
      return words().lexicon.stopWords;
    },
  };
}
