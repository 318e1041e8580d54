// The head of a WAV file. Source: Microsoft, Multimedia Programming Interface, RIFF WAVE; RFC 2361 for the tags of G.711.

export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** One byte a sample for G.711, two for PCM. @default 'pcm' */
  readonly encoding?: 'pcm' | 'mulaw' | 'alaw';
}

export const WAV_HEADER_BYTES = 44;

const TAGS = { pcm: 1, alaw: 6, mulaw: 7 } as const;
/** What is not PCM says how much more there is of its format, and how many samples there are. */
const LONG_HEADER_BYTES = 58;

/** Length of `wavHeader`. */
export function wavHeaderBytes({ encoding = 'pcm' }: WavFormat): number {
  return encoding === 'pcm' ? WAV_HEADER_BYTES : LONG_HEADER_BYTES;
}

/** The header of `dataBytes` bytes of little-endian samples with interleaved channels. */
export function wavHeader(format: WavFormat, dataBytes: number): Uint8Array {
  const { sampleRateHz, channels, encoding = 'pcm' } = format;
  const bytes = new Uint8Array(wavHeaderBytes(format));
  const view = new DataView(bytes.buffer);
  const name = (offset: number, text: string) => bytes.set(new TextEncoder().encode(text), offset);
  const sampleBytes = encoding === 'pcm' ? 2 : 1;
  const block = channels * sampleBytes;
  name(0, 'RIFF');
  view.setUint32(4, bytes.length - 8 + dataBytes, true);
  name(8, 'WAVE');
  name(12, 'fmt ');
  view.setUint32(16, encoding === 'pcm' ? 16 : 18, true);
  view.setUint16(20, TAGS[encoding], true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * block, true);
  view.setUint16(32, block, true);
  view.setUint16(34, 8 * sampleBytes, true);
  if (encoding !== 'pcm') {
    name(38, 'fact');
    view.setUint32(42, 4, true);
    view.setUint32(46, dataBytes / block, true);
  }
  name(bytes.length - 8, 'data');
  view.setUint32(bytes.length - 4, dataBytes, true);
  return bytes;
}
