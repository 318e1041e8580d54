import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { VoiceDetector } from '../../src/transcoder/backend.js';
import { runs } from '../support/depth.js';
import { medley, SOUNDS, sound } from './sounds.js';
import { expectSame, noise, subjects } from './support.js';

/** What is used of libfvad's C interface. Addresses are numbers. */
interface FvadModule {
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  _fvad_process(handle: number, samples: number, length: number): number;
  _malloc(bytes: number): number;
  readonly HEAP16: Int16Array;
}

let fvad: FvadModule;

beforeAll(async () => {
  const path = createRequire(import.meta.url).resolve('@echogarden/fvad-wasm');
  const loaded: { default: () => Promise<FvadModule> } = await import(pathToFileURL(path).href);
  fvad = await loaded.default();
});

/** The decisions of the reference: one character a frame. */
function decideByReference(frames: readonly Int16Array[]): string {
  const handle = fvad._fvad_new();
  const memory = fvad._malloc(640);
  expect([fvad._fvad_set_mode(handle, 3), fvad._fvad_set_sample_rate(handle, 16_000)]).toEqual([0, 0]);
  let decisions = '';
  for (const frame of frames) {
    fvad.HEAP16.set(frame, memory / 2);
    decisions += fvad._fvad_process(handle, memory, 320);
  }
  fvad._fvad_free(handle);
  return decisions;
}

function decide(detector: VoiceDetector, frames: readonly Int16Array[]): string {
  let decisions = '';
  for (const frame of frames) decisions += detector.hear(frame) ? 1 : 0;
  detector.free();
  return decisions;
}

const MINUTE = 3000;

describe('the decisions are those of libfvad', () => {
  it.each(SOUNDS)('for seconds of %s', (name) => {
    const frames = sound(name, runs(1000, MINUTE));
    const expected = decideByReference(frames);
    for (const { backend, title } of subjects)
      expect(decide(backend.createVoiceDetector(), frames), title).toBe(expected);
  });

  it('for minutes of all of it', () => {
    const frames = medley(1, runs(1, 10) * MINUTE);
    const expected = decideByReference(frames);
    expect(expected).toMatch(/10.*10.*10/);
    for (const { backend, title } of subjects)
      expect(decide(backend.createVoiceDetector(), frames), title).toBe(expected);
  });
});

describe.each(subjects)('a voice detector of $title', ({ backend }) => {
  it('gives the energy of the frame', () => {
    const detector = backend.createVoiceDetector();
    expect(detector.energy).toBe(0);
    for (const frame of [noise(320), new Int16Array(320), new Int16Array(320).fill(-32_768)]) {
      detector.hear(frame);
      expect(detector.energy).toBe(frame.reduce((sum, sample) => sum + sample * sample, 0));
    }
    detector.free();
  });

  it('hears a frame of mu-law as its samples', () => {
    const [apart, fused] = [backend.createVoiceDetector(), backend.createVoiceDetector()];
    const resamplers = [
      backend.createResampler(8000, 16_000),
      backend.createResampler(8000, 16_000),
    ] as const;
    const output = new Int16Array(330);
    for (const frame of medley(2, 300)) {
      const codes = backend.mulawEncode(frame.subarray(0, 160));
      const samples = resamplers[0].processFromMulaw(codes);
      expect(fused.hearMulaw(codes, resamplers[1], output)).toBe(apart.hear(samples));
      expect(fused.energy).toBe(apart.energy);
      expectSame(output.subarray(0, 320), samples);
    }
    // What else goes through the resampler leaves it in step.
    const rest = backend.mulawEncode(noise(7));
    expectSame(resamplers[1].processFromMulaw(rest), resamplers[0].processFromMulaw(rest));
    for (const each of [apart, fused, ...resamplers]) each.free();
  });

  it('takes any resampler that gives its rate', () => {
    const [detector, same] = [backend.createVoiceDetector(), backend.createVoiceDetector()];
    const [resampler, other] = [
      backend.createResampler(24_000, 16_000),
      backend.createResampler(24_000, 16_000),
    ];
    const output = new Int16Array(320);
    for (let turn = 0; turn < 20; turn++) {
      const codes = Uint8Array.from(noise(480, turn), (sample) => sample & 0xff);
      const voiced = detector.hearMulaw(codes, resampler, output);
      expect(voiced).toBe(same.hear(other.processFromMulaw(codes)));
    }
    for (const each of [detector, same, resampler, other]) each.free();
  });

  it('has a state of its own', () => {
    const frames = medley(3, 400);
    const [left, right, alone] = [
      backend.createVoiceDetector(),
      backend.createVoiceDetector(),
      backend.createVoiceDetector(),
    ];
    const others = medley(4, 400);
    for (const [place, frame] of frames.entries()) {
      right.hear(others[place]!);
      expect(left.hear(frame)).toBe(alone.hear(frame));
    }
    for (const each of [left, right, alone]) each.free();
  });
});
