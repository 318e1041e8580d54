// Audio formats as the house names them, and the size of a frame in each.

/** How audio is encoded on a wire. `pcm` is 16-bit signed little-endian. Mono always. */
export interface AudioFormat {
  readonly encoding: 'mulaw' | 'alaw' | 'pcm';
  readonly sampleRateHz: 8000 | 16000 | 24000;
}

/** Length of a frame, in milliseconds. */
export const FRAME_MS = 20;

export const MULAW_8K: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
export const ALAW_8K: AudioFormat = { encoding: 'alaw', sampleRateHz: 8000 };
/** The house format: engines hear and speak it. */
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
