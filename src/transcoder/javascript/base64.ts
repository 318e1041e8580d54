// Base64 to bytes, as strict as the Rust one. Source: RFC 4648, section 4; the padding may be missing.

/** What is no digit has a bit above six. */
const BAD = 0x80;
const DIGITS = new Uint8Array(128).fill(BAD);
for (const [value, digit] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  DIGITS[digit.charCodeAt(0)] = value;
const PADDING = 0x3d;

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? DIGITS[code]! : BAD;
}

/** The bytes that `text` stands for, or undefined when it is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let length = text.length;
  if (length % 4 === 0 && text.charCodeAt(length - 1) === PADDING)
    length -= text.charCodeAt(length - 2) === PADDING ? 2 : 1;
  const rest = length % 4;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let seen = 0;
  let to = 0;
  for (let at = 0; at < length - rest; at += 4) {
    const a = digitAt(text, at);
    const b = digitAt(text, at + 1);
    const c = digitAt(text, at + 2);
    const d = digitAt(text, at + 3);
    seen |= a | b | c | d;
    bytes[to++] = (a << 2) | (b >> 4);
    bytes[to++] = (b << 4) | (c >> 2);
    bytes[to++] = (c << 6) | d;
  }
  if (rest > 0) {
    const a = digitAt(text, length - rest);
    const b = rest > 1 ? digitAt(text, length - rest + 1) : BAD;
    const c = rest > 2 ? digitAt(text, length - 1) : 0;
    // Bits that no byte has must not be set.
    seen |= a | b | c | ((rest === 2 ? b & 15 : c & 3) === 0 ? 0 : BAD);
    bytes[to++] = (a << 2) | (b >> 4);
    if (rest > 2) bytes[to++] = (b << 4) | (c >> 2);
  }
  return (seen & BAD) === 0 ? bytes : undefined;
}
