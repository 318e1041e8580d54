// What a tape looks like: a header, and blocks of records. A tape is what the line carried during a call, as it came; it is encoded after
// the call. What was written of it stays readable, wherever a process dies.
import { crc32 } from 'node:zlib';
import { newSeal, type RecordingKey, SEAL_HEAD_BYTES, sealOf, TAG_BYTES } from './seal.js';

const MAGIC = 'OHTAPE1\n';
const SEALED = 1;
/** Before a block stands its length, behind it the sum or the tag. */
export const BLOCK_START = 4;
export const BLOCK_END = 4;

/** Magic, flags, salt, check of the key. */
export const TAPE_HEADER_BYTES = 16 + SEAL_HEAD_BYTES;
/** What a block holds at most. */
export const MAX_BLOCK_BYTES = 64 * 1024;
/** Type, length and time stand before the bytes of each record. */
export const RECORD_HEADER_BYTES = 8;
/** Audio of more is written in parts. */
export const MAX_RECORD_BYTES = 4096;

/** Times on a tape are whole eighths of a millisecond since the conversation began: a sample of 8 kHz. */
export const TICKS_PER_MS = 8;
/** Longer than any call. */
export const MAX_TICKS = 25 * 3_600_000 * TICKS_PER_MS;

/** Kinds of records. */
export const RECORD = {
  /** JSON: `TapeHead`. The first of each tape. */
  head: 1,
  /** JSON: `LineFormats`. Another stream is up. */
  line: 2,
  /** Audio of the caller that came at the time. */
  caller: 3,
  /** Audio of the agent that sounds from the time on, as far as the playback clock knows. */
  agent: 4,
  /** What the agent would have said after the time was taken back. */
  cut: 5,
  /** 4 bytes: the caller heard what was to sound at the time so many ticks later. */
  lag: 6,
  /** From the time on nothing is recorded. */
  pause: 7,
  /** It is again. */
  resume: 8,
  /** Nothing more comes of this tape: the call is over, or another process has it. */
  end: 9,
} as const;

export interface TapeHead {
  readonly callId: string;
  /** Epoch milliseconds at which times are 0. */
  readonly beganAt: number;
}

export interface TapeRecord {
  readonly type: number;
  readonly ticks: number;
  /** Valid until the next record is read. */
  readonly bytes: Uint8Array;
}

/** The blocks of one tape as they are written. */
export interface TapeBlocks {
  readonly header: Uint8Array;
  /**
   * The bytes of a block. Its content lies in `page` from `BLOCK_START` up to `end`, and `BLOCK_END` bytes of room are behind it. The result may
   * be a part of the page.
   */
  close(page: Buffer, end: number, index: number): Uint8Array;
}

const aboutTape = (callId: string) => `tape ${callId}`;

/** Blocks without encryption have a checksum: the disk may lie. */
export function createBlocks(key: RecordingKey | undefined, callId: string): TapeBlocks {
  const header = Buffer.alloc(TAPE_HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  if (key === undefined)
    return {
      header,
      close(page, end) {
        page.writeUInt32LE(end - BLOCK_START);
        page.writeUInt32LE(crc32(page.subarray(BLOCK_START, end)), end);
        return page.subarray(0, end + BLOCK_END);
      },
    };
  const { seal, head } = newSeal(key, aboutTape(callId));
  header[8] = SEALED;
  header.set(head, 16);
  return {
    header,
    close(page, end, index) {
      page.writeUInt32LE(end - BLOCK_START);
      return Buffer.concat([
        page.subarray(0, BLOCK_START),
        seal.seal(page.subarray(BLOCK_START, end), index),
      ]);
    },
  };
}

/** Why a tape cannot be read. */
export type TapeTrouble = 'damaged' | 'key-missing' | 'key-wrong';

export class TapeError extends Error {
  readonly trouble: TapeTrouble;

  constructor(trouble: TapeTrouble) {
    super(trouble);
    this.trouble = trouble;
  }
}

/** Whether the tape with this header, or with what there is of it, is encrypted. */
export function isSealedTape(header: Uint8Array): boolean {
  return header[8] === SEALED && Buffer.from(header).toString('latin1', 0, 8) === MAGIC;
}

/** How the blocks of a tape with this header are opened. `size`: bytes behind a length. @throws TapeError */
export function readHeader(
  header: Uint8Array,
  callId: string,
  key: RecordingKey | undefined,
): {
  readonly size: (length: number) => number;
  open(bytes: Uint8Array, index: number): Uint8Array | undefined;
} {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  if (bytes.length < TAPE_HEADER_BYTES || bytes.toString('latin1', 0, 8) !== MAGIC)
    throw new TapeError('damaged');
  if (bytes[8] !== SEALED)
    return {
      size: (length) => length + BLOCK_END,
      open(closed) {
        const view = Buffer.from(closed.buffer, closed.byteOffset, closed.byteLength);
        const block = view.subarray(0, view.length - BLOCK_END);
        return crc32(block) === view.readUInt32LE(block.length) ? block : undefined;
      },
    };
  if (key === undefined) throw new TapeError('key-missing');
  const seal = sealOf(key, bytes.subarray(16, TAPE_HEADER_BYTES), aboutTape(callId));
  if (seal === undefined) throw new TapeError('key-wrong');
  return { size: (length) => length + TAG_BYTES, open: (closed, index) => seal.open(closed, index) };
}
