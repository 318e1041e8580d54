// What breaks at one moment, of a socket or of an answer that is being streamed: the connection itself, or what comes over it.
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/**
 * A number closes a socket with that code, and ends an answer where it is. `reset`: the connection is gone in this moment. `freeze`: it
 * neither reads nor answers any more, and is not closed either. `garbage`, `binary-garbage`: a message that nobody can read, behind which all
 * goes on. `oversized`: a message longer than any client takes. `{ send }`: a message of the test's own.
 */
export type SocketTrouble =
  | number
  | 'reset'
  | 'freeze'
  | 'garbage'
  | 'binary-garbage'
  | 'oversized'
  | { readonly send: object | string };

/** More than a socket's client takes (16 MiB), and more than a reader of events does (4 Mi characters). */
const OVERSIZED_MESSAGE = 17 * 1024 * 1024;
const OVERSIZED_EVENT = 5 * 1024 * 1024;

const GARBAGE = '{"type": not JSON at all \u0000\uFFFD';

/** What a socket is sent for a trouble that is a message; undefined for the others. */
export function toTroubleMessage(trouble: SocketTrouble): object | string | Buffer | undefined {
  if (typeof trouble === 'object') return trouble.send;
  if (trouble === 'garbage') return GARBAGE;
  if (trouble === 'binary-garbage') return randomBytes(333);
  return trouble === 'oversized' ? `"${'x'.repeat(OVERSIZED_MESSAGE)}"` : undefined;
}

/** The same trouble in the middle of an HTTP answer; `freeze` is the server's to do. */
export function troubleAnswer(response: ServerResponse, trouble: SocketTrouble): void {
  if (response.writableEnded) return;
  if (trouble === 'reset') response.socket?.resetAndDestroy();
  else if (typeof trouble === 'number') response.end();
  else if (trouble === 'binary-garbage') response.write(randomBytes(333));
  else if (trouble === 'oversized') response.write(`data: ${'x'.repeat(OVERSIZED_EVENT)}`);
  else if (trouble === 'garbage') response.write(`data: ${GARBAGE}\n\n`);
  else if (typeof trouble === 'object') {
    const { send } = trouble;
    response.write(typeof send === 'string' ? send : `data: ${JSON.stringify(send)}\n\n`);
  }
}
