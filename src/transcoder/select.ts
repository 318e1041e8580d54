// Which backend does the work: native where there is an addon, else WASM, else JavaScript. TRANSCODER_BACKEND forces one.
import { readEnv } from '../base/env.js';
import { type TranscoderAttempt, TranscoderError } from '../base/errors.js';
import type { BackendName, TranscoderBackend } from './backend.js';
import { createBackend } from './checked.js';
import type { TranscoderCore } from './core.js';
import { loadJavaScriptCore } from './javascript/core.js';
import { findWrongAnswer } from './known-answers.js';
import { loadNativeCore } from './native.js';
import { loadWasmCore } from './wasm.js';

/** All backends, the preferred first. */
const LOADERS: ReadonlyMap<BackendName, () => TranscoderCore> = new Map([
  ['native', loadNativeCore],
  ['wasm', loadWasmCore],
  ['javascript', loadJavaScriptCore],
]);

const loaded = new Map<BackendName, TranscoderBackend>();

/** Names of all backends, the preferred first. */
export const BACKEND_NAMES: readonly BackendName[] = [...LOADERS.keys()];

/**
 * Loads one backend and asks it questions with known answers. Loaded once a process.
 * @throws TranscoderError (TRANSCODER_UNAVAILABLE) with the reason when it cannot be used here.
 */
export function loadTranscoder(name: BackendName): TranscoderBackend {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const load = LOADERS.get(name);
  if (load === undefined) {
    const reason = `there is no transcoder backend "${String(name)}": choose one of ${BACKEND_NAMES.join(', ')}`;
    throw new TranscoderError('TRANSCODER_UNAVAILABLE', reason, {
      attempts: [{ backend: String(name), reason }],
    });
  }
  const backend = tryBackend(name, load);
  loaded.set(name, backend);
  return backend;
}

/** Makes a backend of a core and asks it the known questions. @throws TranscoderError with every reason when it fails. */
export function tryBackend(name: BackendName, load: () => TranscoderCore): TranscoderBackend {
  let attempts: readonly TranscoderAttempt[];
  let reason: string;
  let cause: unknown;
  try {
    const backend = createBackend(load());
    const wrong = findWrongAnswer(backend);
    if (wrong === undefined) return backend;
    reason = wrong;
    attempts = [{ backend: name, reason }];
  } catch (error) {
    cause = error;
    reason = error instanceof Error ? error.message : String(error);
    const nested = error instanceof TranscoderError ? error.attempts : [];
    attempts = nested.length > 0 ? nested : [{ backend: name, reason }];
  }
  throw new TranscoderError(
    'TRANSCODER_UNAVAILABLE',
    `the ${name} backend of the transcoder cannot be used: ${reason}`,
    { attempts, cause },
  );
}

/**
 * The backend to use: the forced one, or the first that works.
 * @param forced name of a backend, usually from TRANSCODER_BACKEND; undefined leaves the choice open.
 * @throws TranscoderError with `attempts` when none works, or not the forced one.
 */
export function selectTranscoder(
  forced: string | undefined = readEnv('TRANSCODER_BACKEND'),
): TranscoderBackend {
  if (forced !== undefined) return loadTranscoder(forced as BackendName);
  const attempts: TranscoderAttempt[] = [];
  for (const name of BACKEND_NAMES) {
    try {
      return loadTranscoder(name);
    } catch (error) {
      if (!(error instanceof TranscoderError)) throw error;
      attempts.push(...error.attempts);
    }
  }
  const reasons = attempts.map(({ backend, reason }) => `${backend}: ${reason}`).join('; ');
  throw new TranscoderError('TRANSCODER_UNAVAILABLE', `no backend of the transcoder works here: ${reasons}`, {
    attempts,
  });
}

/** The chosen backend of this process. */
export const transcoder: TranscoderBackend = selectTranscoder();
