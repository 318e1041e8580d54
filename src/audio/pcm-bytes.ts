// 16-bit little-endian bytes and samples.
import { endianness } from 'node:os';

const SWAPPED = endianness() === 'BE';

/** Root mean square of what is no silence: about -45 dB of full scale. */
const LOUD_RMS = 184;

/** True for samples that are louder than the silence of a telephone line. */
export function isLoud(pcm: Int16Array): boolean {
  let sum = 0;
  for (const sample of pcm) sum += sample * sample;
  return sum > pcm.length * LOUD_RMS * LOUD_RMS;
}

/** The same memory as a `Buffer`. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of samples. The result is valid as long as `pcm` is not changed. */
export function toBytes(pcm: Int16Array): Uint8Array {
  if (!SWAPPED) return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Buffer.from(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.byteLength)).swap16();
}

/** Joins chunks of bytes that may end in the middle of a sample. One reader per stream of audio. */
export class SampleReader {
  #half: number | undefined;

  /** The whole samples so far, the receiver's to keep. */
  read(bytes: Uint8Array): Int16Array {
    const held = this.#half === undefined ? 0 : 1;
    const length = held + bytes.length;
    const whole = length - (length % 2);
    const samples = new Uint8Array(whole);
    if (whole > 0) {
      if (this.#half !== undefined) samples[0] = this.#half;
      samples.set(bytes.subarray(0, whole - held), held);
      this.#half = undefined;
    }
    if (length > whole && bytes.length > 0) this.#half = bytes.at(-1);
    if (SWAPPED) Buffer.from(samples.buffer).swap16();
    return new Int16Array(samples.buffer);
  }
}
