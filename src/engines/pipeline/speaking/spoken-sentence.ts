// One sentence of a reply on its way to the caller, and how much of it was spoken and heard. Positions are playout positions.
import type { Dropped } from './dropped-text.js';
import { heardPart, isWhole, type SentenceAudio } from '../../heard-text.js';
import type { SpokenTiming } from '../../spoken-timing.js';

export interface Sentence {
  readonly text: string;
  readonly dropped: readonly Dropped[];
  readonly begins: (() => void) | undefined;
  readonly mark: string;
  readonly timing: SpokenTiming;
  state: 'waiting' | 'speaking' | 'spoken' | 'heard' | 'silent';
  startMs: number;
  endMs: number;
}

/** True when nothing is to come of it, whether all of it was said or not. */
export function isOver({ state, endMs }: Sentence, playedMs: number): boolean {
  return state === 'heard' || (state === 'spoken' && playedMs >= endMs);
}

/** The words that the voice has said, or is about to. */
export function spokenPart(sentence: Sentence): string {
  const { text, state, startMs, endMs } = sentence;
  return state === 'speaking' ? text : heardPart(text, endMs - startMs, audioOf(sentence));
}

/** True once the playout has audio of it. */
export function isSounding({ startMs, endMs }: Sentence): boolean {
  return endMs > startMs;
}

/** The words that the caller has heard when the playout is at `playedMs`. */
export function heardOf(sentence: Sentence, playedMs: number): string {
  if (!isSounding(sentence)) return '';
  const { text, startMs, endMs, state } = sentence;
  return heardPart(text, (state === 'heard' ? endMs : playedMs) - startMs, audioOf(sentence));
}

/** Its audio, as far as there is any. */
export function audioOf({ text, startMs, endMs, state, timing }: Sentence): SentenceAudio {
  const audio = { producedMs: endMs - startMs, timing };
  return { ...audio, complete: state !== 'speaking' && isWhole(text, audio) };
}
