import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { readEnv } from '../../src/base/env.js';
import { TranscoderError } from '../../src/base/errors.js';
import type { CoreResampler, CoreVoiceDetector, TranscoderCore } from '../../src/transcoder/core.js';
import { loadJavaScriptCore } from '../../src/transcoder/javascript/core.js';
import { measureFingerprints } from '../../src/transcoder/known-answers.js';
import { BACKEND_NAMES, loadTranscoder, selectTranscoder, tryBackend } from '../../src/transcoder/select.js';
import { readVectors, subjects } from './support.js';

function thrownBy(task: () => unknown): TranscoderError {
  try {
    task();
  } catch (error) {
    expect(error).toBeInstanceOf(TranscoderError);
    return error as TranscoderError;
  }
  throw new Error('nothing was thrown');
}

/** The JavaScript backend but for some methods of its resamplers. */
function withResampler(defect: Partial<CoreResampler>): Partial<TranscoderCore> {
  return {
    createResampler(fromHz, toHz) {
      const core = loadJavaScriptCore().createResampler(fromHz, toHz);
      return Object.assign(core, defect);
    },
  };
}

/** The JavaScript backend but for some methods of its voice detectors. */
function withDetector(
  defect: (sound: CoreVoiceDetector) => Partial<CoreVoiceDetector>,
): Partial<TranscoderCore> {
  return {
    createVoiceDetector() {
      const sound = loadJavaScriptCore().createVoiceDetector();
      return {
        free() {},
        hear: (frame) => sound.hear(frame),
        hearMulaw: sound.hearMulaw.bind(sound),
        ...defect(sound),
      };
    },
  };
}

describe('choice of the backend', () => {
  it('prefers native, then WASM, then JavaScript', () => {
    expect(BACKEND_NAMES).toEqual(['native', 'wasm', 'javascript']);
    const chosen = selectTranscoder(undefined);
    const best = subjects.some(({ title }) => title === 'native') ? 'native' : 'wasm';
    if (readEnv('TRANSCODER_BACKEND') === undefined) expect(chosen.name).toBe(best);
  });

  it('gives the forced backend, the same one every time', () => {
    expect(selectTranscoder('javascript').name).toBe('javascript');
    expect(selectTranscoder('wasm')).toBe(loadTranscoder('wasm'));
  });

  it('reads TRANSCODER_BACKEND, and takes nothing else then', () => {
    vi.stubEnv('TRANSCODER_BACKEND', 'javascript');
    expect(selectTranscoder().name).toBe('javascript');
    vi.stubEnv('TRANSCODER_BACKEND', 'nativ');
    expect(thrownBy(() => selectTranscoder()).code).toBe('TRANSCODER_UNAVAILABLE');
    vi.stubEnv('TRANSCODER_BACKEND', '');
    expect(BACKEND_NAMES).toContain(selectTranscoder().name);
    vi.unstubAllEnvs();
  });

  it('refuses a forced backend that does not exist', () => {
    const error = thrownBy(() => selectTranscoder('fortran'));
    expect(error.code).toBe('TRANSCODER_UNAVAILABLE');
    expect(error.message).toContain('choose one of native, wasm, javascript');
    expect(error.attempts).toEqual([{ backend: 'fortran', reason: error.message }]);
  });

  it('says why a backend cannot be loaded, and keeps every reason', () => {
    const attempts = ['no package', 'no file'].map((reason) => ({ backend: 'native', reason }));
    const error = thrownBy(() =>
      tryBackend('native', () => {
        throw new TranscoderError('TRANSCODER_UNAVAILABLE', 'none', { attempts });
      }),
    );
    expect(error.attempts).toEqual(attempts);
    expect(error.message).toBe('the native backend of the transcoder cannot be used: none');
  });

  it.each<[string, Partial<TranscoderCore>]>([
    ['mulaw', { mulawEncode: (input, output) => output.fill(input.length) }],
    ['alaw', { alawDecode() {} }],
    [
      '8000:16000',
      { createResampler: (from) => loadJavaScriptCore().createResampler(from, from === 8000 ? 24000 : 8000) },
    ],
    ['hmac', { hmacSha1: (_key, _message, output) => output.fill(1) }],
    ['hmac', { verifyHmacSha1: () => false }],
    ['hmac', { verifyHmacSha1: () => true }],
    ['hmac', { verifyHmacSha1: (_key, _message, mac) => mac[19] === 0xd9 }],
    ['8000:16000 with mu-law', withResampler({ processFromMulaw() {} })],
    ['8000:16000 with mu-law', withResampler({ processFromMulawBase64: () => true })],
    ['8000:16000 with mu-law', withResampler({ processToMulaw() {} })],
    ['8000:16000 with mu-law', withResampler({ reset() {} })],
    ['voice', withDetector(() => ({ hear: () => 0 }))],
    ['voice', withDetector((sound) => ({ hear: (frame) => -1 - Math.abs(sound.hear(frame)) }))],
    ['voice', withDetector((sound) => ({ hear: (frame) => sound.hear(frame.map((sample) => sample >> 1)) }))],
    ['voice with mu-law', withDetector(() => ({ hearMulaw: () => 0 }))],
    [
      'voice with mu-law',
      withDetector((sound) => ({
        hearMulaw: (resampler, input) => sound.hearMulaw(resampler, input, new Int16Array(320)),
      })),
    ],
  ])('refuses a backend that answers %s wrongly', (name, defect) => {
    const error = thrownBy(() => tryBackend('wasm', () => ({ ...loadJavaScriptCore(), ...defect })));
    expect(error.attempts).toEqual([
      { backend: 'wasm', reason: `wrong answer to the known question "${name}"` },
    ]);
  });
});

it.each(subjects)('$title has the fingerprints that Rust is tested for', ({ backend }) => {
  const expected = readVectors('fingerprints.txt').map(([name, hash]) => [name, Number.parseInt(hash!, 16)]);
  expect(measureFingerprints(backend)).toEqual(Object.fromEntries(expected));
});

describe('the generated tables', () => {
  it('need no cargo to be checked', () => {
    const script = new URL('../../scripts/build-wasm.mjs', import.meta.url);
    execFileSync(process.execPath, [fileURLToPath(script), '--check'], { env: { PATH: '' } });
  });
});
