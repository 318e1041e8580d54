// Reads the numbers and texts of LevelDB's files, one after the other. Source: LevelDB, util/coding.cc.

/** @throws RangeError where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Buffer;
  #offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  /** Seven bits a byte, the lowest first. */
  varint(): number {
    let [value, scale, byte] = [0, 1, 0];
    do {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 128);
    if (!Number.isSafeInteger(value)) throw new RangeError('A number is too large.');
    return value;
  }

  /** Bytes behind their length. */
  slice(): Buffer {
    return this.take(this.varint());
  }

  take(length: number): Buffer {
    if (length > this.left) throw new RangeError('The bytes end too early.');
    this.#offset += length;
    return this.#bytes.subarray(this.#offset - length, this.#offset);
  }
}
