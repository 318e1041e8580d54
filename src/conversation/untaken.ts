// What the caller has said and pressed that no turn has taken, where their sound and words are gathered on this side, and whether more of it may
// come. Pure.
import type { TranscriptEntry } from '../contract/call-record.js';
import type { TurnTimes, View } from './floor.js';

export interface Untaken {
  /** Of the transcript, in order. One that is not final may be the last. */
  readonly entries: readonly TranscriptEntry[];
  /** What they have pressed, in words. */
  readonly keys: string;
  /** They press keys, and there may be more. */
  readonly isPressing: boolean;
  /** When they began to speak, in epoch milliseconds; null where nobody knows. */
  readonly startedAt: number | null;
  /** They make a sound, or words come of one. */
  readonly isSounding: boolean;
  /** They have finished, and words of it may still come; null where nobody waits for any. */
  readonly ended: TurnTimes | null;
  /** They have spoken for long enough to have said something, and no words have come of it. */
  readonly isWordless: boolean;
}

/** Words that come later than this behind a sound were not said in it, in milliseconds. */
export const LATEST_WORDS_MS = 5000;

export const NOTHING_UNTAKEN: Untaken = {
  entries: [],
  keys: '',
  isPressing: false,
  startedAt: null,
  isSounding: false,
  ended: null,
  isWordless: false,
};

/** What a turn takes. */
export interface Taken {
  /** In words, keys included. */
  readonly text: string;
  readonly startedAt: number | null;
  /** Entries of the transcript that have changed with it. */
  readonly moved: readonly TranscriptEntry[];
  /** The piece that whoever writes it is not done with, as it stands in the transcript now. It counts as it is. */
  readonly unfinished: TranscriptEntry | null;
}

export function textOf({ entries }: Untaken): string {
  return entries.map(({ text }) => text).join(' ');
}

/** The piece that is still being written. */
export function openIn({ entries }: Untaken): TranscriptEntry | undefined {
  const last = entries.at(-1);
  return last?.final === false ? last : undefined;
}

/** What the floor is to know of it. */
export function callerOf(untaken: Untaken): View['caller'] {
  const { keys, isPressing, isSounding, ended } = untaken;
  return {
    hasText: textOf(untaken) !== '',
    hasKeys: keys !== '',
    isPressing,
    isSounding,
    isActive: isSounding || ended !== null,
  };
}

/**
 * The caller makes a sound. `startedAt`: it is their voice, since then. Where that is known, nothing that they had finished is complete any more,
 * unless they were cut short, or had finished in a sound that goes on.
 */
export function sounds(untaken: Untaken, startedAt: number | undefined): Untaken {
  if (startedAt === undefined) return { ...untaken, isSounding: true };
  const isKept = untaken.ended?.isCutShort === true || untaken.ended?.isInSound === true;
  // A sound that had no words is none of what is said long after it.
  const hasBegun = untaken.isSounding || untaken.ended !== null || hasAny(untaken);
  const before = untaken.startedAt ?? startedAt;
  return {
    ...untaken,
    isSounding: true,
    startedAt: hasBegun || startedAt - before < LATEST_WORDS_MS ? before : startedAt,
    ended: isKept ? untaken.ended : null,
  };
}

/** There are words, of a sound that nobody has noticed where none is on, or was. */
export function active(untaken: Untaken): Untaken {
  return untaken.ended === null ? { ...untaken, isSounding: true } : untaken;
}

/** A piece of the transcript has come, has grown, or (without a text) is none. */
export function worded(untaken: Untaken, entry: TranscriptEntry): Untaken {
  const { entries } = untaken;
  const isKnown = entries.some(({ id }) => id === entry.id);
  const all = isKnown ? entries.map((each) => (each.id === entry.id ? entry : each)) : [...entries, entry];
  return { ...untaken, entries: all.filter(({ text }) => text !== '') };
}

/** Keys, in words: all that were pressed. */
export function pressed(untaken: Untaken, keys: string): Untaken {
  return { ...untaken, keys: `${untaken.keys} ${keys}`.trim(), isPressing: false };
}

/** Nobody listens any more: what was said and pressed stays. */
export function unheard(untaken: Untaken): Untaken {
  const startedAt = hasAny(untaken) ? untaken.startedAt : null;
  return { ...untaken, startedAt, isPressing: false, isSounding: false, ended: null };
}

function hasAny({ entries, keys }: Untaken): boolean {
  return entries.length > 0 || keys !== '';
}

/** A turn takes all of it, for itself (`turnIndex`). */
export function take(untaken: Untaken, turnIndex: number): { untaken: Untaken; taken: Taken } {
  const { entries, keys, startedAt } = untaken;
  const isMoved = (entry: TranscriptEntry) => !entry.final || entry.turnIndex !== turnIndex;
  const open = openIn(untaken);
  return {
    untaken: { ...untaken, entries: [], keys: '', startedAt: null },
    taken: {
      text: `${textOf(untaken)} ${keys}`.trim(),
      startedAt,
      moved: entries.filter(isMoved).map((entry) => ({ ...entry, turnIndex, final: true })),
      unfinished: open === undefined ? null : { ...open, turnIndex, final: true },
    },
  };
}

/** What was said is no turn. Final pieces stay in the transcript, an open one (`dropped`) goes. */
export function dismiss(untaken: Untaken): { untaken: Untaken; dropped: readonly TranscriptEntry[] } {
  const open = openIn(untaken);
  return {
    untaken: { ...untaken, entries: [] },
    dropped: open === undefined ? [] : [{ ...open, text: '', final: true }],
  };
}
