import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { NotFoundError } from '../../src/base/errors.js';
import type { AnswerNode } from '../../src/cluster/coordinator.js';
import { NODE_PATH, NodeMessages } from '../../src/cluster/node-messages.js';
import { ClusterSeal } from '../../src/cluster/seal.js';
import { FakeClock } from '../support/fake-clock.js';

const SECRET = 'a secret of thirty-two bytes, or more';
const MESSAGE = { type: 'hang-up', callId: 'call-1', body: 'please' };
const echo: AnswerNode = async ({ type, callId, body }, from) => [from, type, callId, body].join(' ');

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
  ): Promise<{ address: string; came: Buffer[]; http: Server }> {
    const came: Buffer[] = [];
    const http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const bytes = Buffer.concat(chunks);
        came.push(bytes);
        if (request.url !== NODE_PATH) response.writeHead(404).end();
        else
          void node.receive(bytes, answer).then(({ status, body }) => response.writeHead(status).end(body));
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

  it('shows nobody on the way what is in it', async () => {
    const { address, came } = await listen(messagesOf('b'));
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    expect(came).toHaveLength(1);
    expect(came[0]?.includes('please')).toBe(false);
  });

  it('throws what the other node throws, and nothing else of it', async () => {
    const failing = await listen(messagesOf('b'), async () => {
      throw new NotFoundError('No such call.');
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
  });

  it('takes a message once, however often it comes', async () => {
    const receiver = messagesOf('b');
    const { address, came } = await listen(receiver);
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const [bytes = Buffer.alloc(0)] = came;
    await expect(receiver.receive(bytes, echo)).resolves.toMatchObject({ status: 409 });
  });

  it('takes none that is for another node, or for this one before it was started again', async () => {
    const { address, came } = await listen(messagesOf('b'));
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const [bytes = Buffer.alloc(0)] = came;
    await expect(messagesOf('b-restarted').receive(bytes, echo)).resolves.toMatchObject({ status: 421 });
    const sent = messagesOf('a').send({ nodeId: 'c', address }, MESSAGE, 5000);
    await expect(sent).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
  });

  it('takes none of who has another secret', async () => {
    const { address } = await listen(messagesOf('b'));
    const stranger = messagesOf('a', { secret: 'another secret of thirty-two bytes' });
    const sent = stranger.send({ nodeId: 'b', address }, MESSAGE, 5000);
    await expect(sent).rejects.toMatchObject({ message: expect.stringContaining('status 403') });
  });

  it('takes none whose head was changed', async () => {
    const receiver = messagesOf('b');
    const { address, came } = await listen(receiver);
    await messagesOf('a').send({ nodeId: 'b', address }, MESSAGE, 5000);
    const text = came[0]?.toString('latin1') ?? '';
    for (const [was, is] of [
      ['"number":1', '"number":2'],
      ['"from":"a"', '"from":"c"'],
      ['hang-up', 'transf'],
      ['call-1', 'call-2'],
    ]) {
      const changed = Buffer.from(text.replace(was ?? '', is ?? ''), 'latin1');
      const { status } = await receiver.receive(changed, echo);
      expect([400, 403], `${was}`).toContain(status);
    }
  });

  it.each([
    ['nothing', ''],
    ['a length without a head', '\u00ff\u00ff'],
    ['a head that is no JSON', '\u0000\u0003abc'],
    ['a head without its fields', '\u0000\u0002{}'],
  ])('refuses %s', async (_, text) => {
    const answer = messagesOf('b').receive(Buffer.from(text, 'latin1'), echo);
    await expect(answer).resolves.toMatchObject({ status: 400 });
  });

  it('takes no answer to another message for its own', async () => {
    const receiver = messagesOf('b');
    const answers: Buffer[] = [];
    const http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void receiver.receive(Buffer.concat(chunks), echo).then(({ body }) => {
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
