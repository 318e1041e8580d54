// A finished recording as a file: a WAV file, or one that is sealed in pieces, so that any part of it can be read without the rest.
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { newSeal, type RecordingKey, type Seal, SEAL_HEAD_BYTES, sealOf, TAG_BYTES } from './seal.js';

const MAGIC = 'OHREC1\n\0';
const HEADER_BYTES = 16 + SEAL_HEAD_BYTES;
/** Of what is sealed at once. */
const PIECE_BYTES = 64 * 1024;
/** A link is not followed, whoever has put it there. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
/** Whatever is there stays as it is. */
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Why a file cannot be played. */
export type FileTrouble = 'absent' | 'damaged' | 'key-missing' | 'key-wrong';

export class FileError extends Error {
  readonly trouble: FileTrouble;

  constructor(trouble: FileTrouble, options?: ErrorOptions) {
    super(trouble, options);
    this.trouble = trouble;
  }
}

export interface WavPlace {
  readonly path: string;
  readonly callId: string;
  /** Undefined for a file that is not encrypted. */
  readonly key: RecordingKey | undefined;
}

/** Writes a recording from its beginning to its end. Blocks the thread: it is the encoder's. @throws what the file system throws */
export class RecordingWriter {
  readonly #fd: number;
  readonly #seal: Seal | undefined;
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #piece = 0;
  #bytes = 0;

  constructor({ path, callId, key }: WavPlace) {
    this.#fd = openSync(path, WRITE, 0o600);
    if (key === undefined) return;
    const { seal, head } = newSeal(key, aboutFile(callId));
    this.#seal = seal;
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(MAGIC, 'latin1');
    header.writeUInt32LE(PIECE_BYTES, 8);
    header.set(head, 16);
    this.#put(header);
  }

  /** Of the file, so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes bytes that are left alone until `finish`, or copied. */
  write(bytes: Uint8Array): void {
    if (this.#seal === undefined) {
      this.#put(bytes);
      return;
    }
    this.#rest.push(bytes.slice());
    this.#restBytes += bytes.length;
    if (this.#restBytes <= PIECE_BYTES) return;
    const whole = Buffer.concat(this.#rest);
    let from = 0;
    // The last piece is told from the others, so one is always kept back.
    for (; whole.length - from > PIECE_BYTES; from += PIECE_BYTES)
      this.#putSealed(whole.subarray(from, from + PIECE_BYTES), { isLast: false });
    this.#rest = [whole.subarray(from)];
    this.#restBytes = whole.length - from;
  }

  /** It is on the disk then. */
  finish(): void {
    if (this.#seal !== undefined) this.#putSealed(Buffer.concat(this.#rest), { isLast: true });
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #putSealed(plain: Uint8Array, options: { isLast: boolean }): void {
    const sealed = this.#seal?.seal(plain, this.#piece, options);
    this.#piece += 1;
    if (sealed !== undefined) this.#put(sealed);
  }

  #put(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#fd, bytes, from);
    this.#bytes += bytes.length;
  }
}

interface SealedPieces {
  readonly seal: Seal;
  readonly pieces: number;
}

/** A recording that is being read. */
export class RecordingReader {
  readonly #file: FileHandle;
  readonly #sealed: SealedPieces | undefined;
  /** Of the WAV file, in bytes. */
  readonly size: number;

  private constructor(file: FileHandle, size: number, sealed: SealedPieces | undefined) {
    this.#file = file;
    this.size = size;
    this.#sealed = sealed;
  }

  /** @throws FileError */
  static async open({ path, callId, key }: WavPlace): Promise<RecordingReader> {
    const file = await open(path, READ).catch((cause: unknown) => {
      throw new FileError(isMissing(cause) ? 'absent' : 'damaged', { cause });
    });
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new FileError('damaged');
      const header = Buffer.alloc(HEADER_BYTES);
      const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
      const { size, sealed } = inspect(header.subarray(0, bytesRead), stats.size, { callId, key });
      return new RecordingReader(file, size, sealed);
    } catch (error) {
      await file.close();
      throw error instanceof FileError ? error : new FileError('damaged', { cause: error });
    }
  }

  /** Bytes from `start` up to `end`. @throws FileError */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const from = at - (at % PIECE_BYTES);
      const piece = await this.#piece(from / PIECE_BYTES);
      const part = piece.subarray(at - from, Math.min(end - from, piece.length));
      if (part.length === 0) throw new FileError('damaged');
      at += part.length;
      yield part;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #piece(index: number): Promise<Uint8Array> {
    if (this.#sealed === undefined) return this.#bytes(index * PIECE_BYTES, PIECE_BYTES);
    const { seal, pieces } = this.#sealed;
    const closed = await this.#bytes(
      HEADER_BYTES + index * (PIECE_BYTES + TAG_BYTES),
      PIECE_BYTES + TAG_BYTES,
    );
    const plain = seal.open(closed, index, { isLast: index === pieces - 1 });
    if (plain === undefined) throw new FileError('damaged');
    return plain;
  }

  async #bytes(position: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await this.#file.read(bytes, read, length - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  }
}

/** A finished recording, if there is one that is whole; `locked` for one that the key is not of. Blocks the thread. */
export function inspectFinished({
  path,
  callId,
  key,
}: WavPlace): { durationMs: number; bytes: number } | 'locked' | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch {
    return undefined;
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const read = readSync(fd, header, 0, HEADER_BYTES, 0);
    const bytes = fstatSync(fd).size;
    const { size, sealed } = inspect(header.subarray(0, read), bytes, { callId, key });
    let wav: Buffer | undefined = header.subarray(0, read);
    if (sealed !== undefined) {
      const first = Buffer.alloc(Math.min(PIECE_BYTES, size) + TAG_BYTES);
      readSync(fd, first, 0, first.length, HEADER_BYTES);
      wav = sealed.seal.open(first, 0, { isLast: sealed.pieces === 1 });
    }
    const durationMs = wav && durationOf(wav, size);
    return durationMs === undefined ? undefined : { durationMs, bytes };
  } catch (error) {
    const { trouble } = error as Partial<FileError>;
    return trouble === 'key-missing' || trouble === 'key-wrong' ? 'locked' : undefined;
  } finally {
    closeSync(fd);
  }
}

/** @throws FileError */
function inspect(
  header: Buffer,
  fileBytes: number,
  { callId, key }: Pick<WavPlace, 'callId' | 'key'>,
): { size: number; sealed: SealedPieces | undefined } {
  if (header.toString('latin1', 0, 4) === 'RIFF') {
    if (header.length < 44 || header.readUInt32LE(4) + 8 !== fileBytes) throw new FileError('damaged');
    return { size: fileBytes, sealed: undefined };
  }
  const isOurs = header.length === HEADER_BYTES && header.toString('latin1', 0, 8) === MAGIC;
  if (!isOurs || header.readUInt32LE(8) !== PIECE_BYTES) throw new FileError('damaged');
  if (key === undefined) throw new FileError('key-missing');
  const seal = sealOf(key, header.subarray(16), aboutFile(callId));
  if (seal === undefined) throw new FileError('key-wrong');
  const sealedBytes = fileBytes - HEADER_BYTES;
  const pieces = Math.ceil(sealedBytes / (PIECE_BYTES + TAG_BYTES));
  const size = sealedBytes - pieces * TAG_BYTES;
  if (pieces === 0 || size <= (pieces - 1) * PIECE_BYTES) throw new FileError('damaged');
  return { size, sealed: { seal, pieces } };
}

/** Of a WAV file of ours, by its header. */
function durationOf(header: Buffer, size: number): number | undefined {
  if (header.length < 44 || header.toString('latin1', 0, 4) !== 'RIFF' || header.readUInt32LE(4) + 8 !== size)
    return undefined;
  const [format, bytesPerSecond] = [header.readUInt16LE(20), header.readUInt32LE(28)];
  const headerBytes = format === 1 ? 44 : 58;
  return bytesPerSecond === 0 ? undefined : ((size - headerBytes) * 1000) / bytesPerSecond;
}

const aboutFile = (callId: string) => `recording ${callId}`;

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ENOENT';
}
