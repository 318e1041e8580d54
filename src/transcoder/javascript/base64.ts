// Base64 to bytes, as strict as the Rust one. Source: RFC 4648, section 4; the padding may be missing.

// Kept between calls, the bytes for as long as texts have one length: making an array costs more than filling it.
let room = Buffer.alloc(1024);
let bytes = room.subarray(0, 0);

/**
 * The bytes that `text` stands for, good until the next call, or undefined when it is not base64. Node decodes any text
 * somehow; base64 is what its bytes, encoded again, give back.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length > room.length) {
    room = Buffer.alloc(2 * text.length);
    bytes = room.subarray(0, 0);
  }
  const length = room.write(text, 'base64');
  const again = room.toString('base64', 0, length);
  if (again !== text && again.slice(0, Math.ceil((length * 4) / 3)) !== text) return undefined;
  if (bytes.length !== length) bytes = room.subarray(0, length);
  return bytes;
}
