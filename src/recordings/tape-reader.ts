// Reads a tape from its beginning, as far as it is whole. Blocks the thread: it is the encoder's.
import { readSync } from 'node:fs';
import {
  BLOCK_START,
  isSealedTape,
  MAX_BLOCK_BYTES,
  RECORD_HEADER_BYTES,
  readHeader,
  TAPE_HEADER_BYTES,
  TapeError,
  type TapeRecord,
} from './tape-format.js';
import type { RecordingKey } from './seal.js';

export interface TapeSource {
  readonly callId: string;
  /** An open file. */
  readonly fd: number;
  readonly key: RecordingKey | undefined;
  /** A tape without encryption is not read: `damaged` hears of it. @default false */
  readonly mustBeSealed?: boolean;
  /** Hears that the tape goes on behind a place that cannot be read. What is there is lost. */
  damaged?(): void;
}

/** The records of a tape. What was torn at its end, when the process died in a write, is left out. @throws TapeError */
export function* readTape({
  callId,
  fd,
  key,
  mustBeSealed = false,
  damaged,
}: TapeSource): Generator<TapeRecord> {
  const header = readFully(fd, TAPE_HEADER_BYTES, 0);
  // The process died before it had written anything.
  if (header.length < TAPE_HEADER_BYTES) return;
  if (mustBeSealed && !isSealedTape(header)) {
    damaged?.();
    return;
  }
  const { size, open } = readHeader(header, callId, key);
  let at = TAPE_HEADER_BYTES;
  for (let index = 0; ; index += 1) {
    const length = readFully(fd, BLOCK_START, at);
    const held = length.length < BLOCK_START ? 0 : length.readUInt32LE();
    if (held === 0) return;
    const closed = held > MAX_BLOCK_BYTES ? undefined : readFully(fd, size(held), at + BLOCK_START);
    const isTorn = closed !== undefined && closed.length < size(held);
    if (isTorn) return;
    const block = closed && open(closed, index);
    at += BLOCK_START + size(held);
    if (block === undefined) {
      if (readFully(fd, 1, at).length > 0) damaged?.();
      return;
    }
    yield* recordsOf(block);
  }
}

/** Whether an open tape is encrypted. */
export function startsSealed(fd: number): boolean {
  return isSealedTape(readFully(fd, TAPE_HEADER_BYTES, 0));
}

function* recordsOf(block: Uint8Array): Generator<TapeRecord> {
  const view = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  for (let at = 0; at < view.length; ) {
    if (at + RECORD_HEADER_BYTES > view.length) throw new TapeError('damaged');
    const [type, length, ticks] = [view.readUInt8(at), view.readUInt16LE(at + 2), view.readUInt32LE(at + 4)];
    const from = at + RECORD_HEADER_BYTES;
    if (from + length > view.length) throw new TapeError('damaged');
    yield { type, ticks, bytes: view.subarray(from, from + length) };
    at = from + length;
  }
}

function readFully(fd: number, length: number, position: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const more = readSync(fd, bytes, read, length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}
