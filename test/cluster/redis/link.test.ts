// Nodes of a Redis Cluster as they answer one link, one by one.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { BrokerAddresses } from '../../../src/cluster/redis/broker-addresses.js';
import { RedisLink } from '../../../src/cluster/redis/link.js';
import { loadRedisPackage } from '../../../src/cluster/redis/package.js';

const KEY = 'offhook:phones:{proof}:facts:epoch';
const LONG_MS = 20_000;

type Answer = string | number | null | readonly Answer[];

/** What it begins with `-` is an error. */
function encoded(answer: Answer): string {
  if (answer === null) return '$-1\r\n';
  if (typeof answer === 'number') return `:${answer}\r\n`;
  if (typeof answer !== 'string') return `*${answer.length}\r\n${answer.map(encoded).join('')}`;
  return answer.startsWith('-') ? `${answer}\r\n` : `$${answer.length}\r\n${answer}\r\n`;
}

class FakeNode implements AsyncDisposable {
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      // One command a message, as long as one is asked at a time.
      const args = [...bytes.toString('latin1').matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(
        ([, arg = '']) => arg,
      );
      this.asked.push(args.join(' '));
      if (this.isMute) return;
      socket.write(encoded(args[0] === 'HELLO' ? this.#hello : this.answer(args)));
    });
  });
  readonly #sockets = new Set<Socket>();
  readonly #hello: readonly string[];
  readonly asked: string[] = [];
  /** It says nothing at all. */
  isMute = false;
  /** What it says to anything but HELLO. */
  answer: (args: readonly string[]) => Answer = () => null;

  constructor(mode: 'cluster' | 'standalone') {
    this.#hello = ['server', 'redis', 'version', '6.2.0', 'mode', mode];
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Has the keys, and knows these. */
  serve(...nodes: FakeNode[]): void {
    const slots = [[0, 16_383, ...nodes.map(({ port }) => ['127.0.0.1', port, 'an-id'])]];
    this.answer = ([command]) => (command === 'CLUSTER' ? slots : 'here');
  }

  /** Says that this one has the keys. */
  moveTo({ port }: FakeNode): void {
    this.answer = () => `-MOVED 1 127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

describe('RedisLink', () => {
  const links: RedisLink[] = [];
  const nodes: FakeNode[] = [];
  afterEach(async () => {
    for (const link of links.splice(0)) link.close();
    for (const node of nodes.splice(0)) await node[Symbol.asyncDispose]();
  });

  async function fakes(...modes: ('cluster' | 'standalone')[]): Promise<[FakeNode, FakeNode]> {
    nodes.push(...(await Promise.all(modes.map((mode) => new FakeNode(mode).listen()))));
    return nodes as unknown as [FakeNode, FakeNode];
  }

  async function linkTo(url: string): Promise<RedisLink> {
    const redis = await loadRedisPackage();
    const addresses = new BrokerAddresses(url);
    const link = new RedisLink({ redis, addresses, key: KEY, clock: systemClock, silenceMs: LONG_MS });
    links.push(link);
    return link;
  }

  const ask = async (link: RedisLink) => String(await link.run(['PING'], LONG_MS));

  it('asks a single Redis what it is, and nothing else', async () => {
    const [single] = await fakes('standalone');
    const link = await linkTo(single.url);
    await link.open(LONG_MS);
    expect(single.asked).toEqual(['HELLO']);
  });

  it('follows a node of a Redis Cluster to the one that has the keys, as the same user', async () => {
    const [one, two] = await fakes('cluster', 'cluster');
    one.moveTo(two);
    two.serve(two, one);
    const authenticated = (node: FakeNode) => {
      const { answer } = node;
      node.answer = (args) => (args[0] === 'AUTH' ? 'OK' : answer(args));
    };
    for (const node of [one, two]) authenticated(node);
    const link = await linkTo(one.url.replace('redis://', 'redis://offhook:p%40ss@'));
    await link.open(LONG_MS);
    await expect(ask(link)).resolves.toBe('here');
    const asAny = ['AUTH offhook p@ss', 'HELLO', `GET ${KEY}`];
    expect([one.asked, two.asked]).toEqual([asAny, [...asAny, 'CLUSTER SLOTS', 'PING']]);
  });

  it('fails where two nodes name each other', async () => {
    const [one, two] = await fakes('cluster', 'cluster');
    one.moveTo(two);
    two.moveTo(one);
    const link = await linkTo(one.url);
    await expect(link.open(LONG_MS)).rejects.toMatchObject({
      code: 'CLUSTER_FAILED',
      message: 'The broker is a Redis Cluster, and no node of it serves the keys of this cluster now.',
    });
    expect(link.isUp).toBe(false);
  });

  it.each(['-MOVED 1 127.0.0.1:1', '-CLUSTERDOWN The cluster is down'])(
    'leaves a node that does not have the keys any more for the next one: %s',
    async (refusal) => {
      const [one, two] = await fakes('cluster', 'cluster');
      one.serve(one, two);
      two.serve(two, one);
      const link = await linkTo(one.url);
      await link.open(LONG_MS);
      one.answer = () => refusal;
      await expect(ask(link)).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
      expect(link.isUp).toBe(false);
      await link.open(LONG_MS);
      await expect(ask(link)).resolves.toBe('here');
      expect(two.asked).toContain('PING');
    },
  );

  it.each(['-ASK 1 127.0.0.1:1', '-TRYAGAIN Multiple keys request during rehashing of slot'])(
    'stays at a node whose keys are about to move: %s',
    async (refusal) => {
      const [one] = await fakes('cluster');
      one.serve(one);
      const link = await linkTo(one.url);
      await link.open(LONG_MS);
      one.answer = () => refusal;
      await expect(ask(link)).rejects.toMatchObject({
        code: 'CLUSTER_FAILED',
        message: 'The broker does not answer.',
      });
      one.serve(one);
      await expect(ask(link)).resolves.toBe('here');
      expect(one.asked.filter((each) => each === 'HELLO')).toHaveLength(1);
    },
  );

  it('leaves time for the others where the first one says nothing', async () => {
    const [one, two] = await fakes('cluster', 'cluster');
    one.serve(one, two);
    two.serve(two, one);
    const link = await linkTo(one.url);
    await link.open(LONG_MS);
    link.close();
    one.isMute = true;
    await link.open(3000);
    await expect(ask(link)).resolves.toBe('here');
    expect(two.asked).toContain('PING');
  });

  it('says that a Redis Cluster has no databases', async () => {
    const [one] = await fakes('cluster');
    one.answer = ([command]) =>
      command === 'SELECT' ? '-ERR SELECT is not allowed in cluster mode' : 'here';
    const link = await linkTo(`${one.url}/1`);
    await expect(link.open(LONG_MS)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: /has no databases: leave the path out of cluster.url/,
    });
  });

  it('says what a node has refused, where another one is not there at all', async () => {
    const [one, two] = await fakes('cluster', 'cluster');
    one.serve(one, two);
    const link = await linkTo(one.url);
    await link.open(LONG_MS);
    link.close();
    await two[Symbol.asyncDispose]();
    nodes.splice(1, 1);
    one.answer = () => '-CLUSTERDOWN Hash slot not served';
    for (let times = 0; times < 2; times += 1)
      await expect(link.open(LONG_MS)).rejects.toMatchObject({
        cause: { message: 'CLUSTERDOWN Hash slot not served' },
      });
  });
});
