// Which word is being said: records know when an entry began, and the envelope where its side sounded. The words are spread over that sound by
// their length. Pure: no browser, no clock.
import type { AudioEnvelope, TranscriptEntry } from '../../../contract/call-record.js';
import { shapeOf } from './envelope.js';

/** From the first to behind the last: epoch milliseconds, or characters of a text. */
export interface Span {
  from: number;
  to: number;
}

/** Where each side sounded, in order. */
export interface Sounds {
  caller: readonly Span[];
  agent: readonly Span[];
}

/** Above the noise of a line, of full scale. */
const SOUNDS_FROM = 4 / 128;
/** How long a character takes where nothing tells: some 15 a second. */
const CHARACTER_MS = 65;
/** An entry has no more sound than a slow voice takes for it: what comes behind that is noise. */
const SLOWEST = 2;
const LEAST_MS = 1000;
/** The words of a longer text are not found: that takes time that grows with its square. */
const MAX_LENGTH = 5000;

export const NO_SOUNDS: Sounds = { caller: [], agent: [] };

export function soundsOf(envelope: AudioEnvelope | null | undefined): Sounds {
  const shape = envelope == null ? null : shapeOf(envelope);
  if (envelope == null || shape === null) return NO_SOUNDS;
  const { startedAt, bucketMs } = envelope;
  const spansOf = (outline: typeof shape.caller) => {
    const spans: Span[] = [];
    for (const [index, [least, greatest]] of outline.entries()) {
      if (Math.max(-least, greatest) < SOUNDS_FROM) continue;
      const from = startedAt + index * bucketMs;
      const open = spans.at(-1);
      if (open?.to === from) open.to = from + bucketMs;
      else spans.push({ from, to: from + bucketMs });
    }
    return spans;
  };
  return { caller: spansOf(shape.caller), agent: spansOf(shape.agent) };
}

/** The words of a text, as characters of it: in any script. None where they are not to be found. */
export function wordsOf(text: string): readonly Span[] {
  const words: Span[] = [];
  // Browsers of before 2024 may have no segmenter.
  if (text.length > MAX_LENGTH || Intl.Segmenter === undefined) return words;
  for (const { segment, index, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text,
  ))
    if (isWordLike === true) words.push({ from: index, to: index + segment.length });
  return words;
}

/** When an entry sounded: what began on its side from its beginning on and before that of the next. */
export function soundOf(
  entry: TranscriptEntry,
  entries: readonly TranscriptEntry[],
  sounds: Sounds,
): readonly Span[] {
  const side = entry.role === 'agent' ? sounds.agent : sounds.caller;
  const next = entries.reduce(
    (soonest, { role, at }) => (role === entry.role && at > entry.at ? Math.min(soonest, at) : soonest),
    Number.POSITIVE_INFINITY,
  );
  const within: Span[] = [];
  let leftMs = Math.max(LEAST_MS, SLOWEST * entry.text.length * CHARACTER_MS);
  for (const { from, to } of side) {
    const begin = Math.max(from, entry.at);
    const end = Math.min(to, next, begin + leftMs);
    if (begin >= end) continue;
    within.push({ from: begin, to: end });
    leftMs -= end - begin;
  }
  if (within.length > 0) return within;
  return [{ from: entry.at, to: Math.min(next, entry.at + entry.text.length * CHARACTER_MS) }];
}

/** The index of the word that is said at `at`, or was last; null before the first. */
export function wordAt(words: readonly Span[], sound: readonly Span[], at: number): number | null {
  const first = sound[0];
  if (first === undefined || at < first.from || words.length === 0) return null;
  const lengthOf = (spans: readonly Span[]) => spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const heard = lengthOf(sound.map(({ from, to }) => ({ from, to: Math.max(from, Math.min(to, at)) })));
  let left = (heard / lengthOf(sound)) * lengthOf(words);
  for (const [index, { from, to }] of words.entries()) {
    left -= to - from;
    if (left < 0) return index;
  }
  return words.length - 1;
}
