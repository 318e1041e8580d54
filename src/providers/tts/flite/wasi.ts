// Runs the Flite speech synthesizer's WASI build: one instance per sentence behind a shim of the 13 functions it imports.
// Runs in the worker only. Source: WASI snapshot preview 1.

/** As much of WebAssembly as is used here: the global's types come with browser libraries only. */
interface WebAssemblyGlobal {
  compile(bytes: Uint8Array): Promise<FliteModule>;
  Instance: new (module: FliteModule, imports: object) => { readonly exports: FliteExports };
}

interface FliteExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly _start: () => void;
}

/** The compiled synthesizer. */
export type FliteModule = object & { readonly fliteModule?: never };

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyGlobal };

/** Compiles the bytes of the package's file. All threads can run what one has compiled. */
export function compileFlite(bytes: Uint8Array): Promise<FliteModule> {
  return WebAssembly.compile(bytes);
}

/** Audio of one sentence. */
export interface FliteAudio {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
}

/** Thrown through the instance when it exits. */
class ExitSignal extends Error {
  readonly code: number;

  constructor(code: number) {
    super('exit');
    this.code = code;
  }
}

const OUTPUT_NAME = 'o.wav';
const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const STDERR_FD = 2;
const ROOT_FD = 3;
const FILE_FD = 4;
const FILE_TYPE = { directory: 3, file: 4 } as const;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
const WHENCE = { start: 0, current: 1 } as const;

/** Speaks `text` with one of the built-in voices. @throws Error when the synthesizer fails or traps. */
export function runFlite(module: FliteModule, voice: string, text: string): FliteAudio {
  const file = new GrowingFile();
  const host = new Host(['flite', '-voice', voice, '-t', text, '-o', `/${OUTPUT_NAME}`], file);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: host.imports() });
  host.memory = instance.exports.memory;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof ExitSignal)) throw error;
    if (error.code !== 0) throw new Error('the synthesizer exited with an error');
  }
  return readWav(file.bytes());
}

/** The WAV file that the synthesizer writes: first the samples, then the header at the start. */
class GrowingFile {
  #buffer = new Uint8Array(1 << 16);
  #length = 0;
  #position = 0;

  write(bytes: Uint8Array): void {
    const end = this.#position + bytes.length;
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(end, this.#buffer.length * 2));
      grown.set(this.#buffer);
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }

  seek(offset: number, whence: number): number {
    const base = whence === WHENCE.start ? 0 : whence === WHENCE.current ? this.#position : this.#length;
    this.#position = Math.max(0, base + offset);
    return this.#position;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The functions that the instance calls. Views are made anew for every call: growing memory detaches them. */
class Host {
  memory: FliteExports['memory'] | undefined;
  readonly #arguments: readonly Uint8Array[];
  readonly #file: GrowingFile;

  constructor(args: readonly string[], file: GrowingFile) {
    const encoder = new TextEncoder();
    this.#arguments = args.map((argument) => encoder.encode(`${argument}\0`));
    this.#file = file;
  }

  imports(): Record<string, (...args: never[]) => number> {
    return {
      args_sizes_get: (count: number, size: number) => {
        this.#view().setUint32(count, this.#arguments.length, true);
        this.#view().setUint32(
          size,
          this.#arguments.reduce((sum, each) => sum + each.length, 0),
          true,
        );
        return SUCCESS;
      },
      args_get: (pointers: number, buffer: number) => {
        let at = buffer;
        for (const [index, argument] of this.#arguments.entries()) {
          this.#view().setUint32(pointers + index * 4, at, true);
          this.#bytes().set(argument, at);
          at += argument.length;
        }
        return SUCCESS;
      },
      // A clock that stands still: the same text gives the same bytes.
      clock_time_get: (_clock: number, _precision: bigint, result: number) => {
        this.#view().setBigUint64(result, 0n, true);
        return SUCCESS;
      },
      fd_prestat_get: (fd: number, result: number) => {
        if (fd !== ROOT_FD) return BAD_DESCRIPTOR;
        this.#view().setUint32(result, 0, true);
        this.#view().setUint32(result + 4, 1, true);
        return SUCCESS;
      },
      fd_prestat_dir_name: (fd: number, path: number) => {
        if (fd !== ROOT_FD) return BAD_DESCRIPTOR;
        this.#bytes()[path] = '/'.charCodeAt(0);
        return SUCCESS;
      },
      path_open: (...args: (number | bigint)[]) => {
        this.#view().setUint32(Number(args[8]), FILE_FD, true);
        return SUCCESS;
      },
      fd_fdstat_get: (fd: number, result: number) => {
        const view = this.#view();
        view.setUint8(result, fd === ROOT_FD ? FILE_TYPE.directory : FILE_TYPE.file);
        view.setUint16(result + 2, 0, true);
        view.setBigUint64(result + 8, ALL_RIGHTS, true);
        view.setBigUint64(result + 16, ALL_RIGHTS, true);
        return SUCCESS;
      },
      fd_fdstat_set_flags: () => SUCCESS,
      fd_read: (_fd: number, _vectors: number, _count: number, result: number) => {
        this.#view().setUint32(result, 0, true);
        return SUCCESS;
      },
      fd_write: (fd: number, vectors: number, count: number, result: number) => {
        const view = this.#view();
        let written = 0;
        for (let index = 0; index < count; index += 1) {
          const address = view.getUint32(vectors + index * 8, true);
          const length = view.getUint32(vectors + index * 8 + 4, true);
          if (fd > STDERR_FD) this.#file.write(this.#bytes().subarray(address, address + length));
          written += length;
        }
        view.setUint32(result, written, true);
        return SUCCESS;
      },
      fd_seek: (_fd: number, offset: bigint, whence: number, result: number) => {
        this.#view().setBigUint64(result, BigInt(this.#file.seek(Number(offset), whence)), true);
        return SUCCESS;
      },
      fd_close: () => SUCCESS,
      proc_exit: (code: number) => {
        throw new ExitSignal(code);
      },
    };
  }

  #view(): DataView {
    return new DataView(this.#buffer());
  }

  #bytes(): Uint8Array {
    return new Uint8Array(this.#buffer());
  }

  #buffer(): ArrayBuffer {
    if (this.memory === undefined) throw new Error('the synthesizer has no memory yet');
    return this.memory.buffer;
  }
}

/** @throws Error for anything but 16-bit mono PCM. */
function readWav(bytes: Uint8Array): FliteAudio {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sampleRateHz = 0;
  let at = 12;
  while (at + 8 <= bytes.length) {
    const kind = view.getUint32(at, false);
    const length = view.getUint32(at + 4, true);
    if (kind === 0x666d_7420) sampleRateHz = view.getUint32(at + 12, true);
    if (kind === 0x6461_7461 && sampleRateHz > 0) {
      const count = Math.min(length, bytes.length - at - 8) >> 1;
      const pcm = new Int16Array(count);
      for (let index = 0; index < count; index += 1) pcm[index] = view.getInt16(at + 8 + index * 2, true);
      return { pcm, sampleRateHz };
    }
    at += 8 + length;
  }
  throw new Error('the synthesizer wrote no audio');
}
