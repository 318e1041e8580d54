// Offers of another protocol than WebSocket. Some HTTP clients offer HTTP/2 (`h2c`) with every plain request, and mean the
// request all the same.
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * True for a request that can be answered as if nothing had been offered: no WebSocket, not on a stream's path, and without
 * a body, which Node does not read here.
 */
export function isDeclinable(request: IncomingMessage): boolean {
  const { upgrade = '', 'content-length': length = '0' } = request.headers;
  const hasBody = length !== '0' || request.headers['transfer-encoding'] !== undefined;
  return !/\bwebsocket\b/i.test(upgrade) && !hasBody && request.url?.startsWith('/ws/') === false;
}

/** Answers without the offered protocol, and ends the connection. Source: RFC 9110, section 7.8: a server may ignore the offer. */
export function declineUpgrade(http: Server, request: IncomingMessage, socket: Duplex): void {
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return;
  }
  socket.on('error', () => {});
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node has let go of the connection: what it does for a response is left to us.
  socket.on('drain', () => response.emit('drain'));
  // Not `end`, which would wait for a peer that may never close its own half.
  response.once('finish', () => socket.destroySoon());
  http.emit('request', request, response);
}
