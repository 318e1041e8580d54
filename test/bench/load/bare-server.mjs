// What the servers on bare `ws` have in common: carrier A's streams on the port that is their argument.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { boundLifetime } from './lifetime.mjs';

/** `cork` has what is written until `uncork` leave at once. @typedef {import('ws').WebSocket & { readonly _socket: import('node:net').Socket }} StreamSocket */

/** @param {(socket: StreamSocket) => void} serve */
export function openBareServer(serve) {
  const http = createServer((_, response) => void response.end());
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    serve(/** @type {StreamSocket} */ (socket));
  });
  boundLifetime();
  http.listen(Number(process.argv[2]), '127.0.0.1');
}

/** The quickest way to the text of a message that is all ASCII. @param {import('ws').RawData} data */
export const textOf = (data) => /** @type {Buffer} */ (data).toString('latin1');

/** The beginning of each frame and each mark of a stream. @param {string} streamSid */
export function headsOf(streamSid) {
  const of = (/** @type {string} */ event) => `{"event":"${event}","streamSid":${JSON.stringify(streamSid)},`;
  return { media: `${of('media')}"media":{"payload":"`, mark: `${of('mark')}"mark":{"name":"` };
}

/** The text between a key and the next quotation mark; undefined without the key. @param {string} text @param {string} key */
export function sliceBehind(text, key) {
  const begin = text.indexOf(key);
  return begin === -1 ? undefined : text.slice(begin + key.length, text.indexOf('"', begin + key.length));
}
