// The contract around a bare backend: checks what comes in, allocates what goes out, and turns every wrong use into a
// TranscoderError that says what was expected. The same words whatever the backend.
import { TranscoderError } from '../base/errors.js';
import type { Resampler, TranscoderBackend } from './backend.js';
import type { CoreResampler, TranscoderCore } from './core.js';
import { allPaths, dueSamples, findPath, pathDelayMs, type RatePath, tailSamples } from './rates.js';

const HMAC_BYTES = 20;

type Arrays = { Int16Array: Int16Array; Uint8Array: Uint8Array };

const kindOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get as (this: unknown) => string | undefined;

function refuse(what: string, expected: string, value: unknown): never {
  const given = kindOf.call(value) ?? (value === null ? 'null' : typeof value);
  throw new TranscoderError('TRANSCODER_INPUT', `${what} must be ${expected}, not ${given}`);
}

/** The input, or a copy of it when the result is written over it: no backend sees its input change. */
function apartFrom<T extends Int16Array | Uint8Array>(
  output: Int16Array | Uint8Array | undefined,
  input: T,
): T {
  return output !== undefined && output.buffer === input.buffer ? (input.slice() as T) : input;
}

/** A detached buffer makes its arrays empty: told apart only where an array is empty. */
function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

function checkArray<K extends keyof Arrays>(what: string, value: Arrays[K], kind: K): void {
  // The tag knows arrays of other realms too, and is not fooled by prototypes.
  if (kindOf.call(value) !== kind) refuse(what, `${kind === 'Int16Array' ? 'an' : 'a'} ${kind}`, value);
  if (value.length === 0 && isDetached(value.buffer)) refuse(what, 'an attached array', value);
}

/** The start of `output` that the result fills. */
function startOf<T extends Int16Array | Uint8Array>(output: T, needed: number): T {
  if (output.length === needed) return output;
  if (output.length < needed)
    throw new TranscoderError(
      'TRANSCODER_INPUT',
      `output must hold at least ${needed} elements, it holds ${output.length}`,
    );
  return output.subarray(0, needed) as T;
}

function samplesFor(output: Int16Array | undefined, needed: number): Int16Array {
  if (output === undefined) return new Int16Array(needed);
  checkArray('output', output, 'Int16Array');
  return startOf(output, needed);
}

function bytesFor(output: Uint8Array | undefined, needed: number): Uint8Array {
  if (output === undefined) return new Uint8Array(needed);
  checkArray('output', output, 'Uint8Array');
  return startOf(output, needed);
}

class CheckedResampler implements Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  readonly delayMs: number;
  readonly #path: RatePath;
  #core: CoreResampler | undefined;
  #pending = 0;

  constructor(path: RatePath, core: CoreResampler) {
    this.fromHz = path.fromHz;
    this.toHz = path.toHz;
    this.delayMs = pathDelayMs(path);
    this.#path = path;
    this.#core = core;
  }

  process(input: Int16Array, output?: Int16Array): Int16Array {
    const core = this.#alive();
    checkArray('input', input, 'Int16Array');
    const result = samplesFor(output, dueSamples(this.#path, this.#pending, input.length));
    core.process(apartFrom(output, input), result);
    this.#pending = (this.#pending + input.length) % this.#path.down;
    return result;
  }

  flush(): Int16Array {
    const core = this.#alive();
    const result = new Int16Array(tailSamples(this.#path, this.#pending));
    core.flush(result);
    this.#pending = 0;
    return result;
  }

  reset(): void {
    this.#alive().reset();
    this.#pending = 0;
  }

  free(): void {
    this.#core?.free();
    this.#core = undefined;
  }

  #alive(): CoreResampler {
    if (this.#core === undefined)
      throw new TranscoderError('TRANSCODER_INPUT', 'the resampler must not be used after free()');
    return this.#core;
  }
}

/** The whole contract on top of a bare backend. */
export function createBackend(core: TranscoderCore): TranscoderBackend {
  return {
    name: core.name,
    mulawDecode(input, output) {
      checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, input.length);
      core.mulawDecode(apartFrom(output, input), result);
      return result;
    },
    mulawEncode(input, output) {
      checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, input.length);
      core.mulawEncode(apartFrom(output, input), result);
      return result;
    },
    alawDecode(input, output) {
      checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, input.length);
      core.alawDecode(apartFrom(output, input), result);
      return result;
    },
    alawEncode(input, output) {
      checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, input.length);
      core.alawEncode(apartFrom(output, input), result);
      return result;
    },
    createResampler(fromHz, toHz) {
      const path = findPath(fromHz, toHz);
      if (path === undefined) {
        const offered = allPaths().map((each) => `${each.fromHz} to ${each.toHz}`);
        throw new TranscoderError(
          'TRANSCODER_INPUT',
          `there is no resampler from ${String(fromHz)} to ${String(toHz)} Hz; offered: ${offered.join(', ')}`,
        );
      }
      return new CheckedResampler(path, core.createResampler(path.fromHz, path.toHz));
    },
    hmacSha1(key, message) {
      checkArray('key', key, 'Uint8Array');
      checkArray('message', message, 'Uint8Array');
      const code = new Uint8Array(HMAC_BYTES);
      core.hmacSha1(key, message, code);
      return code;
    },
    verifyHmacSha1(key, message, mac) {
      checkArray('key', key, 'Uint8Array');
      checkArray('message', message, 'Uint8Array');
      checkArray('mac', mac, 'Uint8Array');
      return mac.length === HMAC_BYTES && core.verifyHmacSha1(key, message, mac);
    },
  };
}
