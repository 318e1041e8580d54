// Nodes of a Redis Cluster as they answer one link, one by one.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { BrokerAddresses } from '../../../src/cluster/redis/broker-addresses.js';
import { isRefusal, RedisLink, type RedisLinkParts } from '../../../src/cluster/redis/link.js';
import { loadRedisPackage } from '../../../src/cluster/redis/package.js';
import { FakeClock } from '../../support/fake-clock.js';

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
      if (this.refuses) return this.refuses(socket);
      if (this.isMute) return;
      socket.write(encoded(args[0] === 'HELLO' ? this.#hello : this.answer(args)));
    });
  });
  readonly #sockets = new Set<Socket>();
  readonly #hello: readonly string[];
  readonly asked: string[] = [];
  /** It says nothing at all. */
  isMute = false;
  /** What it does with a connection on which it is asked something, instead of an answer. */
  refuses: ((socket: Socket) => void) | undefined;
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

  /** Answers what it was asked before, and was mute to. */
  say(answer: Answer): void {
    for (const socket of this.#sockets) socket.write(encoded(answer));
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

  async function linkTo(url: string, parts: Partial<RedisLinkParts> = {}): Promise<RedisLink> {
    const redis = await loadRedisPackage();
    const addresses = new BrokerAddresses(url);
    const link = new RedisLink({
      redis,
      addresses,
      key: KEY,
      clock: systemClock,
      silenceMs: LONG_MS,
      ...parts,
    });
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

  it('names the node of a Redis Cluster that refuses the password', async () => {
    const [one, two] = await fakes('cluster', 'cluster');
    one.moveTo(two);
    const { answer } = one;
    one.answer = (args) => (args[0] === 'AUTH' ? 'OK' : answer(args));
    two.answer = () => '-WRONGPASS invalid username-password pair';
    const link = await linkTo(one.url.replace('redis://', 'redis://offhook:a-password@'));
    const error = await link.open(LONG_MS).catch((thrown: Error) => thrown);
    expect(isRefusal(error)).toBe(true);
    expect((error as Error).message).toBe(
      `The node 127.0.0.1:${two.port} of the Redis Cluster in cluster.url refuses the user or password in its URL, or one of the commands.`,
    );
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

  it.each(['-ERR SELECT is not allowed in cluster mode', '-ERR DB index is out of range'])(
    'says that there is no such database, by %s',
    async (refusal) => {
      const [one] = await fakes('cluster');
      one.answer = ([command]) => (command === 'SELECT' ? refusal : 'here');
      const link = await linkTo(`${one.url}/1`);
      await expect(link.open(LONG_MS)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: /names a database that it does not have.*leave the path out/,
      });
    },
  );

  describe('whose URL may have the wrong scheme', () => {
    const HANDSHAKE =
      'The broker did not complete a TLS handshake. If its port speaks no TLS, use redis:// in cluster.url.';
    const ENDED =
      'The broker ended the connection instead of answering. If its port speaks TLS, use rediss:// in cluster.url.';
    const NONE = 'The broker does not answer.';
    const SILENT =
      'The broker does not answer, or its port speaks no TLS. Check host, port, firewall and the scheme in cluster.url.';
    const OTHER = 'The broker answers in another protocol: check host and port in cluster.url.';
    // What Redis 7.0 does: a plain one waits for the rest of a line, one with TLS resets the connection.
    it.each([
      ['rediss:', 'waits', () => {}, SILENT],
      ['rediss:', 'resets', (socket: Socket) => void socket.resetAndDestroy(), HANDSHAKE],
      [
        'rediss:',
        'answers with what is no TLS',
        (socket: Socket) => void socket.end('-ERR no\r\n'),
        HANDSHAKE,
      ],
      ['redis:', 'resets', (socket: Socket) => void socket.resetAndDestroy(), ENDED],
      ['redis:', 'closes', (socket: Socket) => void socket.end(), ENDED],
      [
        'redis:',
        'sends an alert of TLS',
        (socket: Socket) => void socket.end('\x15\x03\x01\x00\x02\x02\x46'),
        ENDED,
      ],
      [
        'redis:',
        'speaks HTTP',
        (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
        OTHER,
      ],
      ['redis:', 'waits', () => {}, NONE],
    ])('says so of %s at a port that %s', async (scheme, what, refuses, message) => {
      const [single] = await fakes('standalone');
      single.refuses = refuses;
      for (const user of ['', 'offhook:a-password@']) {
        const link = await linkTo(single.url.replace('redis://', `${scheme}//${user}`));
        const opened = link.open(what === 'waits' ? 300 : LONG_MS);
        await expect(opened).rejects.toMatchObject({ code: 'CLUSTER_FAILED', message });
      }
    });

    it('says nothing of it where nobody listens', async () => {
      const [single] = await fakes('standalone');
      const { port } = single;
      await single[Symbol.asyncDispose]();
      nodes.splice(0);
      for (const scheme of ['redis', 'rediss']) {
        const link = await linkTo(`${scheme}://127.0.0.1:${port}`);
        await expect(link.open(LONG_MS)).rejects.toMatchObject({ message: NONE });
      }
    });

    it('says nothing of it once the broker has been reached', async () => {
      const [single] = await fakes('standalone');
      const link = await linkTo(single.url);
      await link.open(LONG_MS);
      link.close();
      single.refuses = (socket) => void socket.resetAndDestroy();
      for (let times = 0; times < 2; times += 1)
        await expect(link.open(LONG_MS)).rejects.toMatchObject({ message: NONE });
    });
  });

  it('says that the broker has no password, where the URL has one', async () => {
    const [single] = await fakes('standalone');
    single.answer = () =>
      '-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?';
    const link = await linkTo(single.url.replace('redis://', 'redis://:a-password@'));
    for (let times = 0; times < 2; times += 1) {
      const error = await link.open(LONG_MS).catch((thrown: Error) => thrown);
      expect(isRefusal(error)).toBe(true);
      expect((error as Error).message).toBe(
        'The broker has no password, and cluster.url has one: leave it out, or set one at the broker (requirepass).',
      );
    }
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

  it('gives each question its own time, and a timer to them all', async () => {
    const [single] = await fakes('standalone');
    single.answer = () => 'here';
    const clock = new FakeClock();
    const link = await linkTo(single.url, { clock });
    await link.open(LONG_MS);
    await ask(link);
    expect(clock.pending).toBe(0);
    single.isMute = true;
    const order: string[] = [];
    const given = [300, 100, 200].map((ms) =>
      link.run(['PING'], ms).catch((error: Error) => order.push(`${ms}: ${error.message}`)),
    );
    expect(clock.pending).toBe(1);
    for (const asked of [1, 2, 3]) {
      await clock.advanceAsync(99);
      expect(order).toHaveLength(asked - 1);
      await clock.advanceAsync(1);
      expect(order).toHaveLength(asked);
      expect(clock.pending).toBe(1);
    }
    await Promise.all(given);
    expect(order).toEqual([100, 200, 300].map((ms) => `${ms}: The broker does not answer.`));
    expect(link.waitsMs).toBe(300);
    expect(link.isUp).toBe(true);
  });

  it('tells how long an answer took, also where nobody waited for it any more', async () => {
    const [single] = await fakes('standalone');
    single.answer = () => 'here';
    const took: number[] = [];
    const link = await linkTo(single.url, { answered: (tookMs) => took.push(tookMs) });
    await link.open(LONG_MS);
    single.isMute = true;
    await expect(link.run(['PING'], 50)).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    expect(took).toEqual([]);
    single.say('here');
    await vi.waitFor(() => expect(took).toEqual([expect.any(Number)]));
    expect(took[0]).toBeGreaterThanOrEqual(50);
    expect(link.waitsMs).toBe(0);
  });

  it('tells it of a refusal, too', async () => {
    const [single] = await fakes('standalone');
    const took: number[] = [];
    const link = await linkTo(single.url, { answered: (tookMs) => took.push(tookMs) });
    await link.open(LONG_MS);
    single.answer = () => '-LOADING Redis is loading the dataset in memory';
    await expect(link.run(['PING'], LONG_MS)).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    expect(took).toEqual([expect.any(Number)]);
  });

  it('ends a connection on which nothing is answered for its time', async () => {
    const [single] = await fakes('standalone');
    single.answer = () => 'here';
    const clock = new FakeClock();
    const link = await linkTo(single.url, { silenceMs: 150, clock });
    await link.open(LONG_MS);
    await ask(link);
    single.isMute = true;
    const asked = expect(ask(link)).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    await clock.advanceAsync(149);
    expect(link.isUp).toBe(true);
    await clock.advanceAsync(1);
    await asked;
    expect(link.isUp).toBe(false);
  });
});
