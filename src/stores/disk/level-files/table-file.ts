// Reads a table of LevelDB, each block by its own checksum. Source: LevelDB, doc/table_format.md, table/block_builder.cc.
import { ByteReader } from './byte-reader.js';
import { addCrc32c, EMPTY_CRC32C, isIntact, maskCrc32c } from './crc32c.js';
import { type Entry, toEntry } from './entry.js';
import { unpackSnappy } from './snappy.js';

const FOOTER_BYTES = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
/** Behind a block: how it is packed, and the checksum of both. */
const TRAILER_BYTES = 5;
const SNAPPY = 1;

export interface TableFile {
  readonly isDamaged: boolean;
  /** Those of the blocks that are as they were written. */
  entries(): Entry[];
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

/** Looks at the checksums; what the blocks say is read when it is asked for. */
export function readTableFile(bytes: Buffer): TableFile {
  const index = readIndex(bytes);
  // Without its index a table is read from the start, block by block, up to one that is damaged.
  const blocks = (index ?? findBlocks(bytes)).filter((block) => isWhole(bytes, block));
  return {
    isDamaged: blocks.length !== index?.length,
    entries: () => blocks.flatMap((block) => entriesOf(bytes, block)),
  };
}

function entriesOf(bytes: Buffer, block: Handle): Entry[] {
  try {
    return readBlock(bytes, block).map(([key, value]) => toEntry(key, value));
  } catch {
    return [];
  }
}

/** Where the blocks of data are. Undefined when the end of the table is damaged. */
function readIndex(bytes: Buffer): Handle[] | undefined {
  const footer = bytes.length - FOOTER_BYTES;
  if (footer < 0 || !bytes.subarray(-MAGIC.length).equals(MAGIC)) return undefined;
  try {
    const reader = new ByteReader(bytes, footer);
    toHandle(reader);
    return readBlock(bytes, toHandle(reader)).map(([, value]) => toHandle(new ByteReader(value)));
  } catch {
    return undefined;
  }
}

function toHandle(reader: ByteReader): Handle {
  return { offset: reader.varint(), size: reader.varint() };
}

function isWhole(bytes: Buffer, { offset, size }: Handle): boolean {
  const end = offset + size;
  return end + TRAILER_BYTES <= bytes.length && isIntact(bytes, end + 1, { start: offset, end: end + 1 });
}

/** Keys and values. @throws RangeError for a block that is not as it was written. */
function readBlock(bytes: Buffer, { offset, size }: Handle): [Buffer, Buffer][] {
  const end = offset + size;
  if (!isWhole(bytes, { offset, size })) throw new RangeError('A block is damaged.');
  const content = bytes.subarray(offset, end);
  const block = bytes[end] === SNAPPY ? unpackSnappy(content) : content;
  // At the end stand the places where keys are whole, and how many there are.
  const restarts = block.readUInt32LE(block.length - 4);
  const reader = new ByteReader(block.subarray(0, block.length - 4 * (restarts + 1)));
  const entries: [Buffer, Buffer][] = [];
  let key: Buffer = Buffer.alloc(0);
  while (reader.left > 0) {
    const [shared, rest, length] = [reader.varint(), reader.varint(), reader.varint()];
    key = Buffer.concat([key.subarray(0, shared), reader.take(rest)]);
    entries.push([key, reader.take(length)]);
  }
  return entries;
}

/** Finds the blocks of data by their checksums. */
function findBlocks(bytes: Buffer): Handle[] {
  const blocks: Handle[] = [];
  let offset = 0;
  let crc = EMPTY_CRC32C;
  for (let end = 0; end + TRAILER_BYTES <= bytes.length; end += 1) {
    crc = addCrc32c(crc, bytes, { start: end, end: end + 1 });
    if ((bytes[end] ?? 0) > SNAPPY || bytes.readUInt32LE(end + 1) !== maskCrc32c(crc)) continue;
    const block = { offset, size: end - offset };
    if (!isIndex(bytes, block, blocks[0])) blocks.push(block);
    offset = end + TRAILER_BYTES;
    end = offset - 1;
    crc = EMPTY_CRC32C;
  }
  return blocks;
}

/** The index names the first block first. */
function isIndex(bytes: Buffer, block: Handle, first: Handle | undefined): boolean {
  try {
    const [entry] = readBlock(bytes, block);
    if (first === undefined || entry === undefined) return false;
    const { offset, size } = toHandle(new ByteReader(entry[1]));
    return offset === first.offset && size === first.size;
  } catch {
    return false;
  }
}
