// The head of a WAV file with 16-bit PCM. Source: Microsoft, Multimedia Programming Interface, RIFF WAVE.

export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
}

export const WAV_HEADER_BYTES = 44;

/** The header of `dataBytes` bytes of little-endian samples with interleaved channels. */
export function wavHeader({ sampleRateHz, channels }: WavFormat, dataBytes: number): Uint8Array {
  const bytes = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const name = (offset: number, text: string) => bytes.set(new TextEncoder().encode(text), offset);
  const block = channels * 2;
  name(0, 'RIFF');
  view.setUint32(4, WAV_HEADER_BYTES - 8 + dataBytes, true);
  name(8, 'WAVE');
  name(12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHz, true);
  view.setUint32(28, sampleRateHz * block, true);
  view.setUint16(32, block, true);
  view.setUint16(34, 16, true);
  name(36, 'data');
  view.setUint32(40, dataBytes, true);
  return bytes;
}
