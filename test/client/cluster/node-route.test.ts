import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { createNodeRoute } from '../../../src/client/cluster/node-route.js';
import { NODE_PATH, NODE_PROOF_HEADER } from '../../../src/cluster/coordinator.js';
import { NodeMessages } from '../../../src/cluster/node-messages.js';
import { ClusterSeal } from '../../../src/cluster/seal.js';
import { createHttp } from '../../../src/server/http.js';
import { answerRoutes } from '../../../src/server/routes.js';
import { CLUSTER_SECRET } from '../../support/cluster-node.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const LONG_BYTES = 16 * 1024 * 1024;
/** What a connection may have read of a body that nobody reads: a buffer or two. */
const FEW_BYTES = 512 * 1024;

let http: Server;
let nodes: NodeMessages[];
/** Connections, as the server has them. */
let sockets: Socket[];
/** Messages that were answered. */
let answered: number;

beforeEach(async () => {
  sockets = [];
  answered = 0;
  const node = messagesOf('b');
  nodes = [node];
  const receive = node.receive.bind(node);
  const route = createNodeRoute(() => ({
    receive: (delivery) =>
      receive(delivery, async ({ body }) => {
        answered += 1;
        return String(body.length);
      }),
  }));
  http = createHttp(
    answerRoutes({
      routes: new Map([[`POST ${NODE_PATH}`, route]]),
      others: (_, response) => void response.writeHead(404).end(),
      isDraining: () => false,
      logger: new RecordedLogger(),
    }),
  );
  http.on('connection', (socket) => sockets.push(socket));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
});

afterEach(() => {
  for (const node of nodes) node.close();
  http.closeAllConnections();
  http.close();
});

function messagesOf(nodeId: string): NodeMessages {
  return new NodeMessages({ nodeId, seal: new ClusterSeal(CLUSTER_SECRET), clock: systemClock });
}

const port = () => (http.address() as AddressInfo).port;

/** Writes as much as is taken until it is hung up on. Resolves with what it was told. */
async function flood(chunk: string, ...headers: string[]): Promise<string> {
  const client = connect(port(), '127.0.0.1');
  client.on('error', () => {});
  let text = '';
  client.on('data', (data) => (text += data.toString()));
  const isOver = new Promise((resolve) => client.once('close', resolve));
  client.write([`POST ${NODE_PATH} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'));
  for (let sent = 0; chunk !== '' && sent < LONG_BYTES && !client.destroyed; sent += chunk.length)
    if (!client.write(chunk))
      await Promise.race([new Promise((resolve) => client.once('drain', resolve)), isOver]);
  await isOver;
  return text;
}

const CHUNK = 'a'.repeat(0x10000);

describe('the path of messages between nodes', () => {
  it.each([
    ['of 16 MB', CHUNK, `Content-Length: ${LONG_BYTES}`],
    ['in chunks without end', `10000\r\n${CHUNK}\r\n`, 'Transfer-Encoding: chunked'],
  ])('reads no body of a stranger, %s', async (_, chunk, header) => {
    const wrong = `${NODE_PROOF_HEADER}: e30.AAAA`;
    for (const headers of [[header], [header, wrong]])
      expect(await flood(chunk, ...headers)).toMatch(/^HTTP\/1\.1 403 /);
    expect(sockets).toHaveLength(2);
    for (const { bytesRead } of sockets) expect(bytesRead).toBeLessThan(FEW_BYTES);
  });

  it('reads no body of a stranger who waits to be told to send it', async () => {
    const client = connect(port(), '127.0.0.1');
    client.write(
      `POST ${NODE_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: ${LONG_BYTES}\r\nExpect: 100-continue\r\n\r\n`,
    );
    let text = '';
    for await (const data of client) text += String(data);
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('hangs up on a stranger whose body is short, too', async () => {
    const text = await flood('', 'Content-Length: 10');
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(text).toContain('Connection: close');
  });

  it('reads no body of a proof that it has seen before', async () => {
    const seen: string[] = [];
    http.on('request', ({ headers }) => seen.push(String(headers[NODE_PROOF_HEADER])));
    const node = messagesOf('a');
    nodes.push(node);
    const to = { nodeId: 'b', address: `http://127.0.0.1:${port()}` };
    expect(await node.send(to, { type: 'x', callId: null, body: CHUNK }, 10_000)).toBe(String(CHUNK.length));
    const again = await flood(CHUNK, `Content-Length: ${LONG_BYTES}`, `${NODE_PROOF_HEADER}: ${seen[0]}`);
    expect(again).toMatch(/^HTTP\/1\.1 409 /);
    expect(sockets.at(-1)?.bytesRead).toBeLessThan(FEW_BYTES);
    expect(answered).toBe(1);
  });

  it('takes a message of 15 MB of a node', async () => {
    const node = messagesOf('a');
    nodes.push(node);
    const to = { nodeId: 'b', address: `http://127.0.0.1:${port()}` };
    const body = 'a'.repeat(15 * 1024 * 1024);
    expect(await node.send(to, { type: 'x', callId: 'call-1', body }, 10_000)).toBe(String(body.length));
  });
});
