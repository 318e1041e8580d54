// Text messages of a WebSocket past its library, which takes several streams, views and ticks for each. A message that is one whole frame, as
// audio is, is read where it lies. Pings and binary frames go to the library as they are; and with anything else (fragments, a close, what is
// broken or no UTF-8) the connection is the library's from there on, which answers for the protocol. Source of the layout: RFC 6455, 5.2.
import { randomFillSync } from 'node:crypto';
import type { Duplex } from 'node:stream';

/** The first byte of whole messages: FIN and the opcode. */
const TEXT = 0x81;
const BINARY = 0x82;
const PING = 0x89;
const PONG = 0x8a;
/** Of the second byte. */
const MASKED = 0x80;
const LENGTH = 0x7f;
/** In the place of a length: the length follows in 2 bytes. The longest that needs none is also the longest of a ping. */
const IN_TWO_BYTES = 126;
const MASK_BYTES = 4;
/** A longer message has another head, and is the library's. */
const LONGEST = 0xff_ff;
/** What is no UTF-8 is decoded to it. */
const REPLACEMENT = '\ufffd';

export interface TextFrameOptions {
  /** Frames of a client are masked, those of a server are not. */
  readonly isMasked: boolean;
  /** Takes a message. Must not throw. Those that are not taken here are the library's to tell. */
  readonly take: (text: string) => void;
}

/** Takes text messages of the socket that a library reads. To be called once it does, in the same tick. */
export function takeTextFrames(network: Duplex, options: TextFrameOptions): void {
  const [library, ...others] = network.listeners('data') as ((chunk: Buffer) => void)[];
  // Whoever else reads it would read half.
  if (library === undefined || others.length > 0) return;
  const reader = new TextFrameReader(options, {
    pass: (bytes) => library.call(network, bytes),
    // It takes its listener off where it reads no more, so that the rest goes nowhere: it needs it back.
    leave: (bytes) => {
      network.off('data', read);
      network.on('data', library);
      library.call(network, bytes);
    },
  });
  const { read } = reader;
  network.off('data', library);
  network.on('data', read);
  // The library reads what is left then, and without its listener: before that, and not beside it.
  network.prependOnceListener('close', () => network.off('data', read));
}

/** What is not taken. */
interface Library {
  /** A whole frame. */
  pass(bytes: Buffer): void;
  /** All that comes from here on. The reader is not asked again. */
  leave(bytes: Buffer): void;
}

class TextFrameReader {
  readonly #options: TextFrameOptions;
  readonly #library: Library;
  /** The beginning of a frame, and how long it has to be before it is worth looking at. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = 0;
  #isLeft = false;

  constructor(options: TextFrameOptions, library: Library) {
    this.#options = options;
    this.#library = library;
  }

  /** What has come, as a listener of its own. Is unmasked where it lies. */
  readonly read = (chunk: Buffer): void => {
    const bytes = this.#held.length === 0 ? chunk : this.#joined(chunk);
    if (bytes === undefined) return;
    for (let at = 0; at < bytes.length; ) {
      const length = this.#take(bytes, at);
      if (this.#isLeft) {
        this.#library.leave(at === 0 ? bytes : bytes.subarray(at));
        return;
      }
      if (length === 0) {
        this.#held = [bytes.subarray(at)];
        this.#heldBytes = bytes.length - at;
        return;
      }
      at += length;
    }
  };

  /** Undefined while more has to come. */
  #joined(chunk: Buffer): Buffer | undefined {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return undefined;
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    return bytes;
  }

  /** Takes the frame that begins there. Returns its length; 0 while more of it has to come, and for one that is left to the library. */
  #take(bytes: Buffer, at: number): number {
    const { isMasked, take } = this.#options;
    if (at + 2 > bytes.length) return this.#need(2);
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const short = second & LENGTH;
    const isControl = first === PING || first === PONG;
    const isKnown = first === TEXT || first === BINARY || isControl;
    if (!isKnown || (second & MASKED) !== (isMasked ? MASKED : 0) || short > IN_TWO_BYTES)
      return this.#leave();
    if (isControl && short === IN_TWO_BYTES) return this.#leave();
    const headBytes = 2 + (short === IN_TWO_BYTES ? 2 : 0) + (isMasked ? MASK_BYTES : 0);
    const from = at + headBytes;
    if (from > bytes.length) return this.#need(headBytes);
    const end = from + (short === IN_TWO_BYTES ? bytes.readUInt16BE(at + 2) : short);
    if (end > bytes.length) return this.#need(end - at);
    if (first !== TEXT) {
      this.#library.pass(bytes.subarray(at, end));
      return end - at;
    }
    if (isMasked) mask(bytes, from, end);
    const text = bytes.toString('utf8', from, end);
    if (text.includes(REPLACEMENT)) {
      if (isMasked) mask(bytes, from, end);
      return this.#leave();
    }
    take(text);
    return end - at;
  }

  #need(bytes: number): 0 {
    this.#neededBytes = bytes;
    return 0;
  }

  #leave(): 0 {
    this.#isLeft = true;
    return 0;
  }
}

/** Masks what is not, and the other way round. The mask lies in front of it. */
function mask(bytes: Buffer, from: number, end: number): void {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[from - 4], bytes[from - 3], bytes[from - 2], bytes[from - 1]];
  const whole = end - ((end - from) % MASK_BYTES);
  for (let at = from; at < whole; at += MASK_BYTES) {
    bytes[at] = (bytes[at] ?? 0) ^ a;
    bytes[at + 1] = (bytes[at + 1] ?? 0) ^ b;
    bytes[at + 2] = (bytes[at + 2] ?? 0) ^ c;
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ d;
  }
  for (let at = whole; at < end; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (bytes[at - whole + from - 4] ?? 0);
}

/** Masks of 2000 messages. They are to be foreseen by nobody. Source: RFC 6455, 5.3. */
const masks = Buffer.alloc(2000 * MASK_BYTES);
let nextMask = masks.length;

/** A text message as a client sends it, in one piece. Undefined for one that is too long for the usual head. */
export function toMaskedFrame(text: string): Buffer | undefined {
  const length = Buffer.byteLength(text);
  if (length > LONGEST) return undefined;
  const isShort = length < IN_TWO_BYTES;
  const from = 2 + (isShort ? 0 : 2) + MASK_BYTES;
  const frame = Buffer.allocUnsafe(from + length);
  frame[0] = TEXT;
  frame[1] = MASKED | (isShort ? length : IN_TWO_BYTES);
  if (!isShort) frame.writeUInt16BE(length, 2);
  if (nextMask === masks.length) {
    randomFillSync(masks);
    nextMask = 0;
  }
  for (let at = from - MASK_BYTES; at < from; at += 1, nextMask += 1) frame[at] = masks[nextMask] ?? 0;
  frame.write(text, from, length === text.length ? 'latin1' : 'utf8');
  mask(frame, from, frame.length);
  return frame;
}
