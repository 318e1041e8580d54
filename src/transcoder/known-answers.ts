// What a backend must answer before it is let near a call. Catches a binary of another version, or for another machine.
import type { TranscoderBackend } from './backend.js';
import { allPaths } from './rates.js';

/** Fingerprints of all outputs for the input below. They change with the filters, and with nothing else. */
const FINGERPRINTS: Readonly<Record<string, number>> = {
  mulaw: 0x764df3b4,
  alaw: 0x145c5e86,
  '8000:16000': 0x73bec5f6,
  '16000:8000': 0x18c2412f,
  '16000:24000': 0x496b5365,
  '24000:16000': 0xc0a1fa6b,
  '8000:24000': 0x320eff32,
  '24000:8000': 0xd0fd0ffe,
  voice: 0x48875e11,
};
const HMAC = 'de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9';

/** Frames of sound for the voice detector. */
const SYLLABLE_FRAMES = 24;

/** FNV-1a over 16-bit elements. */
function fingerprint(samples: ArrayLike<number>, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < samples.length; i++) hash = Math.imul(hash ^ (samples[i]! & 0xffff), 0x01000193);
  return hash >>> 0;
}

/** Full-scale noise of a linear congruential generator, the same on every machine. */
function noise(length: number): Int16Array {
  let state = 1;
  const samples = new Int16Array(length);
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    samples[at] = (state >> 15) - 0x8000;
  }
  return samples;
}

/** Something like syllables over noise, in frames: louder and higher ones, and noise that changes. */
function syllables(): Int16Array[] {
  const background = noise(SYLLABLE_FRAMES * 320);
  const frames: Int16Array[] = [];
  for (let number = 0; number < SYLLABLE_FRAMES; number++) {
    const round = Math.floor(number / 8);
    const gain = number % 8 < 6 ? 0 : 3 + 5 * round;
    const frame = background.subarray(320 * number, 320 * (number + 1));
    for (let at = 0; at < 320; at++) {
      const wave = (((320 * number + at) * (3 + round)) % 512) - 256;
      frame[at] = wave * gain + (frame[at]! >> (6 - (round % 3)));
    }
    frames.push(frame);
  }
  return frames;
}

/** Whether each frame is voiced, and its energy, in 16-bit elements. */
function hearAll(backend: TranscoderBackend, frames: readonly Int16Array[]): number[] {
  const detector = backend.createVoiceDetector();
  const heard = frames.flatMap((frame) => [
    detector.hear(frame) ? 1 : 0,
    detector.energy,
    detector.energy / 65_536,
  ]);
  detector.free();
  return heard;
}

/** Fingerprints of what `backend` makes of the noise. */
export function measureFingerprints(backend: TranscoderBackend): Record<string, number> {
  const samples = noise(481);
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const answers: Record<string, number> = {
    mulaw: fingerprint(backend.mulawDecode(codes), fingerprint(backend.mulawEncode(samples))),
    alaw: fingerprint(backend.alawDecode(codes), fingerprint(backend.alawEncode(samples))),
  };
  for (const { fromHz, toHz } of allPaths()) {
    const resampler = backend.createResampler(fromHz, toHz);
    const body = fingerprint(resampler.process(samples));
    answers[`${fromHz}:${toHz}`] = fingerprint(resampler.flush(), body);
    resampler.free();
  }
  answers.voice = fingerprint(hearAll(backend, syllables()));
  return answers;
}

/** The steps in one must be the steps one after the other, which the fingerprints vouch for. */
function findWrongFusedStep(backend: TranscoderBackend): string | undefined {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  for (const { fromHz, toHz } of allPaths()) {
    const resampler = backend.createResampler(fromHz, toHz);
    const expected = resampler.process(backend.mulawDecode(codes));
    const steps: (() => ArrayLike<number>)[] = [
      () => resampler.processFromMulaw(codes),
      () => resampler.processFromMulawBase64(Buffer.from(codes).toString('base64')),
    ];
    let right = steps.every((step) => {
      resampler.reset();
      return isSame(step(), expected);
    });
    resampler.reset();
    const samples = noise(481);
    const encoded = backend.mulawEncode(resampler.process(samples));
    resampler.reset();
    right &&= isSame(resampler.processToMulaw(samples), encoded);
    resampler.free();
    if (!right) return `${fromHz}:${toHz} with mu-law`;
  }
  return undefined;
}

/** A frame of mu-law in one step must be the samples, the decision and the energy of two. */
function isHeardAlike(backend: TranscoderBackend): boolean {
  const resamplers = [backend.createResampler(8000, 16_000), backend.createResampler(8000, 16_000)] as const;
  const detectors = [backend.createVoiceDetector(), backend.createVoiceDetector()] as const;
  const output = new Int16Array(320);
  const all = Uint8Array.from({ length: 256 }, (_, code) => code);
  const answers = [0, 96, 48, 7, 63].map((first) => {
    const codes = all.subarray(first, first + 160);
    const samples = resamplers[0].processFromMulaw(codes);
    const voiced = detectors[0].hear(samples);
    return (
      detectors[1].hearMulaw(codes, resamplers[1], output) === voiced &&
      detectors[0].energy === detectors[1].energy &&
      isSame(output, samples)
    );
  });
  for (const each of [...resamplers, ...detectors]) each.free();
  return !answers.includes(false);
}

function isSame(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  return left.length === right.length && fingerprint(left) === fingerprint(right);
}

/** A signature that is wrong must be refused, wherever it is wrong. */
function isHmacRight(backend: TranscoderBackend): boolean {
  const [key, message] = [Buffer.from('key'), Buffer.from('The quick brown fox jumps over the lazy dog')];
  const code = backend.hmacSha1(key, message);
  if (Buffer.from(code).toString('hex') !== HMAC || !backend.verifyHmacSha1(key, message, code)) return false;
  return code.every((byte, place) => {
    const wrong = code.slice();
    wrong[place] = byte ^ (1 << (place % 8));
    return !backend.verifyHmacSha1(key, message, wrong);
  });
}

/** The first thing that `backend` gets wrong, or undefined. */
export function findWrongAnswer(backend: TranscoderBackend): string | undefined {
  const answers = measureFingerprints(backend);
  for (const [name, expected] of Object.entries(FINGERPRINTS))
    if (answers[name] !== expected) return `wrong answer to the known question "${name}"`;
  const fused = findWrongFusedStep(backend);
  if (fused !== undefined) return `wrong answer to the known question "${fused}"`;
  if (!isHeardAlike(backend)) return 'wrong answer to the known question "voice with mu-law"';
  return isHmacRight(backend) ? undefined : 'wrong answer to the known question "hmac"';
}
