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

const PADDING = 0x3d;

/** Bytes that base64 text of this length stands for, if it is base64. */
function base64Length(text: string): number {
  let digits = text.length;
  if (digits % 4 === 0 && text.charCodeAt(digits - 1) === PADDING)
    digits -= text.charCodeAt(digits - 2) === PADDING ? 2 : 1;
  return Math.floor((digits * 3) / 4);
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
    core.process(input, result);
    this.#pending = (this.#pending + input.length) % this.#path.down;
    return result;
  }

  processFromMulaw(input: Uint8Array, output?: Int16Array): Int16Array {
    const core = this.#alive();
    checkArray('input', input, 'Uint8Array');
    const result = samplesFor(output, dueSamples(this.#path, this.#pending, input.length));
    core.processFromMulaw(input, result);
    this.#pending = (this.#pending + input.length) % this.#path.down;
    return result;
  }

  processFromMulawBase64(input: string, output?: Int16Array): Int16Array {
    const core = this.#alive();
    if (typeof input !== 'string') refuse('input', 'a string', input);
    const length = base64Length(input);
    const result = samplesFor(output, dueSamples(this.#path, this.#pending, length));
    if (!core.processFromMulawBase64(input, result))
      throw new TranscoderError('TRANSCODER_INPUT', 'input must be base64 text');
    this.#pending = (this.#pending + length) % this.#path.down;
    return result;
  }

  processToMulaw(input: Int16Array, output?: Uint8Array): Uint8Array {
    const core = this.#alive();
    checkArray('input', input, 'Int16Array');
    const result = bytesFor(output, dueSamples(this.#path, this.#pending, input.length));
    core.processToMulaw(input, result);
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

/** A backend that has no room for one more says so in words of its own. */
function createCore(core: TranscoderCore, path: RatePath): CoreResampler {
  try {
    return core.createResampler(path.fromHz, path.toHz);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TranscoderError('TRANSCODER_INPUT', `no resampler could be made: ${reason}`, { cause });
  }
}

/** The whole contract on top of a bare backend. */
export function createBackend(core: TranscoderCore): TranscoderBackend {
  return {
    name: core.name,
    mulawDecode(input, output) {
      checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, input.length);
      core.mulawDecode(input, result);
      return result;
    },
    mulawEncode(input, output) {
      checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, input.length);
      core.mulawEncode(input, result);
      return result;
    },
    alawDecode(input, output) {
      checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, input.length);
      core.alawDecode(input, result);
      return result;
    },
    alawEncode(input, output) {
      checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, input.length);
      core.alawEncode(input, result);
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
      return new CheckedResampler(path, createCore(core, path));
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
