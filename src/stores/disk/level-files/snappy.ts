// Unpacks a block of a table. Source: Snappy, format_description.txt.
import { ByteReader } from './byte-reader.js';

const LITERAL = 0;
const NEAR_COPY = 1;

/** @throws RangeError for bytes that are not packed so. */
export function unpackSnappy(packed: Buffer): Buffer {
  const reader = new ByteReader(packed);
  const length = reader.varint();
  // Two bytes make 64 at the most.
  if (length > packed.length * 32) throw new RangeError('The length is too large.');
  const bytes = Buffer.alloc(length);
  let end = 0;
  while (reader.left > 0) {
    const tag = reader.byte();
    const kind = tag & 3;
    if (kind === LITERAL) {
      const literal = reader.take(literalLength(tag, reader));
      if (end + literal.length > length) throw new RangeError('There is more than the length says.');
      end += literal.copy(bytes, end);
      continue;
    }
    const size = kind === NEAR_COPY ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const offset =
      kind === NEAR_COPY
        ? ((tag >> 5) << 8) | reader.byte()
        : reader.take(kind === 2 ? 2 : 4).readUIntLE(0, kind === 2 ? 2 : 4);
    if (offset === 0 || offset > end || end + size > length) throw new RangeError('A copy is of nothing.');
    // What is copied may reach into the copy.
    for (const stop = end + size; end < stop; end += 1) bytes[end] = bytes[end - offset] ?? 0;
  }
  if (end !== length) throw new RangeError('There is less than the length says.');
  return bytes;
}

function literalLength(tag: number, reader: ByteReader): number {
  const short = tag >> 2;
  if (short < 60) return short + 1;
  const bytes = short - 59;
  return reader.take(bytes).readUIntLE(0, bytes) + 1;
}
