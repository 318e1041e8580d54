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
};
const HMAC = 'de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9';

/** FNV-1a over 16-bit elements. */
function fingerprint(samples: ArrayLike<number>, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < samples.length; i++) hash = Math.imul(hash ^ (samples[i]! & 0xffff), 0x01000193);
  return hash >>> 0;
}

/** Full-scale noise of a linear congruential generator, the same on every machine. */
function noise(length: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 15) - 0x8000;
  });
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
  return isHmacRight(backend) ? undefined : 'wrong answer to the known question "hmac"';
}
