// A key of a LevelDB folder at one time: what a log or a table says of it.
import { ByteReader } from './byte-reader.js';

export interface Entry {
  readonly key: string;
  /** The higher one of a key counts. */
  readonly sequence: number;
  /** Undefined where the key goes away. */
  readonly value: string | undefined;
}

const PUT = 1;
const SEQUENCE_BYTES = 8;

/** The sequences of the changes of one record of a log: the first one, and the one that comes next. Source: LevelDB, db/write_batch.cc. */
export function sequencesOf(record: Buffer): { first: number; next: number } {
  const reader = new ByteReader(record);
  const first = toSequence(reader.take(SEQUENCE_BYTES));
  return { first, next: first + reader.take(4).readUInt32LE() };
}

/** The changes of one record of a log, which were written in one. @throws RangeError for bytes that are none. */
export function readWriteBatch(record: Buffer): Entry[] {
  const { first } = sequencesOf(record);
  const reader = new ByteReader(record, SEQUENCE_BYTES + 4);
  const entries: Entry[] = [];
  while (reader.left > 0) {
    const isPut = reader.byte() === PUT;
    const key = reader.slice().toString();
    const value = isPut ? reader.slice().toString() : undefined;
    entries.push({ key, value, sequence: first + entries.length });
  }
  return entries;
}

/** A key as tables have it: behind it 7 bytes of sequence and one that says what happened. Source: LevelDB, db/dbformat.h. */
export function toEntry(internalKey: Buffer, value: Buffer): Entry {
  const end = internalKey.length - SEQUENCE_BYTES;
  if (end < 0) throw new RangeError('A key is too short.');
  const kind = internalKey[end];
  const sequence = internalKey.readUIntLE(end + 1, 6);
  return {
    key: internalKey.toString('utf8', 0, end),
    sequence,
    value: kind === PUT ? value.toString() : undefined,
  };
}

/** The highest byte counts changes beyond 2 ** 48. */
function toSequence(bytes: Buffer): number {
  return bytes.readUIntLE(0, 6);
}
