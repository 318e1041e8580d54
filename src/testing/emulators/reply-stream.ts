// Writes a streamed reply chunk by chunk on the emulator's clock, and breaks it where a script wants it broken.
import type { ServerResponse } from 'node:http';
import { TroubledWire } from './troubled-wire.js';
import type { VendorServer } from './vendor-server.js';

/** When the pieces of a reply come, and what goes wrong between them. */
export interface ReplyPace {
  /** Time to the first token, and between two. @default 0 */
  readonly firstTokenMs?: number;
  readonly tokenMs?: number;
  /** Writes every chunk in pieces of so many bytes, also within a character. */
  readonly pieceBytes?: number;
  /** After so many chunks: an error in the stream, a cut connection, or nothing more at all. */
  readonly errorAfter?: number;
  readonly cutAfter?: number;
  readonly hangAfter?: number;
}

export interface ChunkedReply extends ReplyPace {
  readonly chunks: readonly Buffer[];
  /** Sent in the place of the chunk after `errorAfter`. */
  readonly failure: Buffer;
}

export function streamChunks(response: ServerResponse, reply: ChunkedReply, owner: VendorServer): void {
  const { clock } = owner;
  const { chunks } = reply;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const isOver = () => response.destroyed || owner.isFrozen(response);
  const wire = new TroubledWire({
    clock,
    troubles: () => owner.troubles,
    write: (chunk) => {
      if (!isOver()) writeInPieces(response, Buffer.from(chunk), reply.pieceBytes);
    },
  });
  let count = 0;
  const step = () => {
    if (isOver() || reply.hangAfter === count) return;
    if (reply.cutAfter === count) {
      response.destroy();
      return;
    }
    const failed = reply.errorAfter === count;
    const chunk = failed ? reply.failure : chunks[count];
    count += 1;
    if (chunk !== undefined) wire.send(chunk);
    if (failed || count >= chunks.length) wire.after(() => !isOver() && response.end());
    else later(reply.tokenMs ?? 0);
  };
  const later = (delayMs: number) => {
    if (delayMs > 0) clock.after(delayMs, step);
    else setImmediate(step);
  };
  later(reply.firstTokenMs ?? 0);
}

function writeInPieces(response: ServerResponse, chunk: Buffer, pieceBytes = chunk.length): void {
  for (let at = 0; at < chunk.length; at += pieceBytes) response.write(chunk.subarray(at, at + pieceBytes));
}
