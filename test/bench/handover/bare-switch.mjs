// The floor of a handover: a server that answers every call with a stream of silence and, when told so, asks the carrier for the next one. It
// keeps nothing. Arguments: carrier, port, address of the simulator.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { CREDENTIALS, PUBLIC_HOST } from '../../trials/numbers.mjs';

/** @typedef {'carrier-a' | 'carrier-b'} CarrierId */

const FRAME_MS = 20;
const LOOK_MS = 5;
const SILENCE = Buffer.alloc(160, 0xff).toString('base64');

/** @param {import('node:http').IncomingMessage} request */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

/** How each carrier is told of a stream: in the reply to the webhook and by a change of the call, or by commands. */
const DIALECTS = {
  'carrier-a': {
    /** @param {string} webhook */
    callOf: (webhook) => new URLSearchParams(webhook).get('CallSid') ?? undefined,
    markup: `<Response><Connect><Stream url="wss://${PUBLIC_HOST}/ws/bare"/></Connect></Response>`,
    begin: undefined,
    /** @param {string} id */
    renew: (id) => ({
      path: `/2010-04-01/Accounts/${CREDENTIALS.accountSid}/Calls/${id}.json`,
      type: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({ Twiml: DIALECTS['carrier-a'].markup }).toString(),
      authorization: `Basic ${Buffer.from(`${CREDENTIALS.accountSid}:${CREDENTIALS.authToken}`).toString('base64')}`,
    }),
  },
  'carrier-b': {
    /** @param {string} webhook */
    callOf: (webhook) => {
      const { event_type: type, payload } = JSON.parse(webhook).data;
      return type === 'call.initiated' ? payload.call_control_id : undefined;
    },
    markup: '',
    /** @param {string} id */
    begin: (id) => commandB(id, 'answer'),
    /** @param {string} id */
    renew: (id) => commandB(id, 'streaming_start'),
  },
};

/** @param {string} id @param {string} action */
function commandB(id, action) {
  return {
    path: `/v2/calls/${encodeURIComponent(id)}/actions/${action}`,
    type: 'application/json',
    body: JSON.stringify({
      stream_url: `wss://${PUBLIC_HOST}/ws/bare`,
      stream_track: 'inbound_track',
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: 'PCMU',
    }),
    authorization: `Bearer ${CREDENTIALS.apiKey}`,
  };
}

const [, , carrier, port, simulator] = process.argv;
const dialect = DIALECTS[/** @type {CarrierId} */ (carrier)];
/** Calls, by how many streams they have had. @type {Map<string, number>} */
const calls = new Map();

/** @param {ReturnType<typeof commandB>} command */
async function ask({ path, type, body, authorization }) {
  const headers = { authorization, 'content-type': type };
  const response = await fetch(`${simulator}${path}`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
}

const server = createServer(async (request, response) => {
  const id = dialect.callOf(await bodyOf(request));
  response.setHeader('content-type', 'text/xml');
  response.end(id === undefined ? '' : dialect.markup);
  if (id === undefined || calls.has(id)) return;
  calls.set(id, 0);
  if (dialect.begin !== undefined) await ask(dialect.begin(id));
});

new WebSocketServer({ server }).on('connection', (socket) => {
  /** @type {NodeJS.Timeout | undefined} */
  let pacing;
  socket.on('error', () => {});
  socket.on('close', () => clearInterval(pacing));
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.event !== 'start') return;
    const { callSid, call_control_id: callControlId } = message.start;
    const id = callSid ?? callControlId;
    calls.set(id, (calls.get(id) ?? 0) + 1);
    const { streamSid } = message;
    const frame = JSON.stringify({ event: 'media', streamSid, media: { payload: SILENCE } });
    socket.send(frame);
    pacing = setInterval(() => socket.send(frame), FRAME_MS);
  });
});

/** Asks for the next stream of every call, so many at a time. @param {number} atOnce */
async function renewAll(atOnce) {
  const waiting = [...calls.keys()];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const before = calls.get(id) ?? 0;
      await ask(dialect.renew(id));
      while ((calls.get(id) ?? 0) === before) await pause(LOOK_MS);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

process.on('disconnect', () => process.exit(0));
process.on('message', async (/** @type {{ atOnce: number }} */ { atOnce }) => {
  await renewAll(atOnce);
  process.send?.('renewed');
});
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
process.send?.('listening');
