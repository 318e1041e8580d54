// The audio of one answer: raw PCM as it was asked for, or the WAV file that some servers send all the same.
import { PCM_24K } from '../../../audio/format.js';
import { fatalFailure, WireError } from '../../wire/failure.js';
import type { AnswerAudio } from '../../wire/http-voice.js';
import { SampleReader } from '../../../audio/pcm-bytes.js';
import { createRateConverter, type RateConverter } from '../rate-conversion.js';

/** The header of a WAV file is behind so many bytes at the latest. */
const MAX_HEADER_BYTES = 65_536;

const MIN_RATE_HZ = 8000;
const MAX_RATE_HZ = 48_000;

interface WavHeader {
  readonly sampleRateHz: number;
  /** Where the samples begin, and how many bytes they are; more than there are when nobody knew yet. */
  readonly from: number;
  readonly length: number;
}

export class OpenAISpeechAudio implements AnswerAudio {
  readonly #samples = new SampleReader();
  /** What came while it was not clear yet what it is. */
  #head = Buffer.alloc(0);
  #left = Number.POSITIVE_INFINITY;
  #converter: RateConverter | undefined;

  /** @throws WireError for a WAV file of another kind */
  push(bytes: Uint8Array): Int16Array {
    if (this.#converter !== undefined) return this.#convert(this.#converter, bytes);
    const head = Buffer.concat([this.#head, bytes]);
    this.#head = head;
    if (head.length < 4) return new Int16Array(0);
    if (head.toString('latin1', 0, 4) !== 'RIFF') return this.#begin(head);
    const header = readHeader(head);
    if (header === undefined && head.length > MAX_HEADER_BYTES) throw unreadable();
    if (header === undefined) return new Int16Array(0);
    this.#left = header.length;
    return this.#begin(head.subarray(header.from), header.sampleRateHz);
  }

  end(): Int16Array {
    const rest = this.#converter === undefined ? this.#begin(this.#head) : new Int16Array(0);
    const tail = this.#converter?.end() ?? new Int16Array(0);
    const all = new Int16Array(rest.length + tail.length);
    all.set(rest);
    all.set(tail, rest.length);
    return all;
  }

  close(): void {
    this.#converter?.close();
  }

  #begin(bytes: Uint8Array, sampleRateHz: number = PCM_24K.sampleRateHz): Int16Array {
    const converter = createRateConverter(sampleRateHz);
    this.#converter = converter;
    return this.#convert(converter, bytes);
  }

  #convert(converter: RateConverter, bytes: Uint8Array): Int16Array {
    const sound = bytes.subarray(0, Math.min(bytes.length, this.#left));
    this.#left -= sound.length;
    return converter.push(this.#samples.read(sound));
  }
}

/** Undefined while it has not all come. Source: Microsoft, Multimedia Programming Interface, RIFF WAVE. */
function readHeader(bytes: Buffer): WavHeader | undefined {
  let sampleRateHz = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const from = at + 8;
    if (id === 'data') {
      if (sampleRateHz === 0) throw unreadable();
      // Who streams does not know the length, and writes none or the greatest.
      const isKnown = size > 0 && size < 0x7fff_ffff;
      return { sampleRateHz, from, length: isKnown ? size : Number.POSITIVE_INFINITY };
    }
    if (id === 'fmt ') {
      if (from + 16 > bytes.length) return undefined;
      const [channels, bits] = [bytes.readUInt16LE(from + 2), bytes.readUInt16LE(from + 14)];
      sampleRateHz = bytes.readUInt32LE(from + 4);
      const fits = sampleRateHz >= MIN_RATE_HZ && sampleRateHz <= MAX_RATE_HZ;
      if (channels !== 1 || bits !== 16 || !fits) throw unreadable();
    }
    at = from + size + (size % 2);
  }
  return undefined;
}

function unreadable(): WireError {
  return new WireError(fatalFailure('sent audio other than 16-bit mono PCM of 8 to 48 kHz'));
}
