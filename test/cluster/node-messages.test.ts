import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { CarrierError, NotFoundError } from '../../src/base/errors.js';
import {
  type AnswerNode,
  NODE_PATH,
  NODE_PROOF_HEADER,
  type NodeDelivery,
} from '../../src/cluster/coordinator.js';
import { NodeMessages } from '../../src/cluster/node-messages.js';
import { ClusterSeal } from '../../src/cluster/seal.js';
import { FakeClock } from '../support/fake-clock.js';

const SECRET = 'a secret of thirty-two bytes, or more';
const MESSAGE = { type: 'hang-up', callId: 'call-1', body: 'please' };
const echo: AnswerNode = async ({ type, callId, body }, from) => [from, type, callId, body].join(' ');

interface Came {
  readonly proof: string;
  readonly bytes: Buffer;
}

/** As it came, and how often its body was read. */
function delivered({ proof, bytes }: Came): NodeDelivery & { readonly reads: number[] } {
  const reads: number[] = [];
  return {
    proof,
    reads,
    async read(maxBytes) {
      reads.push(maxBytes);
      return bytes;
    },
  };
}

/** What a node says before a body of so many bytes. */
function provenHead(number: number, { length = 10, to = 'b' } = {}): string {
  const head = { from: 'a', to, number, type: 'hang-up', callId: null, length };
  const text = Buffer.from(JSON.stringify(head)).toString('base64url');
  return `${text}.${new ClusterSeal(SECRET).proofOf(text)}`;
}

describe('NodeMessages', () => {
  const opened: { close(): void }[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });

  function messagesOf(nodeId: string, { secret = SECRET, clock = systemClock } = {}): NodeMessages {
    const messages = new NodeMessages({ nodeId, seal: new ClusterSeal(secret), clock });
    opened.push(messages);
    return messages;
  }

  /** A node at an address of its own, and what has come there. */
  async function listen(
    node: NodeMessages,
    answer: AnswerNode = echo,
    cut: (request: IncomingMessage) => 'before' | 'behind' | undefined = () => undefined,
  ): Promise<{ address: string; came: Came[]; http: Server }> {
    const came: Came[] = [];
    const http = createServer((request, response) => {
      const isCut = cut(request);
      if (isCut === 'before') {
        request.socket.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const proof = String(request.headers[NODE_PROOF_HEADER]);
        came.push({ proof, bytes });
        if (request.url !== NODE_PATH) response.writeHead(404).end();
        else
          void node.receive({ proof, read: async () => bytes }, answer).then(({ status, body }) => {
            if (isCut === 'behind') request.socket.destroy();
            else response.writeHead(status).end(body);
          });
      });
    });
    opened.push({
      close() {
        http.close();
        http.closeAllConnections();
      },
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return { address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, came, http };
  }

  it('brings a message to another node, and its answer back', async () => {
    const { address } = await listen(messagesOf('b'));
    const sent = messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    await expect(sent).resolves.toBe('a hang-up call-1 please');
  });

  it('goes over one connection with those before it', async () => {
    const { address, http } = await listen(messagesOf('b'));
    let connections = 0;
    http.on('connection', () => {
      connections += 1;
    });
    const node = messagesOf('a');
    for (let count = 0; count < 3; count += 1) {
      await node.send({ nodeId: 'b', address }, MESSAGE, 5000);
      // The connection is free one turn of the loop behind the answer.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toBe(1);
  });

  it.each([
    ['before it was taken, is sent once more', 'before', 'a hang-up call-1 please'],
    ['behind that, is taken once', 'behind', 'CLUSTER_FAILED'],
  ] as const)('on a connection that the other node ends %s', async (_, moment, expected) => {
    let [taken, connections] = [0, 0];
    const count: AnswerNode = async (...asked) => {
      taken += 1;
      return echo(...asked);
    };
    const used = new WeakSet<object>();
    const { address, http } = await listen(messagesOf('b'), count, ({ socket }) => {
      const isKept = used.has(socket);
      used.add(socket);
      return isKept ? moment : undefined;
    });
    http.on('connection', () => {
      connections += 1;
    });
    const node = messagesOf('a');
    const send = () =>
      node.send({ nodeId: 'b', address }, MESSAGE, 5000).catch(({ code }: { code: string }) => code);
    expect(await send()).toBe('a hang-up call-1 please');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send()).toBe(expected);
    expect([taken, connections]).toEqual([2, 2]);
  });

  it('is taken late, however much has gone to other nodes meanwhile', async () => {
    const [a, b, c] = [messagesOf('a'), messagesOf('b'), messagesOf('c')];
    // What comes to b waits here.
    const held = await listen(messagesOf('elsewhere'));
    const other = await listen(c);
    const sendTo = async (nodeId: string, address: string) =>
      a.send({ nodeId, address }, MESSAGE, 5000).catch(() => undefined);
    await sendTo('b', held.address);
    for (let count = 0; count < 1100; count += 100)
      await Promise.all(Array.from({ length: 100 }, () => sendTo('c', other.address)));
    await sendTo('b', held.address);
    const [early, late] = held.came.map(delivered);
    expect((await b.receive(late!, echo)).status).toBe(200);
    expect((await b.receive(early!, echo)).status).toBe(200);
    expect((await b.receive(early!, echo)).status).toBe(409);
  });

  it('brings many at once without a warning of Node', async () => {
    const { address } = await listen(messagesOf('b'));
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const node = messagesOf('a');
    await Promise.all(Array.from({ length: 12 }, () => node.send({ nodeId: 'b', address }, MESSAGE, 5000)));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('shows nobody on the way what is in it', async () => {
    const { address, came } = await listen(messagesOf('b'));
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    expect(came).toHaveLength(1);
    expect(came[0]?.bytes.includes('please')).toBe(false);
  });

  it('throws what the other node throws, and nothing else of it', async () => {
    const failing = await listen(messagesOf('b'), async () => {
      throw new NotFoundError('No such call.');
    });
    const refused = await listen(messagesOf('d'), async () => {
      throw new CarrierError('Refused.', { status: 422, retryable: false });
    });
    const broken = await listen(messagesOf('c'), async () => {
      throw new Error('a password');
    });
    const node = messagesOf('a');
    await expect(node.send({ nodeId: 'b', address: failing.address }, MESSAGE, 5000)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'No such call.',
    });
    await expect(node.send({ nodeId: 'c', address: broken.address }, MESSAGE, 5000)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'The other node failed.',
    });
    await expect(node.send({ nodeId: 'd', address: refused.address }, MESSAGE, 5000)).rejects.toMatchObject({
      name: 'CarrierError',
      status: 422,
      retryable: false,
    });
  });

  it('takes a message once, and reads it once, however often it comes', async () => {
    const receiver = messagesOf('b');
    const { address, came } = await listen(receiver);
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const again = delivered(came[0] as Came);
    await expect(receiver.receive(again, echo)).resolves.toMatchObject({ status: 409 });
    expect(again.reads).toEqual([]);
  });

  it('takes none that is for another node, or for this one before it was started again', async () => {
    const { address, came } = await listen(messagesOf('b'));
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const late = delivered(came[0] as Came);
    await expect(messagesOf('b-restarted').receive(late, echo)).resolves.toMatchObject({ status: 421 });
    expect(late.reads).toEqual([]);
    const sent = messagesOf('a').send({ nodeId: 'c', address }, MESSAGE, 5000);
    await expect(sent).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
  });

  it('takes none of who has another secret', async () => {
    const { address } = await listen(messagesOf('b'));
    const stranger = messagesOf('a', { secret: 'another secret of thirty-two bytes' });
    const sent = stranger.send({ nodeId: 'b', address }, MESSAGE, 5000);
    await expect(sent).rejects.toMatchObject({ message: expect.stringContaining('status 403') });
  });

  it('takes none whose head was changed, and reads none of it', async () => {
    const receiver = messagesOf('b');
    const { address, came } = await listen(receiver);
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const { proof, bytes } = came[0] as Came;
    const [text = '', mac = ''] = proof.split('.');
    const head = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as object;
    for (const change of [
      { number: 2 },
      { from: 'c' },
      { type: 'transfer' },
      { callId: 'call-2' },
      { length: 1e9 },
    ]) {
      const changed = Buffer.from(JSON.stringify({ ...head, ...change })).toString('base64url');
      const delivery = delivered({ proof: `${changed}.${mac}`, bytes });
      const { status } = await receiver.receive(delivery, echo);
      expect([status, delivery.reads], JSON.stringify(change)).toEqual([403, []]);
    }
  });

  it('takes no body that belongs to another head', async () => {
    const receiver = messagesOf('b');
    const { address, came } = await listen(messagesOf('b'));
    const node = messagesOf('a');
    for (const callId of ['call-1', 'call-2'])
      await node.send({ nodeId: 'b', address }, { ...MESSAGE, callId }, 5000);
    const [one, two] = came as [Came, Came];
    const mixed = delivered({ proof: one.proof, bytes: two.bytes });
    await expect(receiver.receive(mixed, echo)).resolves.toMatchObject({ status: 400 });
  });

  it.each([
    ['nothing', ''],
    ['a proof of nothing', '.'],
    ['a head without a proof', Buffer.from('{}').toString('base64url')],
    ['a head with a wrong proof', `${Buffer.from('{}').toString('base64url')}.AAAA`],
    ['what is no head', 'ÿ.ÿ'],
  ])('refuses %s without reading on', async (_, proof) => {
    const delivery = delivered({ proof, bytes: Buffer.alloc(0) });
    await expect(messagesOf('b').receive(delivery, echo)).resolves.toMatchObject({ status: 403 });
    expect(delivery.reads).toEqual([]);
  });

  it('reads no more than the head says', async () => {
    const delivery = delivered({ proof: provenHead(1, { length: 1234 }), bytes: Buffer.alloc(0) });
    await expect(messagesOf('b').receive(delivery, echo)).resolves.toMatchObject({ status: 400 });
    expect(delivery.reads).toEqual([1234]);
    const long = delivered({ proof: provenHead(2, { length: 1e9 }), bytes: Buffer.alloc(0) });
    await expect(messagesOf('b').receive(long, echo)).resolves.toMatchObject({ status: 413 });
    expect(long.reads).toEqual([]);
  });

  it('reads so much at a time, short messages beside it, and waits for no body for ever', async () => {
    const clock = new FakeClock();
    const receiver = messagesOf('b', { clock });
    let number = 0;
    const begin = (length: number) => {
      number += 1;
      const proof = provenHead(number, { length });
      return receiver.receive({ proof, read: () => new Promise(() => {}) }, echo);
    };
    const half = Array.from({ length: 4 }, () => begin(16 * 1024 * 1024));
    await expect(begin(16 * 1024 * 1024)).resolves.toMatchObject({ status: 503 });
    const short = begin(300);
    clock.advance(5000);
    for (const { status } of await Promise.all([...half, short])) expect(status).toBe(400);
    expect(clock.pending).toBe(0);
    const next = delivered({ proof: provenHead(100, { length: 16 * 1024 * 1024 }), bytes: Buffer.alloc(0) });
    await receiver.receive(next, echo);
    expect(next.reads).toHaveLength(1);
  });

  it('takes no answer to another message for its own', async () => {
    const receiver = messagesOf('b');
    const answers: Buffer[] = [];
    const http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const proof = String(request.headers[NODE_PROOF_HEADER]);
        void receiver.receive({ proof, read: async () => Buffer.concat(chunks) }, echo).then(({ body }) => {
          answers.push(body);
          // The first one again and again.
          response.end(answers[0]);
        });
      });
    });
    opened.push({ close: () => void http.close() });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const to = { nodeId: 'b', address: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
    const node = messagesOf('a');
    await expect(node.send(to, MESSAGE, 5000)).resolves.toBe('a hang-up call-1 please');
    await expect(node.send(to, MESSAGE, 5000)).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    http.closeAllConnections();
  });

  it('gives a node up that does not answer in time, and not before', async () => {
    const clock = new FakeClock();
    let came: () => void = () => {};
    const arrived = new Promise<void>((resolve) => {
      came = resolve;
    });
    const { address } = await listen(messagesOf('b'), () => {
      came();
      return new Promise(() => {});
    });
    const sent = messagesOf('a', { clock }).send({ nodeId: 'b', address }, MESSAGE, 300);
    const failed = expect(sent).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    await arrived;
    clock.advance(299);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    await failed;
    expect(clock.pending).toBe(0);
  });

  it('works whatever the clocks of the two say', async () => {
    const late = new FakeClock();
    late.setWall(-3_600_000);
    const { address } = await listen(messagesOf('b', { clock: late }));
    const sent = messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    await expect(sent).resolves.toBe('a hang-up call-1 please');
  });
});
