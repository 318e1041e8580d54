// The contract around a bare backend: checks what comes in, allocates what goes out, and turns every wrong use into a
// TranscoderError that says what was expected. The same words whatever the backend.
import { TranscoderError } from '../base/errors.js';
import type { Resampler, TranscoderBackend, VoiceDetector } from './backend.js';
import type { CoreResampler, CoreVoiceDetector, TranscoderCore } from './core.js';
import { allPaths, dueSamples, findPath, pathDelayMs, type RatePath, tailSamples } from './rates.js';

const HMAC_BYTES = 20;
/** What a voice detector hears at a time: 20 ms. */
const FRAME = { samples: 320, rateHz: 16_000 };

type Arrays = { Int16Array: Int16Array; Uint8Array: Uint8Array };

// The accessors of all typed arrays: a property of the same name on one array must not be believed.
const TypedArray = Object.getPrototypeOf(Uint8Array) as { readonly prototype: Int16Array };

function accessor(name: string | symbol): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(TypedArray.prototype, name)!.get!;
}

const kindOf = accessor(Symbol.toStringTag) as (this: unknown) => string | undefined;
const lengthOf = accessor('length') as (this: unknown) => number;
const { at, subarray } = TypedArray.prototype;

function refuse(what: string, expected: string, value: unknown): never {
  const given = kindOf.call(value) ?? (value === null ? 'null' : typeof value);
  throw new TranscoderError('TRANSCODER_INPUT', `${what} must be ${expected}, not ${given}`);
}

/** True for an array whose buffer was given away, or became too short for it: both look empty. */
function isGone(array: Int16Array | Uint8Array): boolean {
  try {
    at.call(array as Int16Array, 0);
    return false;
  } catch {
    return true;
  }
}

/** The length of an array of this kind. @throws TranscoderError for anything else. */
function checkArray<K extends keyof Arrays>(what: string, value: Arrays[K], kind: K): number {
  // The tag knows arrays of other realms too, and is not fooled by prototypes.
  if (kindOf.call(value) !== kind) refuse(what, `${kind === 'Int16Array' ? 'an' : 'a'} ${kind}`, value);
  // What a backend reads must be what is checked here. What the array says comes first: it tells the compiler what it has
  // before it, which makes the accessor a load.
  const claimed = value.length;
  const length = lengthOf.call(value);
  if (claimed !== length) refuse(what, 'an array whose length is its own', value);
  if (length === 0 && isGone(value)) refuse(what, 'an attached array', value);
  return length;
}

/** The start of `output` that the result fills. */
function startOf<T extends Int16Array | Uint8Array>(output: T, length: number, needed: number): T {
  if (length === needed) return output;
  if (length < needed)
    throw new TranscoderError(
      'TRANSCODER_INPUT',
      `output must hold at least ${needed} elements, it holds ${length}`,
    );
  return subarray.call(output as Int16Array, 0, needed) as T;
}

function samplesFor(output: Int16Array | undefined, needed: number): Int16Array {
  if (output === undefined) return new Int16Array(needed);
  return startOf(output, checkArray('output', output, 'Int16Array'), needed);
}

function bytesFor(output: Uint8Array | undefined, needed: number): Uint8Array {
  if (output === undefined) return new Uint8Array(needed);
  return startOf(output, checkArray('output', output, 'Uint8Array'), needed);
}

const PADDING = 0x3d;

/** Bytes that base64 text of this length stands for, if it is base64. */
function base64Length(text: string): number {
  let digits = text.length;
  if (digits % 4 === 0 && text.charCodeAt(digits - 1) === PADDING)
    digits -= text.charCodeAt(digits - 2) === PADDING ? 2 : 1;
  return Math.floor((digits * 3) / 4);
}

interface MadeDetector {
  readonly core: CoreVoiceDetector;
  /** What `core` was made by. */
  readonly maker: TranscoderCore;
}

class CheckedResampler implements Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  readonly delayMs: number;
  readonly #path: RatePath;
  /** What `core` was made by. */
  readonly #maker: TranscoderCore;
  /** Made for the first input: on a line whose bytes go through as they are, there is none. */
  #core: CoreResampler | undefined;
  #isFreed = false;
  #pending = 0;

  constructor(path: RatePath, maker: TranscoderCore) {
    this.fromHz = path.fromHz;
    this.toHz = path.toHz;
    this.delayMs = pathDelayMs(path);
    this.#path = path;
    this.#maker = maker;
  }

  process(input: Int16Array, output?: Int16Array): Int16Array {
    const core = this.#alive();
    const length = checkArray('input', input, 'Int16Array');
    const result = samplesFor(output, dueSamples(this.#path, this.#pending, length));
    core.process(input, result);
    this.#pending = (this.#pending + length) % this.#path.down;
    return result;
  }

  processFromMulaw(input: Uint8Array, output?: Int16Array): Int16Array {
    const core = this.#alive();
    const length = checkArray('input', input, 'Uint8Array');
    const result = samplesFor(output, dueSamples(this.#path, this.#pending, length));
    core.processFromMulaw(input, result);
    this.#pending = (this.#pending + length) % this.#path.down;
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
    const length = checkArray('input', input, 'Int16Array');
    const result = bytesFor(output, dueSamples(this.#path, this.#pending, length));
    core.processToMulaw(input, result);
    this.#pending = (this.#pending + length) % this.#path.down;
    return result;
  }

  /** Has `detector`, of the same maker, hear the frame that is due of `input`. */
  static hearMulaw(
    resampler: Resampler,
    detector: MadeDetector,
    input: Uint8Array,
    output: Int16Array,
  ): number {
    if (typeof resampler !== 'object' || resampler === null || !(#core in resampler))
      refuse('resampler', 'a resampler', resampler);
    if (resampler.#maker !== detector.maker) refuse('resampler', 'one of the same backend', resampler);
    const core = resampler.#alive();
    const path = resampler.#path;
    const length = checkArray('input', input, 'Uint8Array');
    const due = dueSamples(path, resampler.#pending, length);
    if (path.toHz !== FRAME.rateHz || due !== FRAME.samples)
      throw new TranscoderError(
        'TRANSCODER_INPUT',
        `input must make ${FRAME.samples} samples at ${FRAME.rateHz} Hz, not ${due} at ${path.toHz} Hz`,
      );
    const room = startOf(output, checkArray('output', output, 'Int16Array'), due);
    const packed = detector.core.hearMulaw(core, input, room);
    resampler.#pending = (resampler.#pending + length) % path.down;
    return packed;
  }

  flush(): Int16Array {
    const core = this.#alive();
    const result = new Int16Array(tailSamples(this.#path, this.#pending));
    core.flush(result);
    this.#pending = 0;
    return result;
  }

  reset(): void {
    this.#demandUse();
    this.#core?.reset();
    this.#pending = 0;
  }

  free(): void {
    this.#isFreed = true;
    this.#core?.free();
    this.#core = undefined;
  }

  #alive(): CoreResampler {
    return this.#core ?? this.#made();
  }

  #made(): CoreResampler {
    this.#demandUse();
    const { fromHz, toHz } = this.#path;
    this.#core = create('resampler', () => this.#maker.createResampler(fromHz, toHz));
    return this.#core;
  }

  #demandUse(): void {
    if (this.#isFreed)
      throw new TranscoderError('TRANSCODER_INPUT', 'the resampler must not be used after free()');
  }
}

class CheckedVoiceDetector implements VoiceDetector {
  energy = 0;
  #made: MadeDetector | undefined;

  constructor(maker: TranscoderCore) {
    this.#made = { core: create('voice detector', () => maker.createVoiceDetector()), maker };
  }

  hear(frame: Int16Array): boolean {
    const { core } = this.#alive();
    const length = checkArray('frame', frame, 'Int16Array');
    if (length !== FRAME.samples)
      throw new TranscoderError(
        'TRANSCODER_INPUT',
        `frame must hold ${FRAME.samples} samples, it holds ${length}`,
      );
    return this.#unpack(core.hear(frame));
  }

  hearMulaw(input: Uint8Array, resampler: Resampler, output: Int16Array): boolean {
    return this.#unpack(CheckedResampler.hearMulaw(resampler, this.#alive(), input, output));
  }

  free(): void {
    this.#made?.core.free();
    this.#made = undefined;
  }

  #unpack(packed: number): boolean {
    const voiced = packed < 0;
    this.energy = voiced ? -1 - packed : packed;
    return voiced;
  }

  #alive(): MadeDetector {
    if (this.#made === undefined)
      throw new TranscoderError('TRANSCODER_INPUT', 'the voice detector must not be used after free()');
    return this.#made;
  }
}

/** Some values throw when they are made text. */
function showRate(rate: unknown): string {
  return typeof rate === 'number' || typeof rate === 'string' ? String(rate) : typeof rate;
}

/** A backend that has no room for one more says so in words of its own. */
function create<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TranscoderError('TRANSCODER_INPUT', `no ${what} could be made: ${reason}`, { cause });
  }
}

/**
 * True for arrays of one length, not 0, that is their own. What they say comes first, so that nothing of theirs runs once
 * the lengths are known. @throws what a value that is no typed array, or its own code, throws.
 */
export function haveOneLength(left: Int16Array | Uint8Array, right: Int16Array | Uint8Array): boolean {
  const claimed = left.length;
  return (
    claimed === right.length &&
    claimed > 0 &&
    lengthOf.call(left) === claimed &&
    lengthOf.call(right) === claimed
  );
}

/** The whole contract on top of a bare backend. */
export function createBackend(core: TranscoderCore): TranscoderBackend {
  const checked: TranscoderBackend = {
    name: core.name,
    mulawDecode(input, output) {
      const length = checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, length);
      core.mulawDecode(input, result);
      return result;
    },
    mulawEncode(input, output) {
      const length = checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, length);
      core.mulawEncode(input, result);
      return result;
    },
    alawDecode(input, output) {
      const length = checkArray('input', input, 'Uint8Array');
      const result = samplesFor(output, length);
      core.alawDecode(input, result);
      return result;
    },
    alawEncode(input, output) {
      const length = checkArray('input', input, 'Int16Array');
      const result = bytesFor(output, length);
      core.alawEncode(input, result);
      return result;
    },
    createResampler(fromHz, toHz) {
      const path = findPath(fromHz, toHz);
      if (path === undefined) {
        const offered = allPaths().map((each) => `${each.fromHz} to ${each.toHz}`);
        throw new TranscoderError(
          'TRANSCODER_INPUT',
          `there is no resampler from ${showRate(fromHz)} to ${showRate(toHz)} Hz; offered: ${offered.join(', ')}`,
        );
      }
      return new CheckedResampler(path, core);
    },
    createVoiceDetector: () => new CheckedVoiceDetector(core),
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
      const length = checkArray('mac', mac, 'Uint8Array');
      return length === HMAC_BYTES && core.verifyHmacSha1(key, message, mac);
    },
  };
  return core.shorten?.(checked) ?? checked;
}
