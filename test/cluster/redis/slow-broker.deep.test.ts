// A broker that answers late, or not at all: who asks goes on without, and the connection stays as long as anything is answered.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Coordinator } from '../../../src/cluster/coordinator.js';
import { openClusterNode } from '../../support/cluster-node.js';
import { FakeClock } from '../../support/fake-clock.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';
import { openSlowProxy, type SlowProxy } from '../../support/slow-proxy.js';
import { soon } from '../../support/soon.js';

const AWAY = { code: 'CLUSTER_FAILED' };
const POOL = { name: 'calls', limit: 10 };
const WEBHOOKS = 20;
/** Between one webhook and the next. */
const APART_MS = 150;
const STEP_MS = 10;
/** From the node to the proxy, from there to the broker, and back: each way is over by one more answer to somebody else. */
const WAYS = 4;

describeOnRedis('a broker that answers late', (program) => {
  const broker = eachRedis(program);
  let clock: FakeClock;
  let proxy: SlowProxy;
  let node: Coordinator;
  /** Asks the broker beside the proxy. */
  let witness: Socket;

  beforeEach(async () => {
    clock = new FakeClock();
    witness = connect(broker.redis.port, '127.0.0.1').on('error', () => {});
    await once(witness, 'connect');
    proxy = await openSlowProxy(broker.redis.port, clock);
    const url = `redis://127.0.0.1:${proxy.port}`;
    node = await openClusterNode({ url, name: 'phones', nodeId: 'a', clock });
    await node.join({ answer: async () => '', outranked() {}, emptied() {} });
  });
  afterEach(async () => {
    await Promise.all([node.close(), clock.advanceAsync(500)]);
    await proxy.close();
    witness.destroy();
  });

  /** Resolves when the broker, which answers in order, has answered what was sent before: it may get no processor for longer than a pause takes. */
  async function answered(): Promise<void> {
    for (let way = 0; way < WAYS; way += 1) {
      witness.write('PING\r\n');
      await once(witness, 'data');
    }
  }

  /** Time passes, and whatever is sent meanwhile arrives. */
  async function live(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await clock.advanceAsync(STEP_MS);
      await pause(2);
      await answered();
    }
  }

  /** The same, until `task` is done. */
  async function living(task: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    void task.then(over, over);
    while (!isOver) await live(STEP_MS);
    await task;
  }

  /** What one webhook asks, with the time that it has in all. */
  async function webhook(callId: string): Promise<void> {
    const by = clock.now() + 100;
    const questions = [() => node.ownerOf(callId, { by }), () => node.take(POOL, callId, 60_000, { by })];
    for (const ask of questions) await ask().catch(() => {});
  }

  async function webhooks(): Promise<void> {
    const asked: Promise<void>[] = [];
    for (let count = 0; count < WEBHOOKS; count += 1) {
      asked.push(webhook(`call-${count}`));
      await live(APART_MS);
    }
    await Promise.all(asked);
  }

  it.each([60, 150, 500])('after %i ms keeps its one connection', async (delayMs) => {
    proxy.delay(delayMs);
    await webhooks();
    expect(proxy.connections).toBe(1);
    proxy.delay(0);
    await live(2000);
    expect(node.isThere).toBe(true);
    await expect(node.claim('another', 1)).resolves.toEqual({ nodeId: 'a', term: 1 });
    expect(proxy.connections).toBe(1);
  });

  it.each([150, 500, Number.POSITIVE_INFINITY])(
    'after %s ms is asked by one webhook, and by none after that until it is fast again',
    async (delayMs) => {
      proxy.delay(delayMs);
      const before = proxy.questions;
      await webhooks();
      // Two of the first webhook; the rest is the beat of each second, and greetings.
      expect(proxy.questions - before).toBeLessThan(2 + WEBHOOKS / 2);
      expect(node.isThere).toBe(false);
    },
  );

  describe('and the states of calls', () => {
    const kept = async () => {
      const url = broker.redis.url;
      const other = await openClusterNode({ url, name: 'phones', nodeId: 'b' });
      await other.join({ answer: async () => '', outranked() {}, emptied() {} });
      try {
        return (await other.stateOf('call'))?.text;
      } finally {
        await other.close();
      }
    };

    it.each([150, 500])('after %i ms gets them, too', async (delayMs) => {
      proxy.delay(delayMs);
      await live(2000);
      expect(node.isThere).toBe(false);
      await living(node.keepState('call', 1, 'what the caller has said'));
      expect(await kept()).toBe('what the caller has said');
    });

    it('keeps no older one that comes on a connection that is gone', async () => {
      proxy.hold();
      const older = expect(node.keepState('call', 1, 'older')).rejects.toMatchObject(AWAY);
      await live(2000);
      await older;
      proxy.pass();
      await live(4000);
      await node.keepState('call', 1, 'newer');
      await proxy.letGo();
      expect(await kept()).toBe('newer');
      await node.keepState('call', 2, 'of the next term');
      expect(await kept()).toBe('of the next term');
    });
  });

  it('or not, is let go once nothing was answered for two seconds, and tried again', async () => {
    proxy.delay(Number.POSITIVE_INFINITY);
    const asked = expect(node.ownerOf('call')).rejects.toMatchObject(AWAY);
    await live(1900);
    await asked;
    expect([proxy.connections, proxy.open]).toEqual([1, 1]);
    await clock.advanceAsync(100);
    await soon(() => expect(proxy.open).toBe(0));
    proxy.delay(0);
    await live(4000);
    expect([node.isThere, proxy.connections]).toEqual([true, 2]);
  });

  describe('and the time of a webhook', () => {
    it('that ends earlier says nothing of the broker', async () => {
      broker.redis.freeze();
      const late = expect(node.ownerOf('call', { by: clock.now() + 40 })).rejects.toMatchObject(AWAY);
      await clock.advanceAsync(40);
      await late;
      expect(node.isThere).toBe(true);
      await clock.advanceAsync(59);
      expect(node.isThere).toBe(true);
      await clock.advanceAsync(1);
      expect(node.isThere).toBe(false);
    });
  });
});
