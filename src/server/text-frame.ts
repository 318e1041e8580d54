// Text messages of a WebSocket as the wire has them. Written as one string of Latin-1, a message needs no buffer on its way to the kernel
// and no second write for its head, which is half of what `send` costs.

/** Longer messages have another head. */
const LONGEST = 0xff_ff;
const LONGEST_SHORT = 125;
/** FIN and the opcode of text. Source: RFC 6455, 5.2. */
const FINAL_TEXT = '\x81';
const LENGTH_FOLLOWS = '\x7e';

/** By the length of the message: most are as long as one before. */
const heads: (string | undefined)[] = [];

/** The frame that a server sends, one character for a byte. Undefined for text that is not all ASCII, or too long for the usual head. */
export function toTextFrame(text: string): string | undefined {
  const { length } = text;
  if (length > LONGEST || Buffer.byteLength(text) !== length) return undefined;
  heads[length] ??= headOf(length);
  return `${heads[length]}${text}`;
}

function headOf(length: number): string {
  const size =
    length <= LONGEST_SHORT
      ? String.fromCharCode(length)
      : LENGTH_FOLLOWS + String.fromCharCode(length >> 8, length & 0xff);
  return FINAL_TEXT + size;
}
