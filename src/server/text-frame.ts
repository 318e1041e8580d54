// Text messages of a WebSocket as the wire has them. Written as one string of Latin-1, a message needs no buffer on its way to the kernel
// and no second write for its head, which is half of what `send` costs.

/** Longer messages have another head. */
const LONGEST = 0xff_ff;
const LONGEST_SHORT = 125;
/** FIN and the opcode of text. Source: RFC 6455, 5.2. */
const FINAL_TEXT = '\x81';
const LENGTH_FOLLOWS = '\x7e';

/** What stands in front of a message. `extraBytes`: more than it has characters, were it written as UTF-8. */
interface Head {
  readonly text: string;
  readonly extraBytes: number;
}

/** By the length of the message: most are as long as one before. */
const heads: (Head | undefined)[] = [];

/** The frame that a server sends, one character for a byte. Undefined for text that is not all ASCII, or too long for the usual head. */
export function toTextFrame(text: string): string | undefined {
  const { length } = text;
  if (length > LONGEST) return undefined;
  const head = heads[length] ?? headOf(length);
  heads[length] = head;
  // Asked of the frame, not of the text: joined strings are copied where they are looked at, and the frame is what is written.
  const frame = `${head.text}${text}`;
  return Buffer.byteLength(frame) === frame.length + head.extraBytes ? frame : undefined;
}

function headOf(length: number): Head {
  const size =
    length <= LONGEST_SHORT
      ? String.fromCharCode(length)
      : LENGTH_FOLLOWS + String.fromCharCode(length >> 8, length & 0xff);
  const text = FINAL_TEXT + size;
  return { text, extraBytes: Buffer.byteLength(text) - text.length };
}
