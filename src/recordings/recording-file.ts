// A finished recording as a file: a WAV file, or one that is sealed in pieces, so that any part of it can be read without the rest.
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { recordingLane } from '../base/disk-lane.js';
import { RecordingError } from '../base/errors.js';
import { newSeal, type RecordingKey, type Seal, SEAL_HEAD_BYTES, sealOf, TAG_BYTES } from './seal.js';

const MAGIC = 'OHREC1\n\0';
const HEADER_BYTES = 16 + SEAL_HEAD_BYTES;
/** Of what is sealed at once. */
const PIECE_BYTES = 64 * 1024;
/** Whoever has put it there, a link is not followed, and a pipe or a device is not waited for. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Whatever is there stays as it is. */
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** How the names of recordings end. A sealed one is never read from a file that is not: anybody could have written it. */
export const PLAIN = '.wav';
export const SEALED = '.wav.enc';

/** Why a file cannot be played. */
export type FileTrouble = 'absent' | 'damaged' | 'key-missing' | 'key-wrong';

export class FileError extends Error {
  readonly trouble: FileTrouble;

  constructor(trouble: FileTrouble, options?: ErrorOptions) {
    super(trouble, options);
    this.trouble = trouble;
  }
}

/** An open file, to be closed: nothing but a file. Blocks the thread. @throws FileError */
export function openFile(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (cause) {
    throw toFileError(cause);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new FileError('damaged');
}

/** The same, and the thread goes on meanwhile. @throws FileError */
function openFileLater(path: string): Promise<{ file: FileHandle; bytes: number }> {
  return recordingLane.run(async () => {
    const file = await open(path, READ).catch((cause: unknown) => {
      throw toFileError(cause);
    });
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new FileError('damaged');
      return { file, bytes: stats.size };
    } catch (error) {
      await file.close();
      throw error;
    }
  });
}

/** Fewer than `length` where it ends before. */
function readLater(file: FileHandle, position: number, length: number): Promise<Buffer> {
  return recordingLane.run(async () => {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await file.read(bytes, read, length - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  });
}

function closeLater(file: FileHandle): Promise<void> {
  return recordingLane.run(() => file.close());
}

/** The first bytes of a file. @throws FileError, and what the file system throws */
export async function readStart(path: string, length: number): Promise<Uint8Array> {
  const { file } = await openFileLater(path);
  try {
    return await readLater(file, 0, length);
  } finally {
    await closeLater(file);
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
    const { file, bytes } = await openFileLater(path);
    try {
      const header = await readLater(file, 0, HEADER_BYTES);
      const { size, sealed } = inspect(header, bytes, { path, callId, key });
      const reader = new RecordingReader(file, size, sealed);
      // What is cut off or put behind whole pieces shows in the length that the recording itself has.
      if (sealed !== undefined && durationOf(await reader.#piece(0), size) === undefined)
        throw new FileError('damaged');
      return reader;
    } catch (error) {
      await closeLater(file);
      throw error instanceof FileError ? error : new FileError('damaged', { cause: error });
    }
  }

  /** Bytes from `start` up to `end`. @throws RecordingError, and what the file system throws */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const from = at - (at % PIECE_BYTES);
      const piece = await this.#piece(from / PIECE_BYTES);
      const part = piece.subarray(at - from, Math.min(end - from, piece.length));
      if (part.length === 0) throw damagedHere();
      at += part.length;
      yield part;
    }
  }

  async close(): Promise<void> {
    await closeLater(this.#file);
  }

  async #piece(index: number): Promise<Buffer> {
    if (this.#sealed === undefined) return readLater(this.#file, index * PIECE_BYTES, PIECE_BYTES);
    const { seal, pieces } = this.#sealed;
    const at = HEADER_BYTES + index * (PIECE_BYTES + TAG_BYTES);
    const closed = await readLater(this.#file, at, PIECE_BYTES + TAG_BYTES);
    const plain = seal.open(closed, index, { isLast: index === pieces - 1 });
    if (plain === undefined) throw damagedHere();
    return plain;
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
    fd = openFile(path);
  } catch {
    return undefined;
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const read = readSync(fd, header, 0, HEADER_BYTES, 0);
    const bytes = fstatSync(fd).size;
    const { size, sealed } = inspect(header.subarray(0, read), bytes, { path, callId, key });
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
  { path, callId, key }: WavPlace,
): { size: number; sealed: SealedPieces | undefined } {
  if (!path.endsWith(SEALED) && header.toString('latin1', 0, 4) === 'RIFF') {
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

function damagedHere(): RecordingError {
  return new RecordingError(
    'RECORDING_DAMAGED',
    'The recording is damaged here: this part of it cannot be played.',
  );
}

const aboutFile = (callId: string) => `recording ${callId}`;

function toFileError(cause: unknown): FileError {
  const isMissing = (cause as { code?: unknown }).code === 'ENOENT';
  return new FileError(isMissing ? 'absent' : 'damaged', { cause });
}
