// A TCP connection that sends what is written to it a few bytes at a time.
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';

/** How what is written is cut up. */
export interface Segments {
  /** Undefined: not at all. */
  readonly segmentBytes?: number | undefined;
  /** On `clock`. @default what the kernel needs to keep them apart */
  readonly segmentEveryMs?: number | undefined;
}

/** Between two segments, in real time: what the kernel would join otherwise. */
const GAP_MS = 1;

type Done = (error?: Error | null) => void;

/**
 * From now on everything that is written to `socket` leaves in segments of at most `segmentBytes`, and as it is where that is
 * undefined. The order stays, and the socket ends when all has left.
 */
export function segmentWrites(socket: Socket, segments: () => Segments, clock: Clock): void {
  socket.setNoDelay(true);
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);
  const later = (task: () => void) => {
    const { segmentEveryMs } = segments();
    if (segmentEveryMs === undefined) setTimeout(task, GAP_MS);
    else clock.after(segmentEveryMs, task);
  };
  const writeSegments = (bytes: Buffer, size: number, done: Done) => {
    const next = (from: number) => {
      const isLast = from + size >= bytes.length;
      write(bytes.subarray(from, from + size), 'buffer' as BufferEncoding, (error) => {
        if (error != null || isLast) done(error);
        else later(() => next(from + size));
      });
    };
    next(0);
  };
  socket._write = (chunk, encoding, done) => {
    const size = segments().segmentBytes;
    if (size === undefined) write(chunk, encoding, done);
    else writeSegments(toBuffer({ chunk, encoding }), size, done);
  };
  socket._writev = (chunks, done) => {
    const size = segments().segmentBytes;
    if (size === undefined && writeAll !== undefined) writeAll(chunks, done);
    else writeSegments(Buffer.concat(chunks.map(toBuffer)), size ?? Number.POSITIVE_INFINITY, done);
  };
}

function toBuffer({ chunk, encoding }: { chunk: unknown; encoding: BufferEncoding }): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as string, encoding);
}
