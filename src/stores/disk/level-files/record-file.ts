// Reads a file of records: LevelDB's logs and manifests. What is damaged costs itself only: reading goes on with the next whole record.
// Source: LevelDB, doc/log_format.md: blocks of 32 KiB; records of checksum (4 bytes), length (2), type (1) and data.
import { isIntact } from './crc32c.js';

const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const FULL = 1;
const FIRST = 2;
const LAST = 4;

export interface RecordFile {
  /** Whole records, in order. */
  readonly records: readonly Buffer[];
  /** True when something between them is not as it was written. */
  readonly isDamaged: boolean;
  /** Bytes at the end that are no whole record: of a write that was under way, or of a last record that is damaged. */
  readonly tornBytes: number;
}

export function readRecordFile(bytes: Buffer): RecordFile {
  const records: Buffer[] = [];
  /** Parts of a record that goes over the end of a block. */
  let parts: Buffer[] = [];
  let isDamaged = false;
  /** Where the last whole record ends, or the padding behind it. */
  let wholeEnd = 0;
  let offset = 0;
  while (offset < bytes.length) {
    const start = nextPart(bytes, offset);
    if (start === undefined) break;
    // Behind something that was skipped, the start of a record has lost its end.
    const isGap = start !== offset && !isPadding(offset, start);
    if (isGap) {
      isDamaged = true;
      parts = [];
    }
    const { type, data, end } = partAt(bytes, start);
    const isStart = type === FULL || type === FIRST;
    if (isStart !== (parts.length === 0)) isDamaged = true;
    if (isStart) parts = [data];
    else if (parts.length > 0) parts.push(data);
    offset = end;
    if (type !== FULL && type !== LAST) continue;
    if (parts.length > 0) records.push(parts.length === 1 ? data : Buffer.concat(parts));
    parts = [];
    wholeEnd = end;
  }
  if (isPadding(wholeEnd, bytes.length)) wholeEnd = bytes.length;
  return { records, isDamaged, tornBytes: bytes.length - wholeEnd };
}

/** Where the next part of a record is that is as it was written, from `offset` on. */
function nextPart(bytes: Buffer, offset: number): number | undefined {
  for (let start = offset; start + HEADER_BYTES <= bytes.length; start += 1) {
    if (isPart(bytes, start)) return start;
  }
  return undefined;
}

function isPart(bytes: Buffer, start: number): boolean {
  const type = bytes[start + 6] ?? 0;
  if (type < FULL || type > LAST) return false;
  const left = BLOCK_BYTES - (start % BLOCK_BYTES);
  const size = HEADER_BYTES + bytes.readUInt16LE(start + 4);
  if (size > left || start + size > bytes.length) return false;
  return isIntact(bytes, start, { start: start + 6, end: start + size });
}

function partAt(bytes: Buffer, start: number): { type: number; data: Buffer; end: number } {
  const end = start + HEADER_BYTES + bytes.readUInt16LE(start + 4);
  return { type: bytes[start + 6] ?? 0, data: bytes.subarray(start + HEADER_BYTES, end), end };
}

/** The end of a block that has no room for a header is filled with zeros. */
function isPadding(start: number, end: number): boolean {
  return end - start < HEADER_BYTES && (end % BLOCK_BYTES === 0 || end === start);
}
