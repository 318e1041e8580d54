// Where a recording has sound: the ruler that the caller's script and the report share.

/** A stretch of a recording, in milliseconds from its start. */
export interface Span {
  startMs: number;
  endMs: number;
}

const BLOCK_MS = 10;
/** -45 dBFS: under telephone speech, over line noise. */
const SOUND_RMS = 184;

/** True when the samples are louder than -45 dBFS on average. */
export function isSound(samples: Int16Array): boolean {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return samples.length > 0 && energy > SOUND_RMS * SOUND_RMS * samples.length;
}

export interface SpanOptions {
  sampleRateHz: number;
  /** A pause shorter than this does not end a span. @default 400 */
  joinMs?: number;
  /** A sound shorter than this is no span. @default 30 */
  minMs?: number;
}

/** The stretches of a recording that are louder than -45 dBFS, in blocks of 10 ms. */
export function findSpeech(samples: Int16Array, options: SpanOptions): Span[] {
  const { sampleRateHz, joinMs = 400, minMs = 30 } = options;
  const block = (sampleRateHz * BLOCK_MS) / 1000;
  const spans: Span[] = [];
  for (let index = 0; index * block < samples.length; index += 1) {
    const from = Math.round(index * block);
    const to = Math.min(samples.length, Math.round((index + 1) * block));
    if (!isSound(samples.subarray(from, to))) continue;
    joinSpan(spans, { startMs: (from * 1000) / sampleRateHz, endMs: (to * 1000) / sampleRateHz }, joinMs);
  }
  return spans.filter((span) => span.endMs - span.startMs >= minMs);
}

/** Adds a span behind the others; joined to the last one when the pause between them is shorter than `joinMs`. */
export function joinSpan(spans: Span[], span: Span, joinMs: number): void {
  const last = spans.at(-1);
  if (last !== undefined && span.startMs - last.endMs < joinMs) last.endMs = Math.max(last.endMs, span.endMs);
  else spans.push({ ...span });
}
