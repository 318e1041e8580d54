// What the caller says, each time by its name: its words may come while it is said, long after, or never. Pure.
import type { TranscriptEntry } from '../contract/call-record.js';
import type { Id, Moment } from './tools.js';

/** Something that the caller said or pressed. */
export interface Said {
  readonly id: Id;
  /** What whoever hears the caller calls it; null for what is whole and has its place in the transcript already. */
  readonly itemId: string | null;
  readonly text: string;
  readonly isFinal: boolean;
  /** The caller has finished it. */
  readonly isEnded: boolean;
  /** It was told as final while more of it may come. @default false */
  readonly isConcluded?: boolean;
  readonly turnIndex: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface CallerWords {
  readonly said: readonly Said[];
  /** Said, and not answered. */
  readonly unanswered: readonly Id[];
  /** Said over a connection that was lost, and to be heard again over the next one. */
  readonly repeated: readonly Id[];
  /** When the caller began what nobody has answered, and what they are saying now, in epoch milliseconds. */
  readonly startedAt: number | null;
  readonly speakingSince: number | null;
  /** When they finished what nobody has answered, on the clock. */
  readonly endedAt: number | null;
  readonly nextId: number;
}

/** The next value, and the entries of the transcript that have changed. */
export interface WordsChange {
  readonly words: CallerWords;
  readonly entries: readonly TranscriptEntry[];
}

export const NO_WORDS: CallerWords = {
  said: [],
  unanswered: [],
  repeated: [],
  startedAt: null,
  speakingSince: null,
  endedAt: null,
  nextId: 1,
};

export interface WordsPolicy {
  /** A text comes for everything that the caller says, often after the answer. */
  readonly transcribesCaller: boolean;
}

/** What the caller said before so many others is not spoken of any more, once its turn is over. */
const KEPT_SAID = 64;

/** What began longer ago another connection does not hear again from its beginning. */
const HEARD_AGAIN_MS = 5000;

export function named({ said }: CallerWords, ids: readonly Id[]): Said[] {
  return ids.flatMap((id) => said.find((each) => each.id === id) ?? []);
}

export function textOf(said: readonly Said[]): string {
  const texts = said.map(({ text }) => text);
  return texts.filter((text) => text !== '').join(' ');
}

export function began(words: CallerWords, { wall }: Moment): CallerWords {
  const speakingSince = words.speakingSince ?? wall;
  return { ...words, speakingSince, startedAt: words.startedAt ?? speakingSince };
}

/** The caller has finished what is called `itemId`. `turnIndex`: the turn that it is for, if it is not known yet. */
export function finished(
  words: CallerWords,
  { itemId, turnIndex, agoMs, at }: { itemId: string; turnIndex: number; agoMs: number; at: Moment },
  policy: WordsPolicy,
): WordsChange {
  // Not every model tells when the caller begins, or in time: what has ended began before.
  const endedAt = Math.floor(at.wall - agoMs);
  const speakingSince = Math.min(words.speakingSince ?? endedAt, endedAt);
  const { said, ...change } = sayingOf({ ...words, speakingSince }, { itemId, turnIndex, at }, policy);
  const isAnswered = !change.words.unanswered.includes(said.id);
  const startedAt = isAnswered ? words.startedAt : Math.min(words.startedAt ?? speakingSince, endedAt);
  const quiet = { ...change.words, startedAt, endedAt: at.now - agoMs, speakingSince: null };
  return { ...change, words: replaced(quiet, { ...said, isEnded: true }) };
}

/** Words, or keys in words, that are whole and have their place in the transcript. */
export function added(
  words: CallerWords,
  { text, turnIndex, at }: { text: string; turnIndex: number; at: Moment },
): CallerWords {
  return open(words, { itemId: null, text, isFinal: true, isEnded: true, turnIndex, at: at.wall }).words;
}

/** The text of what is called `itemId`, unless it had its last one. */
export function worded(
  words: CallerWords,
  told: { itemId: string; turnIndex: number; text: string; isFinal: boolean; at: Moment },
  policy: WordsPolicy,
): WordsChange & { isNew: boolean } {
  const { said, ...change } = sayingOf(words, told, policy);
  if (said.isFinal) return { ...change, isNew: false };
  const next = { ...said, text: told.text.trim(), isFinal: told.isFinal, isConcluded: false };
  return { words: replaced(change.words, next), entries: [...change.entries, entryOf(next)], isNew: true };
}

/** The turn takes all that nobody has answered. `taken`: what that is. */
export function taken(
  words: CallerWords,
  turnIndex: number,
  policy: WordsPolicy,
): WordsChange & { taken: readonly Id[] } {
  const moved = named(words, words.unanswered).filter((said) => said.turnIndex !== turnIndex);
  const said = moved.map((each) => ({ ...each, turnIndex }));
  const all = said.reduce(replaced, words);
  return {
    words: { ...all, unanswered: [], startedAt: null, endedAt: null },
    entries: said.filter((each) => isTold(each, policy)).map(entryOf),
    taken: words.unanswered,
  };
}

/** The connection is gone. What of `answered` and of the unanswered the next one hears again waits for it. */
export function lost(
  words: CallerWords,
  { answered, at }: { answered: readonly Id[]; at: Moment },
  { transcribesCaller }: WordsPolicy,
): CallerWords {
  const isRepeated = ({ itemId, at: saidAt, isEnded, isFinal }: Said) => {
    if (itemId === null || at.wall - saidAt > HEARD_AGAIN_MS) return false;
    return !isEnded || (transcribesCaller && !isFinal);
  };
  const again = named(words, [...answered, ...words.unanswered]).filter(isRepeated);
  const repeated = [...words.repeated, ...again.map(({ id }) => id)];
  return { ...words, repeated, unanswered: words.unanswered.filter((id) => !repeated.includes(id)) };
}

/** No words come of these any more. */
export function wordless(words: CallerWords, said: readonly Said[], policy: WordsPolicy): WordsChange {
  const empty = (each: Said): Said => ({ ...each, text: '', isFinal: true });
  const told = said.filter((each) => isTold(each, policy));
  return { words: said.map(empty).reduce(replaced, words), entries: told.map(empty).map(entryOf) };
}

/** The words as they are told where nobody waits for more of them: those that come all the same stand in their place. */
export function concluded(words: CallerWords, said: readonly Said[], policy: WordsPolicy): WordsChange {
  const open = said.filter((each) => !each.isFinal && each.isConcluded !== true && isTold(each, policy));
  const concluded = open.map((each) => ({ ...each, isConcluded: true }));
  const entries = open.map((each) => entryOf({ ...each, isFinal: true }));
  return { words: concluded.reduce(replaced, words), entries };
}

/** It has an entry of its own in the transcript. */
function isTold({ itemId, text }: Said, { transcribesCaller }: WordsPolicy): boolean {
  return itemId !== null && (transcribesCaller || text !== '');
}

/** What the caller says under this name, which has its place in the transcript from now on. */
function sayingOf(
  words: CallerWords,
  { itemId, turnIndex, at }: { itemId: string; turnIndex: number; at: Moment },
  { transcribesCaller }: WordsPolicy,
): WordsChange & { said: Said } {
  const known = words.said.find((said) => said.itemId === itemId);
  if (known !== undefined) return { words, entries: [], said: known };
  const unknown = {
    itemId,
    text: '',
    isFinal: false,
    isEnded: false,
    turnIndex,
    at: words.speakingSince ?? words.startedAt ?? at.wall,
  };
  const opened = open(words, unknown);
  return { ...opened, entries: transcribesCaller ? [entryOf(opened.said)] : [] };
}

function open(words: CallerWords, unnamed: Omit<Said, 'id'>): { words: CallerWords; said: Said } {
  const said = { id: `said-${words.nextId}`, ...unnamed };
  const all = [...words.said, said];
  // The turn before the one that this is for may be open.
  const isKept = ({ turnIndex }: Said, place: number) =>
    place >= all.length - KEPT_SAID || turnIndex === said.turnIndex - 1;
  return {
    said,
    words: {
      ...words,
      said: all.filter(isKept),
      unanswered: [...words.unanswered, said.id].slice(-KEPT_SAID),
      nextId: words.nextId + 1,
    },
  };
}

function replaced(words: CallerWords, said: Said): CallerWords {
  return { ...words, said: words.said.map((each) => (each.id === said.id ? said : each)) };
}

function entryOf({ itemId, turnIndex, text, at, isFinal }: Said): TranscriptEntry {
  return { id: `user-${itemId}`, turnIndex, role: 'user', text, at, final: isFinal };
}
