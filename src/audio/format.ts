// Audio formats by our names, and the size of a frame in each.

/** How audio is encoded on a wire. `pcm` is 16-bit signed little-endian. Mono always. */
export interface AudioFormat {
  readonly encoding: 'mulaw' | 'alaw' | 'pcm';
  readonly sampleRateHz: 8000 | 16000 | 24000;
}

/** Audio in one of two kinds: samples in the internal format, or bytes of a telephone's format, one for a sample. */
export type Audio = Int16Array | Uint8Array;

/** Length of a frame, in milliseconds. */
export const FRAME_MS = 20;

export const MULAW_8K: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
export const ALAW_8K: AudioFormat = { encoding: 'alaw', sampleRateHz: 8000 };
export const PCM_8K: AudioFormat = { encoding: 'pcm', sampleRateHz: 8000 };
/** The internal format: engines hear and speak it. */
export const PCM_16K: AudioFormat = { encoding: 'pcm', sampleRateHz: 16000 };
export const PCM_24K: AudioFormat = { encoding: 'pcm', sampleRateHz: 24000 };

/** Samples in one frame. */
export function frameSamples(format: AudioFormat): number {
  return (format.sampleRateHz * FRAME_MS) / 1000;
}

/** Bytes in one encoded frame. */
export function frameBytes(format: AudioFormat): number {
  return frameSamples(format) * (format.encoding === 'pcm' ? 2 : 1);
}

/** Bytes in a millisecond of encoded audio. */
export function bytesPerMs({ encoding, sampleRateHz }: AudioFormat): number {
  return (sampleRateHz / 1000) * (encoding === 'pcm' ? 2 : 1);
}

export function isSameFormat(one: AudioFormat, other: AudioFormat): boolean {
  return one.encoding === other.encoding && one.sampleRateHz === other.sampleRateHz;
}

/** True for the formats of the telephone network: mu-law and A-law of 8 kHz. Source: ITU-T G.711. */
export function isTelephone({ encoding, sampleRateHz }: AudioFormat): boolean {
  return encoding !== 'pcm' && sampleRateHz === 8000;
}

export function isPcm(audio: Audio): audio is Int16Array {
  return audio.BYTES_PER_ELEMENT === Int16Array.BYTES_PER_ELEMENT;
}

/** Samples, or bytes, in a millisecond. */
export function unitsPerMs(audio: Audio): number {
  return (isPcm(audio) ? PCM_16K : MULAW_8K).sampleRateHz / 1000;
}
