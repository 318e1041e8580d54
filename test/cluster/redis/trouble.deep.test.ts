// A broker in trouble: no question waits longer than a webhook may, and everything is there again once the broker is.
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.js';
import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import { type CallOwner, type Coordinator, LEASE_MS } from '../../../src/cluster/coordinator.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { factOf, idsOf } from '../../../src/testing/conformance/coordinator.js';
import { answered, type ClusterNodeOptions, openClusterNode } from '../../support/cluster-node.js';
import { FakeClock } from '../../support/fake-clock.js';
import { freePort } from '../../support/free-port.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { RedisFailover } from '../../support/redis-failover.js';
import { describeOnRedis, RedisServer } from '../../support/redis-server.js';
import { openSlowProxy } from '../../support/slow-proxy.js';
import { soon } from '../../support/soon.js';

const AWAY = { code: 'CLUSTER_FAILED' };
const POOL = { name: '203.0.113.7', limit: 1 };
const LONG_MS = 60_000;
const PAGE = readFileSync(new URL('../../../docs/cluster.md', import.meta.url), 'utf8');
const DOCUMENTED_USER = /^user (\S+) on >password (.+)$/m;
const UNITS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 };

/** Keys as the page has them, and after how long each goes that nobody renews, in milliseconds: 0 where it says no time. */
function documentedKeys(): Map<string, number> {
  const rows = [...PAGE.matchAll(/^\| `(offhook:NAME:[^`]+)` \|.*\| (.+) \|$/gm)];
  return new Map(
    rows.map(([, key = '', goes = '']) => {
      const [, count = '0', unit = ''] = /^(\d+) (s|min|h)\b/.exec(goes) ?? [];
      return [key, Number(count) * (UNITS[unit] ?? 0)];
    }),
  );
}

function asDocumented(key: string): string {
  return key
    .replace(/^offhook:phones:\{[\w-]{16}\}:/, 'offhook:NAME:{PROOF}:')
    .replace(':call-1:', ':CALL:')
    .replace(/pool [\w-]{16}/, 'pool HASH');
}

describeOnRedis('RedisCoordinator', (program) => {
  let redis: RedisServer;
  let opened: Coordinator[] = [];
  /** Nodes that were told that the broker had lost what it had. */
  let emptied: string[] = [];
  /** What each node was told of its calls. */
  let outranked: [nodeId: string, callId: string, owner: CallOwner][] = [];

  beforeEach(async () => {
    redis = await RedisServer.start(program);
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(opened.map((node) => node.close()));
    opened = [];
    [outranked, emptied] = [[], []];
    await redis.kill();
  });

  async function open(nodeId: string, options: Partial<ClusterNodeOptions> = {}): Promise<Coordinator> {
    const node = await openClusterNode({ url: redis.url, name: 'phones', nodeId, ...options });
    opened.push(node);
    return node;
  }

  async function join(nodeId: string, options: Partial<ClusterNodeOptions> = {}): Promise<Coordinator> {
    const node = await open(nodeId, options);
    await node.join({
      answer: async () => 'here',
      outranked: (callId, owner) => void outranked.push([nodeId, callId, owner]),
      emptied: () => void emptied.push(nodeId),
    });
    return node;
  }

  async function logKey(): Promise<string> {
    const [key] = (await redis.ask('KEYS', '*:facts:log')) as [string];
    return key;
  }

  const isBack = (node: Coordinator) => soon(() => expect(node.isThere).toBe(true));
  const has = (node: Coordinator, callId: string, owner: CallOwner) =>
    soon(async () => expect(await node.ownerOf(callId)).toEqual(owner));

  describe.each([
    ['has lost everything', async () => void (await redis.ask('FLUSHALL'))],
    [
      'stood still for longer than leases last',
      async () => {
        redis.freeze();
        await pause(systemClock, LEASE_MS + 500);
        redis.thaw();
      },
    ],
  ])('a broker that %s', (_, trouble) => {
    it('is asked first by one of the nodes, for which the others are there until they could say so', async () => {
      const nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => join(nodeId)));
      const observer = await open('d');
      await observer.observe();
      const all = [...nodes, observer];
      const idsAtAll = () => all.map(idsOf);
      const expected = all.map(() => ['a', 'b', 'c']);
      await soon(() => expect(idsAtAll()).toEqual(expected));
      await trouble();
      // Each has asked by then.
      const until = systemClock.now() + 4000;
      while (systemClock.now() < until) {
        expect(idsAtAll()).toEqual(expected);
        await pause(systemClock, 20);
      }
    });

    it('has heard nothing of a node that is gone: it is there no more, soon', async () => {
      const node = await join('a');
      const gone = await join('b');
      await soon(() => expect(idsOf(node)).toEqual(['a', 'b']));
      await trouble();
      await gone.close();
      await soon(() => expect(idsOf(node)).toEqual(['a']));
    });
  });

  describe('a broker that stands still', () => {
    it('is waited for for 100 ms by one question, and by no other', async () => {
      const clock = new FakeClock();
      const node = await join('a', { clock });
      redis.freeze();
      const first = node.ownerOf('call');
      let isOver = false;
      const failed = expect(first.finally(() => (isOver = true))).rejects.toMatchObject(AWAY);
      await clock.advanceAsync(99);
      expect(isOver).toBe(false);
      await clock.advanceAsync(1);
      await failed;
      expect(node.isThere).toBe(false);
      // Each would wait for a clock that stands still.
      await expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
      await expect(node.claim('call', 1)).rejects.toMatchObject(AWAY);
      await expect(node.take(POOL, 'place', LONG_MS)).rejects.toMatchObject(AWAY);
    });

    it('holds up what no caller waits for until it is let go', async () => {
      const clock = new FakeClock();
      const node = await join('a', { clock });
      redis.freeze();
      const failed = Promise.all(
        [node.append([factOf(1)]), node.release('call', 0)].map((asked) =>
          expect(asked).rejects.toMatchObject(AWAY),
        ),
      );
      await clock.advanceAsync(2000);
      await failed;
      await expect(node.append([factOf(1)])).rejects.toMatchObject(AWAY);
    });

    it('gets no more of the time of a webhook than is left', async () => {
      const clock = new FakeClock();
      const node = await join('a', { clock });
      const by = clock.now() + 100;
      clock.advance(60);
      redis.freeze();
      const late = expect(node.ownerOf('call', { by })).rejects.toMatchObject(AWAY);
      await clock.advanceAsync(40);
      await late;
    });

    it('is not asked where no time is left', async () => {
      const clock = new FakeClock();
      const node = await join('a', { clock });
      await expect(node.ownerOf('call', { by: clock.now() })).rejects.toMatchObject(AWAY);
      expect(node.isThere).toBe(true);
    });

    it('lets nodes talk to each other all the same', async () => {
      const one = await join('a');
      await join('b');
      await soon(() => expect(one.nodes()).toHaveLength(2));
      redis.freeze();
      const message = { type: 'probe', callId: 'call', body: '' };
      await expect(one.send('b', message, LONG_MS)).resolves.toBe('here');
    });

    it('is told what was claimed meanwhile, once it goes on', async () => {
      const [one, two] = [await join('a'), await join('b')];
      redis.freeze();
      await expect(one.claim('call', 1)).rejects.toMatchObject(AWAY);
      redis.thaw();
      await isBack(two);
      await has(two, 'call', { nodeId: 'a', term: 1 });
    });

    it('holds up nobody who leaves', async () => {
      const node = await join('a');
      redis.freeze();
      await node.close();
    });
  });

  it('a node that says nothing for five seconds knows that the others take it for gone', async () => {
    const clock = new FakeClock();
    const joinedAt = clock.now();
    const node = await join('a', { clock });
    // As a process that stands still.
    clock.stall(6000);
    expect(node.leasedUntil).toBe(joinedAt + 5000);
  });

  it('a node that does not say goodbye is gone for the others after its lease, and is asked while it answers', async () => {
    const clock = new FakeClock();
    const silent = await join('a', { clock });
    const two = await join('b');
    expect(idsOf(two)).toEqual(['a', 'b']);
    await soon(() => expect(idsOf(two)).toEqual(['b']));
    expect(two.find('a')).toMatchObject({ nodeId: 'a', hasLeft: false });
    const ask = () => two.send('a', { type: 'here?', callId: null, body: '' }, LONG_MS);
    const silentIds = () => two.silent().map(({ nodeId }) => nodeId);
    await expect(ask()).resolves.toBe('here');
    expect(silentIds()).toEqual(['a']);
    const closing = silent.close();
    await clock.advanceAsync(1000);
    await closing;
    await expect(ask()).rejects.toMatchObject(AWAY);
    expect(silentIds()).toEqual(['a']);
    await soon(() => expect(silentIds()).toEqual([]));
  });

  it('a broker that died and came back empty is told everything again', async () => {
    const logger = new RecordedLogger();
    const [one, two] = [await join('a', { logger }), await join('b')];
    const heard: CallEvent[] = [];
    two.tail((fact) => heard.push(fact));
    await answered(one, () => one.claim('call', 3));
    await one.append([factOf(1)]);
    await soon(() => expect(heard).toHaveLength(1));
    await redis.kill();
    await soon(() => expect(one.isThere).toBe(false));
    await expect(two.ownerOf('call')).rejects.toMatchObject(AWAY);
    expect(idsOf(one)).toContain('a');
    await soon(() => expect(logger.sentences('warn')).toHaveLength(1));
    await redis.start();
    await Promise.all([isBack(one), isBack(two)]);
    await soon(() => expect([idsOf(one), idsOf(two)]).toEqual(Array(2).fill(['a', 'b'])));
    await has(two, 'call', { nodeId: 'a', term: 3 });
    await expect(one.append([factOf(2)])).resolves.toBe(false);
    await one.append([factOf(2)]);
    await soon(() => expect(heard.map(({ seq }) => seq)).toEqual([1, 2]));
    expect(logger.sentences('warn')).toEqual(['the broker of the cluster is away: calls go on']);
    expect(logger.sentences('info')).toEqual(['the broker of the cluster answers again']);
  });

  it('FLUSHALL loses nothing that the nodes know', async () => {
    const [one, two] = [await join('a'), await join('b')];
    const heard: CallEvent[] = [];
    two.tail((fact) => heard.push(fact));
    await answered(one, () => one.claim('call', 1));
    await redis.ask('FLUSHALL');
    await has(two, 'call', { nodeId: 'a', term: 1 });
    await soon(() => expect([idsOf(one), idsOf(two)]).toEqual(Array(2).fill(['a', 'b'])));
    await one.append([factOf(1)]);
    await soon(() => expect(heard).toEqual([factOf(1)]));
  });

  it('a log that was lost takes no fact before those that it had', async () => {
    const one = await join('a');
    await expect(one.append([factOf(1)])).resolves.toBe(true);
    await redis.ask('FLUSHALL');
    await expect(one.append([factOf(2)])).resolves.toBe(false);
    await expect(one.append([factOf(1), factOf(2)])).resolves.toBe(true);
    const heard: CallEvent[] = [];
    (await join('b')).tail((fact) => heard.push(fact));
    await soon(() => expect(heard).toEqual([factOf(1), factOf(2)]));
  });

  describe('a replica that has the place of a broker that died', () => {
    it('goes on where it has everything, and no node is troubled', async () => {
      await using broker = await RedisFailover.start(program);
      const [one, two] = await Promise.all(['a', 'b'].map((nodeId) => join(nodeId, { url: broker.url })));
      const heard: CallEvent[] = [];
      let missed = 0;
      two?.tail(
        (fact) => heard.push(fact),
        () => (missed += 1),
      );
      if (one !== undefined) await answered(one, () => one.claim('call', 1));
      await one?.append([factOf(1)]);
      await soon(() => expect(heard).toEqual([factOf(1)]));
      await broker.settled();
      await broker.failOver();
      await soon(() => expect([one?.isThere, two?.isThere]).toEqual([true, true]));
      await soon(async () => expect(await one?.append([factOf(2)])).toBe(true));
      await soon(() => expect(heard).toEqual([factOf(1), factOf(2)]));
      expect([emptied, missed]).toEqual([[], 1]);
    });

    it('is told again by each node what it lacks, and every node hears it', async () => {
      await using broker = await RedisFailover.start(program);
      const [one, two] = [await join('a', { url: broker.url }), await join('b', { url: broker.url })];
      const heard = new Map<string, CallEvent[]>([
        ['b', []],
        ['c', []],
      ]);
      two.tail((fact) => heard.get('b')?.push(fact));
      await one.append([factOf(1)]);
      await soon(() => expect(heard.get('b')).toHaveLength(1));
      await broker.settled();
      broker.lag();
      await answered(one, () => one.claim('call', 1));
      await one.append([factOf(2)]);
      await soon(() => expect(heard.get('b')).toHaveLength(2));
      await broker.failOver();
      await soon(() => expect(emptied).toEqual(['a']));
      await has(two, 'call', { nodeId: 'a', term: 1 });
      // What is new waits for what is lost, once.
      await expect(one.append([factOf(3)])).resolves.toBe(false);
      await expect(one.append([factOf(2), factOf(3)])).resolves.toBe(true);
      const late = await join('c', { url: broker.url });
      late.tail((fact) => heard.get('c')?.push(fact));
      await soon(() => expect(heard.get('c')).toEqual([factOf(1), factOf(2), factOf(3)]));
      // From the beginning, since its place in the log is another one's now.
      await soon(() => expect(heard.get('b')?.map(({ seq }) => seq)).toEqual([1, 2, 1, 2, 3]));
      await expect(one.append([factOf(4)])).resolves.toBe(true);
      expect(emptied).toEqual(['a']);
    });

    it('is found where that one lives on as its replica', async () => {
      await using broker = await RedisFailover.start(program);
      const node = await join('a', { url: broker.url });
      await node.append([factOf(1)]);
      await broker.settled();
      await broker.swap();
      await soon(async () => expect(await node.append([factOf(2)])).toBe(true));
      await soon(() => expect(node.isThere).toBe(true));
      expect(emptied).toEqual([]);
    });

    it('is found out by a node that tells it something in that moment', async () => {
      const node = await join('a');
      for (const seq of [1, 2]) await node.append([factOf(seq)]);
      const entries = (await redis.ask('XRANGE', await logKey(), '-', '+')) as [string, string[]][];
      await redis.ask('XDEL', await logKey(), entries.at(-1)?.[0] ?? '');
      await expect(node.append([factOf(3)])).resolves.toBe(false);
      await soon(() => expect(emptied).toEqual(['a']));
      await expect(node.append([factOf(2), factOf(3)])).resolves.toBe(true);
      await expect(node.append([factOf(4)])).resolves.toBe(true);
      expect(emptied).toEqual(['a']);
    });
  });

  it('a node whose last entry has left the log by its age is not told that it was lost', async () => {
    const node = await join('a');
    await node.append([factOf(1)]);
    const key = await logKey();
    for (let count = 0; count < 3; count += 1) await redis.ask('XADD', key, '*', 'other', 'entry');
    await redis.ask('XTRIM', key, 'MAXLEN', '2');
    await expect(node.append([factOf(2)])).resolves.toBe(true);
    expect(emptied).toEqual([]);
  });

  it('scripts that the broker has forgotten are given to it again', async () => {
    const node = await join('a');
    await answered(node, () => node.claim('call', 1));
    await redis.ask('SCRIPT', 'FLUSH');
    expect(await answered(node, () => node.claim('call', 2))).toEqual({ nodeId: 'a', term: 2 });
  });

  it('after a split in which two have claimed one call, it is the one’s with the lower ID', async () => {
    const [lower, higher] = [await join('a'), await join('b')];
    await redis.kill();
    await soon(() => expect([lower.isThere, higher.isThere]).toEqual([false, false]));
    await expect(lower.claim('call', 2)).rejects.toMatchObject(AWAY);
    await expect(higher.claim('call', 2)).rejects.toMatchObject(AWAY);
    await redis.start();
    await soon(() => expect(outranked).toEqual([['b', 'call', { nodeId: 'a', term: 2 }]]));
    await has(higher, 'call', { nodeId: 'a', term: 2 });
  });

  it('a broker without memory refuses what is new, says what it knows, and is told the rest later', async () => {
    const [one, two] = [await join('a'), await join('b')];
    await answered(one, () => one.claim('known', 1));
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
    await expect(one.claim('new', 1)).rejects.toMatchObject(AWAY);
    await expect(one.append([factOf(1)])).rejects.toMatchObject(AWAY);
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    await isBack(two);
    await has(two, 'new', { nodeId: 'a', term: 1 });
    await has(two, 'known', { nodeId: 'a', term: 1 });
  });

  it('answers and failures are measured, and no question that was not asked', async () => {
    const answered: number[] = [];
    const failed: string[] = [];
    const meters = {
      brokerAnswered: (tookMs: number) => void answered.push(tookMs),
      askFailed: (asked: string) => void failed.push(asked),
    };
    const clock = new FakeClock();
    const node = await join('a', { clock, meters });
    await node.claim('call', 1);
    // A script that is not known yet is no failure.
    expect([answered.length > 1, Math.max(...answered), failed]).toEqual([true, 0, []]);
    const count = answered.length;
    redis.freeze();
    const late = expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
    await clock.advanceAsync(100);
    await late;
    const failures = failed.length;
    expect(new Set(failed)).toEqual(new Set(['broker']));
    for (let times = 0; times < 3; times += 1) await expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
    expect([answered.length, failed.length]).toEqual([count, failures]);
  });

  it('a broker that takes 500 ms keeps the lease of a node, and no webhook waiting', async () => {
    const proxy = await openSlowProxy(redis.port);
    try {
      const clock = new CountedClock();
      const node = await join('a', { url: `redis://127.0.0.1:${proxy.port}`, clock });
      proxy.delay(500);
      await soon(() => expect(node.isThere).toBe(false));
      const before = node.leasedUntil;
      await soon(() => expect(node.leasedUntil).toBeGreaterThan(before));
      expect(node.isThere).toBe(false);
      const asked = clock.asked;
      await expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
      expect(clock.asked).toBe(asked);
      proxy.delay(0);
      await isBack(node);
    } finally {
      await proxy.close();
    }
  });

  it('a broker that is away as a node joins is found later', async () => {
    await redis.kill();
    const node = await join('a');
    expect(node.isThere).toBe(false);
    expect(idsOf(node)).toEqual(['a']);
    await redis.start();
    await isBack(node);
  });

  async function expectRefused(url: string): Promise<void> {
    const node = await open('a', { url });
    await expect(node.join({ answer: async () => '', outranked() {}, emptied() {} })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('See the ACL in docs/cluster.md'),
    });
  }

  it.each([
    ['a wrong password', 'redis://:wrong@'],
    ['no password', 'redis://'],
  ])('%s is said at the start', async (_, before) => {
    const locked = await RedisServer.start(program, ['--requirepass', 'right']);
    try {
      const node = await open('a', { url: locked.url.replace('redis://', before) });
      await expect(node.join({ answer: async () => '', outranked() {}, emptied() {} })).rejects.toMatchObject(
        {
          code: 'CONFIG_INVALID',
          message: expect.stringContaining('refuses the user or password in its URL'),
        },
      );
      const right = await join('b', { url: locked.url.replace('redis://', 'redis://:right@') });
      expect(right.isThere).toBe(true);
    } finally {
      await Promise.all(opened.splice(0).map((node) => node.close()));
      await locked.kill();
    }
  });

  it.each(['time', 'evalsha', 'zadd', 'xread', 'hgetall'])(
    'a user without the right to %s is said at the start',
    async (command) => {
      const [, name = '', rights = ''] = DOCUMENTED_USER.exec(PAGE) ?? [];
      const user = [name, 'on', '>password', ...rights.split(' '), `-${command}`];
      await redis.ask('ACL', 'SETUSER', ...user);
      await expectRefused(redis.url.replace('redis://', `redis://${name}:password@`));
    },
  );

  it('a user of other keys is said at the start', async () => {
    await redis.ask('ACL', 'SETUSER', 'other', 'on', '>password', '~elsewhere:*', '+@all');
    await expectRefused(redis.url.replace('redis://', 'redis://other:password@'));
  });

  it('a password where there is none is said at the start', async () => {
    const node = await open('a', { url: redis.url.replace('redis://', 'redis://:password@') });
    const joining = node.join({ answer: async () => '', outranked() {}, emptied() {} });
    await expect(joining).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/^The broker has no password, and cluster\.url has one: (?!.*ACL)/),
    });
  });

  it('a broker that is too old is said at the start', async () => {
    await using old = await openOldBroker(await freePort());
    const node = await open('a', { url: `redis://127.0.0.1:${old.port}` });
    await expect(node.join({ answer: async () => '', outranked() {}, emptied() {} })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The broker is Redis 6.0.16: use Redis 6.2 or later, or Valkey.',
    });
  });

  it('a broker that is too old and takes the place of another is away, and is asked nothing, until one comes that will do', async () => {
    const logger = new RecordedLogger();
    const node = await join('a', { logger });
    node.tail(() => {});
    await soon(() => expect(node.hasHeardAll).toBe(true));
    await redis.kill();
    await soon(() => expect(logger.sentences('warn')).toHaveLength(1));
    {
      await using old = await openOldBroker(redis.port);
      await soon(() => expect(old.asked.filter((each) => each === 'HELLO').length).toBeGreaterThan(3));
      expect(new Set(old.asked)).toEqual(new Set(['HELLO']));
      expect([node.isThere, node.isReached, node.hasHeardAll]).toEqual([false, false, false]);
    }
    await redis.start();
    await isBack(node);
    expect(logger.sentences('warn')).toEqual([
      'the broker of the cluster is away: calls go on',
      'the broker of the cluster will not do: calls go on without it',
    ]);
    expect(logger.lines.findLast(({ level }) => level === 'warn')?.fields).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The broker is Redis 6.0.16: use Redis 6.2 or later, or Valkey.',
    });
    expect(logger.sentences('info')).toEqual(['the broker of the cluster answers again']);
  });

  it('what the broker holds shows no more than IDs, owners and counts', async () => {
    const node = await join('a', { url: redis.url });
    await answered(node, () => node.claim('call-1', 1));
    await answered(node, () => node.take(POOL, 'place', LONG_MS));
    await node.keepState('call-1', 1, '{"said":"words-of-a-caller"}');
    await node.append([{ ...factOf(1), type: 'dtmf.received', digit: 'a-digit-that-was-pressed' }]);
    const keys = (await redis.ask('KEYS', '*')) as string[];
    expect(keys.map(asDocumented).sort()).toEqual([...documentedKeys().keys()].sort());
    const held = await Promise.all(keys.map((key) => heldIn(redis, key)));
    expect(held.join(' ')).toContain('call-1');
    for (const secret of ['203.0.113.7', 'a-digit-that-was-pressed', 'dtmf', 'words-of', 'said', '127.0.0.1'])
      expect(held.join(' ')).not.toContain(secret);
  });

  it('everything in the broker goes by itself, after the documented time', async () => {
    const node = await join('a');
    await answered(node, () => node.claim('call-1', 1));
    await answered(node, () => node.take(POOL, 'place', 15_000));
    await node.keepState('call-1', 1, 'a state');
    await node.append([factOf(1)]);
    const keys = (await redis.ask('KEYS', '*')) as string[];
    expect(keys).toHaveLength(7);
    for (const key of keys) {
      const left = Number(await redis.ask('PTTL', key));
      const documented = documentedKeys().get(asDocumented(key)) ?? 0;
      expect(left, key).toBeGreaterThan(documented - 10_000);
      expect(left, key).toBeLessThanOrEqual(documented);
    }
    await node.release('call-1', 60 * 60_000);
    expect(await redis.ask('KEYS', '*:state')).toEqual([]);
  });

  it('facts and nodes that somebody without the secret has written are passed over', async () => {
    const heard: CallEvent[] = [];
    const node = await join('a');
    node.tail((fact) => heard.push(fact));
    const [leases = ''] = (await redis.ask('KEYS', '*leases')) as string[];
    const keyOf = (name: string) => leases.replace('nodes:leases', name);
    for (const fields of ['by b facts forged', 'own b facts []', 'by b'])
      await redis.ask('XADD', keyOf('facts:log'), '*', ...fields.split(' '));
    await redis.ask('HSET', keyOf('nodes:cards'), 'forged', 'http://127.0.0.1:1');
    const other = await join('b');
    await other.append([factOf(1)]);
    await soon(() => expect(heard).toEqual([factOf(1)]));
    await soon(() => expect(idsOf(node)).toEqual(['a', 'b']));
  });

  it.each([
    ['another node', '9 b AAAAAAAAAAAAAAAA'],
    ['another node, unsigned', '9 b'],
    ['another node, with the signature of a lower term', undefined],
    ['nothing that makes sense', 'not an owner'],
  ])(
    'an owner that somebody without the secret has written takes a call from nobody: %s',
    async (_, forged) => {
      const logger = new RecordedLogger();
      const node = await join('a', { logger });
      await answered(node, () => node.claim('other', 1));
      const [path = ''] = (await redis.ask('KEYS', '*:other:owner')) as string[];
      const key = path.replace(':other:', ':call:');
      // Who finds it first says so: both hold a claim of the call.
      const before = await join('b', { logger });
      await answered(before, () => before.claim('call', 2));
      const signed = String(await redis.ask('GET', key));
      await answered(node, () => node.claim('call', 3));
      await redis.ask('SET', key, forged ?? signed.replace('2', '9'));
      await expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
      // With each tenth beat.
      await has(node, 'call', { nodeId: 'a', term: 3 });
      expect(outranked.filter(([nodeId]) => nodeId === 'a')).toEqual([]);
      expect(logger.sentences('warn').join()).toContain('owner of a call is false');
    },
    30_000,
  );

  it('nodes with another secret are another cluster: none of them has a call of the others', async () => {
    const [node, other] = [await join('a'), await join('b', { secret: 'y'.repeat(32) })];
    const claimed = { nodeId: 'a', term: 3 };
    expect(await answered(node, () => node.claim('call', 3))).toEqual(claimed);
    expect(await answered(other, () => other.ownerOf('call'))).toBeUndefined();
    expect(await answered(other, () => other.claim('call', 1))).toEqual({ nodeId: 'b', term: 1 });
    expect(await answered(node, () => node.ownerOf('call'))).toEqual(claimed);
    expect([idsOf(node), idsOf(other)]).toEqual([['a'], ['b']]);
  });

  it('a node whose clock is an hour off is like any other', async () => {
    const off: Clock = {
      now: () => systemClock.now(),
      wallNow: () => systemClock.wallNow() - 3_600_000,
      after: (delayMs, task) => systemClock.after(delayMs, task),
    };
    const [one, two] = [await join('a', { clock: off }), await join('b')];
    const heard: CallEvent[] = [];
    two.tail((fact) => heard.push(fact));
    await soon(() => expect([idsOf(one), idsOf(two)]).toEqual(Array(2).fill(['a', 'b'])));
    await one.append([factOf(1)]);
    await soon(() => expect(heard).toEqual([factOf(1)]));
    const message = { type: 'probe', callId: null, body: '' };
    await expect(one.send('b', message, LONG_MS)).resolves.toBe('here');
    await expect(two.send('a', message, LONG_MS)).resolves.toBe('here');
  });

  it('needs the documented rights, and no more', async () => {
    const [, name = '', rights = ''] = DOCUMENTED_USER.exec(PAGE) ?? [];
    await redis.ask('ACL', 'SETUSER', name, 'on', '>password', ...rights.split(' '));
    const url = redis.url.replace('redis://', `redis://${name}:password@`);
    const node = await join('a', { url });
    const heard: CallEvent[] = [];
    node.tail((fact) => heard.push(fact));
    const claimed = { nodeId: 'a', term: 1 };
    expect(await answered(node, () => node.claim('call', 1))).toEqual(claimed);
    expect(await answered(node, () => node.ownerOf('call'))).toEqual(claimed);
    const taken = { hasPlace: true, taken: 1 };
    expect(await answered(node, () => node.take(POOL, 'place', LONG_MS))).toEqual(taken);
    expect(await answered(node, () => node.taken(POOL))).toBe(1);
    await node.giveBack(POOL, 'place');
    await node.keepState('call', 1, 'a state');
    expect(await node.stateOf('call')).toMatchObject({ term: 1, text: 'a state' });
    await node.release('call', LONG_MS);
    const fact = { ...factOf(1), nodeId: 'another' };
    await node.append([fact]);
    await node.append([]);
    await soon(() => expect(heard).toEqual([fact]));
    await node.close();
    const used = String(await redis.ask('INFO', 'commandstats'));
    for (const [, command] of rights.matchAll(/\+(\S+)/g)) expect(used).toContain(`cmdstat_${command}:`);
  });
});

/** Counts timers: a question that is asked has one. */
class CountedClock implements Clock {
  asked = 0;

  now(): number {
    return systemClock.now();
  }

  wallNow(): number {
    return systemClock.wallNow();
  }

  after(delayMs: number, task: () => void) {
    if (delayMs <= 100) this.asked += 1;
    return systemClock.after(delayMs, task);
  }
}

/** Says to every command that it is Redis 6.0. `asked`: the names of those commands. */
async function openOldBroker(port: number) {
  const hello = ['server', 'redis', 'version', '6.0.16', 'proto', '2'];
  const answer = `*${hello.length}\r\n${hello.map((each) => `$${each.length}\r\n${each}\r\n`).join('')}`;
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      asked.push(bytes.toString('latin1').split('\r\n')[2] ?? '');
      socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function heldIn(redis: RedisServer, key: string): Promise<string> {
  const type = await redis.ask('TYPE', key);
  const commands: Record<string, string[]> = {
    string: ['GET', key],
    zset: ['ZRANGE', key, '0', '-1'],
    hash: ['HGETALL', key],
    stream: ['XRANGE', key, '-', '+'],
  };
  return JSON.stringify([key, await redis.ask(...(commands[String(type)] ?? []))]);
}
