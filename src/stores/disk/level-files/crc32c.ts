// The checksum of LevelDB's files: CRC-32C, masked where it stands beside what it covers.
// Source: RFC 3720, appendix B.4 (polynomial 1EDC6F41, reflected 82F63B78); LevelDB, util/crc32c.h (mask).

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  return value;
});

/** Of nothing; `addCrc32c` goes on from here. */
export const EMPTY_CRC32C = 0;

/** The checksum of `bytes` from `start` up to but not `end`, behind what `crc` covers. */
export function addCrc32c(crc: number, bytes: Uint8Array, { start, end }: { start: number; end: number }) {
  let value = ~crc;
  for (let index = start; index < end; index += 1) {
    value = (value >>> 8) ^ (TABLE[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
  }
  return ~value >>> 0;
}

/** What stands in a file for a checksum. */
export function maskCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** True when the masked checksum at `at` is that of `range`. */
export function isIntact(bytes: Buffer, at: number, range: { start: number; end: number }): boolean {
  return bytes.readUInt32LE(at) === maskCrc32c(addCrc32c(EMPTY_CRC32C, bytes, range));
}
