// What the tests of streaming clients share: sound for them to send, and what they are told.
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';

export type Message = Readonly<Record<string, unknown>>;

/** Somebody speaks and is silent: PCM of 16 bits at 16 kHz, in pieces of 100 ms. */
export function speechAndSilence(speechMs: number, pauseMs: number): Buffer[] {
  return cut(
    toBytes(concat(makeEmulatedSpeech({ durationMs: speechMs, sampleRateHz: 16_000 }), pauseMs)),
    3200,
  );
}

function concat(speech: Int16Array, pauseMs: number): Int16Array {
  const all = new Int16Array(speech.length + pauseMs * 16);
  all.set(speech);
  return all;
}

function toBytes({ buffer, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, 0, byteLength);
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}
