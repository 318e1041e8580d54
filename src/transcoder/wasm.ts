// The Rust core as a WebAssembly module, whose bytes are part of this package. Memory of the module never leaves this file:
// inputs are copied in, results copied out.
import { TranscoderError } from '../base/errors.js';
import type { CoreResampler, CoreVoiceDetector, TranscoderCore } from './core.js';
import { decodeBase64 } from './javascript/base64.js';
import { isHmacSha1, signHmacSha1 } from './javascript/hmac.js';
import { WASM_BASE64 } from './wasm-bytes.generated.js';

/** As much of WebAssembly as is used here: the global's types come with browser libraries only. */
interface WebAssemblyGlobal {
  Module: {
    new (bytes: Uint8Array): object;
    imports(module: object): { module: string; name: string }[];
  };
  Instance: new (module: object, imports: object) => { exports: unknown };
}

/**
 * What the module exports: functions on numbers. -1 means that something does not fit, and so do 0 for a handle and NaN for what a
 * voice detector hears.
 */
export interface WasmExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  bytes_in(): number;
  bytes_out(): number;
  samples_in(): number;
  samples_out(): number;
  capacity(): number;
  mulaw_decode(length: number): number;
  mulaw_encode(length: number): number;
  alaw_decode(length: number): number;
  alaw_encode(length: number): number;
  instruction_sets(): number;
  resampler_create(fromHz: number, toHz: number, set: number): number;
  resampler_process(handle: number, length: number): number;
  resampler_process_from_mulaw(handle: number, length: number): number;
  resampler_process_from_mulaw_base64(handle: number, length: number): number;
  resampler_process_to_mulaw(handle: number, length: number): number;
  resampler_count(): number;
  resampler_flush(handle: number): number;
  resampler_reset(handle: number): number;
  resampler_free(handle: number): number;
  detector_create(): number;
  /** What a `CoreVoiceDetector` gives. */
  detector_hear(handle: number, length: number): number;
  detector_hear_mulaw(handle: number, resampler: number, length: number): number;
  detector_free(handle: number): number;
  detector_count(): number;
  hmac_sha1(keyLength: number, messageLength: number): number;
  verify_hmac_sha1(keyLength: number, messageLength: number, macLength: number): number;
}

/** The fastest instruction set of the module, whatever its number. */
const FASTEST = 0xffff;

/** Makes an instance of the module with memory of its own. @throws whatever the engine says when it cannot. */
export function instantiate(): WasmExports {
  const { WebAssembly } = globalThis as unknown as { WebAssembly?: WebAssemblyGlobal };
  if (WebAssembly === undefined) throw new Error('this process has no WebAssembly');
  const bytes = Buffer.from(WASM_BASE64, 'base64');
  const module = new WebAssembly.Module(bytes);
  const imports: Record<string, Record<string, () => never>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    // Functions on numbers call nothing of JavaScript's, but for the report of a defect.
    imports[from][name] = () => {
      throw new TranscoderError('TRANSCODER_UNAVAILABLE', `the WebAssembly module called ${name}`);
    };
  }
  return new WebAssembly.Instance(module, imports).exports as WasmExports;
}

const encoder = new TextEncoder();
const NO_BYTES = new Uint8Array();

/** The buffers of an instance. Views are made anew when the memory has grown, and kept for the length last used. */
class Memory {
  readonly exports: WasmExports;
  readonly capacity: number;
  #bytesIn!: Uint8Array;
  #samplesIn!: Int16Array;
  #bytesOut!: Uint8Array;
  #samplesOut!: Int16Array;
  #bytesOutAt = 0;
  #samplesOutAt = 0;

  constructor(exports: WasmExports) {
    this.exports = exports;
    this.capacity = exports.capacity();
    this.#refresh();
  }

  #refresh(): void {
    const { exports } = this;
    // The first question makes the buffers, and may let the memory grow: the memory comes last.
    const bytesInAt = exports.bytes_in();
    const samplesInAt = exports.samples_in();
    this.#bytesOutAt = exports.bytes_out();
    this.#samplesOutAt = exports.samples_out();
    const { buffer } = exports.memory;
    this.#bytesIn = new Uint8Array(buffer, bytesInAt, this.capacity);
    this.#samplesIn = new Int16Array(buffer, samplesInAt, this.capacity);
    this.#bytesOut = new Uint8Array(buffer, this.#bytesOutAt, 0);
    this.#samplesOut = new Int16Array(buffer, this.#samplesOutAt, 0);
  }

  /** Memory that grows detaches all views of it, and a detached view has no length. */
  #renew(): void {
    if (this.#samplesIn.length === 0) this.#refresh();
  }

  putBytes(input: Uint8Array, at = 0): void {
    this.#renew();
    this.#bytesIn.set(input, at);
  }

  putSamples(input: Int16Array): void {
    this.#renew();
    this.#samplesIn.set(input);
  }

  /** False when the text has characters beyond ASCII. There must be room. */
  putText(text: string): boolean {
    this.#renew();
    const { written } = encoder.encodeInto(text, this.#bytesIn);
    return written === text.length;
  }

  /** Copies out as many bytes as `output` has. */
  takeBytes(output: Uint8Array, written: number): void {
    expectCount(written, output.length);
    this.#renew();
    if (this.#bytesOut.length !== written)
      this.#bytesOut = new Uint8Array(this.#bytesIn.buffer, this.#bytesOutAt, written);
    output.set(this.#bytesOut);
  }

  /** Copies out as many samples as `output` has. */
  takeSamples(output: Int16Array, written: number): void {
    expectCount(written, output.length);
    this.#renew();
    if (this.#samplesOut.length !== written)
      this.#samplesOut = new Int16Array(this.#bytesIn.buffer, this.#samplesOutAt, written);
    output.set(this.#samplesOut);
  }

  /** Key, message and code one behind the other. False when there is no room for them. */
  putParts(key: Uint8Array, message: Uint8Array, mac: Uint8Array = NO_BYTES): boolean {
    if (key.length + message.length + mac.length > this.capacity) return false;
    this.putBytes(key);
    this.putBytes(message, key.length);
    this.putBytes(mac, key.length + message.length);
    return true;
  }
}

function expectCount(written: number, expected: number): void {
  if (written !== expected)
    throw new TranscoderError('TRANSCODER_INPUT', `the module wrote ${written} of ${expected} elements`);
}

/** A copy where the output of one piece could be written over the input of the next. */
function apart<T extends Uint8Array | Int16Array>(input: T, output: Uint8Array | Int16Array): T {
  return input.buffer === output.buffer ? (input.slice() as T) : input;
}

/** Frees what was dropped without `free`. */
const dropped = new FinalizationRegistry<() => void>((free) => free());

class WasmResampler implements CoreResampler {
  readonly handle: number;
  readonly #memory: Memory;
  readonly #down: number;
  readonly #up: number;

  constructor(memory: Memory, handle: number, rates: { fromHz: number; toHz: number }) {
    this.#memory = memory;
    this.handle = handle;
    this.#down = rates.fromHz / 8000;
    this.#up = rates.toHz / 8000;
    dropped.register(this, () => memory.exports.resampler_free(handle), this);
  }

  process(input: Int16Array, output: Int16Array): void {
    const memory = this.#memory;
    if (input.length > memory.capacity) {
      this.#inPieces(input, output, (from, to) => this.process(from, to));
      return;
    }
    memory.putSamples(input);
    memory.takeSamples(output, memory.exports.resampler_process(this.handle, input.length));
  }

  processFromMulaw(input: Uint8Array, output: Int16Array): void {
    const memory = this.#memory;
    if (input.length > memory.capacity) {
      this.#inPieces(input, output, (from, to) => this.processFromMulaw(from, to));
      return;
    }
    memory.putBytes(input);
    memory.takeSamples(output, memory.exports.resampler_process_from_mulaw(this.handle, input.length));
  }

  processFromMulawBase64(input: string, output: Int16Array): boolean {
    const memory = this.#memory;
    if (input.length > memory.capacity) {
      const bytes = decodeBase64(input);
      if (bytes !== undefined) this.processFromMulaw(bytes, output);
      return bytes !== undefined;
    }
    if (!memory.putText(input)) return false;
    const written = memory.exports.resampler_process_from_mulaw_base64(this.handle, input.length);
    if (written < 0) return false;
    memory.takeSamples(output, written);
    return true;
  }

  processToMulaw(input: Int16Array, output: Uint8Array): void {
    const memory = this.#memory;
    if (input.length > memory.capacity) {
      this.#inPieces(input, output, (from, to) => this.processToMulaw(from, to));
      return;
    }
    memory.putSamples(input);
    memory.takeBytes(output, memory.exports.resampler_process_to_mulaw(this.handle, input.length));
  }

  /** Pieces of whole groups, so that every one but the last gives a length that is known beforehand. */
  #inPieces<In extends Uint8Array | Int16Array, Out extends Uint8Array | Int16Array>(
    input: In,
    output: Out,
    step: (input: In, output: Out) => void,
  ): void {
    const from = apart(input, output);
    const piece = Math.floor(this.#memory.capacity / this.#down) * this.#down;
    let to = 0;
    for (let at = 0; at < input.length; at += piece) {
      const end = at + piece < input.length ? to + (piece / this.#down) * this.#up : output.length;
      step(from.subarray(at, at + piece) as In, output.subarray(to, end) as Out);
      to = end;
    }
  }

  flush(output: Int16Array): void {
    this.#memory.takeSamples(output, this.#memory.exports.resampler_flush(this.handle));
  }

  reset(): void {
    this.#memory.exports.resampler_reset(this.handle);
  }

  free(): void {
    dropped.unregister(this);
    this.#memory.exports.resampler_free(this.handle);
  }
}

class WasmVoiceDetector implements CoreVoiceDetector {
  readonly #memory: Memory;
  readonly #handle: number;

  constructor(memory: Memory, handle: number) {
    this.#memory = memory;
    this.#handle = handle;
    dropped.register(this, () => memory.exports.detector_free(handle), this);
  }

  hear(frame: Int16Array): number {
    const memory = this.#memory;
    memory.putSamples(frame);
    return expectFrame(memory.exports.detector_hear(this.#handle, frame.length));
  }

  hearMulaw(resampler: WasmResampler, input: Uint8Array, output: Int16Array): number {
    const memory = this.#memory;
    memory.putBytes(input);
    const { exports } = memory;
    const packed = expectFrame(exports.detector_hear_mulaw(this.#handle, resampler.handle, input.length));
    memory.takeSamples(output, output.length);
    return packed;
  }

  free(): void {
    dropped.unregister(this);
    this.#memory.exports.detector_free(this.#handle);
  }
}

function expectFrame(packed: number): number {
  if (Number.isNaN(packed)) throw new TranscoderError('TRANSCODER_INPUT', 'the module was given no frame');
  return packed;
}

/** Calls `step` for pieces of input and output that fit the module's buffers. */
function inPieces<In extends Uint8Array | Int16Array, Out extends Uint8Array | Int16Array>(
  capacity: number,
  input: In,
  output: Out,
  step: (input: In, output: Out) => void,
): void {
  if (input.length <= capacity) {
    step(input, output);
    return;
  }
  const from = apart(input, output);
  for (let at = 0; at < from.length; at += capacity)
    step(from.subarray(at, at + capacity) as In, output.subarray(at, at + capacity) as Out);
}

/** @param exports what `instantiate` gave. @param set forces an instruction set, by its place. */
export function createWasmCore(exports: WasmExports, set: number = FASTEST): TranscoderCore {
  const memory = new Memory(exports);
  const { capacity } = memory;
  const decode = (run: (length: number) => number) => (input: Uint8Array, output: Int16Array) => {
    memory.putBytes(input);
    memory.takeSamples(output, run(input.length));
  };
  const encode = (run: (length: number) => number) => (input: Int16Array, output: Uint8Array) => {
    memory.putSamples(input);
    memory.takeBytes(output, run(input.length));
  };
  const mulawDecode = decode(exports.mulaw_decode);
  const mulawEncode = encode(exports.mulaw_encode);
  const alawDecode = decode(exports.alaw_decode);
  const alawEncode = encode(exports.alaw_encode);
  return {
    name: 'wasm',
    mulawDecode: (input, output) => inPieces(capacity, input, output, mulawDecode),
    mulawEncode: (input, output) => inPieces(capacity, input, output, mulawEncode),
    alawDecode: (input, output) => inPieces(capacity, input, output, alawDecode),
    alawEncode: (input, output) => inPieces(capacity, input, output, alawEncode),
    createResampler(fromHz, toHz) {
      const handle = exports.resampler_create(fromHz, toHz, set);
      if (handle === 0)
        throw new TranscoderError('TRANSCODER_INPUT', 'the WebAssembly module holds too many resamplers');
      return new WasmResampler(memory, handle, { fromHz, toHz });
    },
    createVoiceDetector() {
      const handle = exports.detector_create();
      if (handle === 0)
        throw new TranscoderError(
          'TRANSCODER_INPUT',
          'the WebAssembly module holds too many voice detectors',
        );
      return new WasmVoiceDetector(memory, handle);
    },
    hmacSha1(key, message, output) {
      // A message of any length must not make the module's memory grow: no webhook or token is as long.
      if (!memory.putParts(key, message)) signHmacSha1(key, message, output);
      else memory.takeBytes(output, exports.hmac_sha1(key.length, message.length));
    },
    verifyHmacSha1(key, message, mac) {
      if (!memory.putParts(key, message, mac)) return isHmacSha1(key, message, mac);
      return exports.verify_hmac_sha1(key.length, message.length, mac.length) === 1;
    },
  };
}

/** The WASM backend. @throws TranscoderError when the engine cannot compile or run the module. */
export function loadWasmCore(): TranscoderCore {
  try {
    return createWasmCore(instantiate());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TranscoderError('TRANSCODER_UNAVAILABLE', reason, { cause });
  }
}
