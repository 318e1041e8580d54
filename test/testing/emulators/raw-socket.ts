// A client with no manners, to see what an emulator does about it.
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { soon } from '../../support/soon.js';

export interface RawSocket {
  readonly messages: Record<string, unknown>[];
  /** Binary messages. */
  readonly audio: Buffer[];
  /** `<code> <reason>` once it is closed, or the status and body of a refused handshake. */
  readonly end: () => string | undefined;
  send(message: string | Uint8Array): void;
  close(): void;
}

/** It is cut off when the test is over. */
export async function openRaw(url: string, headers: Record<string, string>): Promise<RawSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  onTestFinished(() => socket.terminate());
  const messages: Record<string, unknown>[] = [];
  const audio: Buffer[] = [];
  let end: string | undefined;
  let opened = false;
  socket.on('message', (data, isBinary) => {
    if (isBinary) audio.push(data as Buffer);
    else messages.push(JSON.parse(String(data)));
  });
  socket.on('unexpected-response', (_, response) => {
    const reason = response.headers['dg-error'] ?? '';
    end = `${response.statusCode} ${String(reason)}`.trim();
    response.resume();
  });
  socket.on('error', () => {});
  socket.on('open', () => {
    opened = true;
  });
  socket.on('close', (code, reason) => {
    end ??= `${code} ${String(reason)}`.trim();
  });
  await soon(() => {
    if (!opened && end === undefined) throw new Error('no connection');
  });
  return {
    messages,
    audio,
    end: () => end,
    send: (message) => socket.send(message),
    close: () => socket.terminate(),
  };
}
