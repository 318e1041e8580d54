// What the tests of the transcoder share: every backend, and signals that are the same on every run.
import { readFileSync } from 'node:fs';
import { readEnv } from '../../src/base/env.js';
import type { TranscoderBackend } from '../../src/transcoder/backend.js';
import { createBackend } from '../../src/transcoder/checked.js';
import { createNativeCore, loadAddon, type NativeAddon } from '../../src/transcoder/native.js';
import { allPaths } from '../../src/transcoder/rates.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { createWasmCore, instantiate } from '../../src/transcoder/wasm.js';

/** A backend, or one instruction set of it, under test. */
export interface Subject {
  readonly title: string;
  readonly backend: TranscoderBackend;
}

/** The addon, or undefined on a machine where none was built; the tests then go without it. */
function findAddon(): NativeAddon | undefined {
  try {
    return loadAddon();
  } catch (error) {
    if (readEnv('TRANSCODER_BACKEND') === 'native') throw error;
    return undefined;
  }
}

function findSubjects(): Subject[] {
  const subjects: Subject[] = [
    { title: 'javascript', backend: loadTranscoder('javascript') },
    { title: 'wasm', backend: loadTranscoder('wasm') },
    { title: 'wasm scalar', backend: createBackend(createWasmCore(instantiate(), 0)) },
  ];
  const addon = findAddon();
  if (addon !== undefined) {
    subjects.push({ title: 'native', backend: loadTranscoder('native') });
    for (const [place, set] of addon.instructionSets().split(' ').entries())
      subjects.push({ title: `native ${set}`, backend: createBackend(createNativeCore(addon, place)) });
  }
  return subjects;
}

/** Every backend that this machine can run, and every instruction set of it. The first is what others are compared to. */
export const subjects: readonly Subject[] = findSubjects();

export const paths = allPaths();

/** Lines of a vector file as fields; `#` opens a comment. */
export function readVectors(name: string): string[][] {
  const file = new URL(`../../crates/transcoder/tests/vectors/${name}`, import.meta.url);
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' '));
}

/** Numbers in 0 to 1 from a seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** White noise over the whole range. */
export function noise(length: number, seed = 1): Int16Array {
  const random = createRandom(seed);
  return Int16Array.from({ length }, () => Math.floor(random() * 65536) - 32768);
}

/** A square wave at full scale: what overshoots most. */
export function fullScale(length: number, period = 16): Int16Array {
  return Int16Array.from({ length }, (_, i) => (i % period < period / 2 ? 32767 : -32768));
}

/** A tone. `level` is its peak, 1 is full scale. */
export function tone(length: number, hz: number, rateHz: number, level = 0.9): Int16Array {
  return Int16Array.from({ length }, (_, i) =>
    Math.round(level * 32767 * Math.sin((2 * Math.PI * hz * i) / rateHz)),
  );
}

/** A sine that climbs from 0 to half the rate. */
export function sweep(length: number): Int16Array {
  return Int16Array.from({ length }, (_, i) =>
    Math.round(30000 * Math.sin((Math.PI * i * i) / (2 * length))),
  );
}

export function impulse(length: number, at = 100, height = 32767): Int16Array {
  const samples = new Int16Array(length);
  samples[at] = height;
  return samples;
}

/** A man says four words: a recording, nearly three seconds of it. */
export function speech(): Int16Array {
  const text = readVectors('speech.txt').join('');
  return loadTranscoder('javascript').mulawDecode(Buffer.from(text, 'base64'));
}

/** Signals that a phone call is made of, and some that it is not. */
export function signals(length: number): Record<string, Int16Array> {
  return {
    noise: noise(length),
    'full scale': fullScale(length),
    silence: new Int16Array(length),
    impulse: impulse(length),
    sweep: sweep(length),
    tone: tone(length, 997, 8000),
    lowest: new Int16Array(length).fill(-32768),
    speech: speech(),
  };
}

/** Throws at the first place where two arrays differ: vitest's own comparison takes long for audio. */
export function expectSame(actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  if (actual.length !== expected.length) throw new Error(`${actual.length} elements, not ${expected.length}`);
  for (let i = 0; i < expected.length; i++)
    if (actual[i] !== expected[i]) throw new Error(`element ${i} is ${actual[i]}, not ${expected[i]}`);
}
