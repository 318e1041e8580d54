// Your own code in the place of the language model: a function here, or a server that is asked over HTTP or a WebSocket.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type OnMessage, type ServeOptions } from 'offhook';
import { type WebSocket, WebSocketServer } from 'ws';

/** In this process. */
export const answer: OnMessage = ({ text, history }) => `${history.length} texts came before: ${text}`;

/** As a server: POST for `onMessage: 'http://…'`, a WebSocket for `onMessage: 'ws://…'`. */
export function createAnswers() {
  const server = createServer(async (request, response) => {
    const { text } = (await json(request)) as { text: string };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ text: `By HTTP: ${text}` }));
  });
  new WebSocketServer({ server }).on('connection', (socket: WebSocket) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type !== 'message') return;
      socket.send(JSON.stringify({ type: 'delta', id: message.id, text: 'By WebSocket: ' }));
      socket.send(JSON.stringify({ type: 'delta', id: message.id, text: message.text }));
      socket.send(JSON.stringify({ type: 'done', id: message.id }));
    });
  });
  return server;
}

export async function start(options: Partial<ServeOptions> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({ firstMessage: 'Say something.' });
  const { url } = await phone.serve({ agent, onMessage: process.env.ANSWERS_URL || answer, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
