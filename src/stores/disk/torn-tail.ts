// How a log file that a crash cut off looks. LevelDB leaves the last, unfinished record out and says nothing; this says it.
// Source: LevelDB, doc/log_format.md: blocks of 32 KiB; records of checksum (4 bytes), length (2), type (1) and data.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const WHOLE = 1;
const LAST = 4;

/** Bytes at the end of the newest log file in `folder` that are no whole record: 0 when it ends as it should, or is not there. */
export async function tornTailBytes(folder: string): Promise<number> {
  const files = await readdir(folder).catch(() => []);
  const newest = files
    .filter((name) => /^\d+\.log$/.test(name))
    .sort()
    .at(-1);
  if (newest === undefined) return 0;
  const bytes = await readFile(join(folder, newest)).catch(() => Buffer.alloc(0));
  return bytes.length - wholeBytes(bytes);
}

/** Where the last whole record ends. */
function wholeBytes(bytes: Buffer): number {
  let whole = 0;
  let offset = 0;
  let isInside = false;
  while (offset < bytes.length) {
    const left = BLOCK_BYTES - (offset % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      // The end of a block that has no room for a header is filled with zeros.
      if (!isInside) whole = Math.min(offset + left, bytes.length);
      offset += left;
      continue;
    }
    if (offset + HEADER_BYTES > bytes.length) break;
    const end = offset + HEADER_BYTES + bytes.readUInt16LE(offset + 4);
    const type = bytes[offset + 6] ?? 0;
    if (type < WHOLE || type > LAST || end > bytes.length) break;
    isInside = type !== WHOLE && type !== LAST;
    if (!isInside) whole = end;
    offset = end;
  }
  return whole;
}
