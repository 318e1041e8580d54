// The log of facts, which keeps the newest ones: who was away for longer than it reaches is told that something was missed.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import type { Coordinator } from '../../../src/cluster/coordinator.js';
import { factOf } from '../../../src/testing/conformance/coordinator.js';
import { openClusterNode } from '../../support/cluster-node.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';
import { openSlowProxy } from '../../support/slow-proxy.js';
import { soon } from '../../support/soon.js';

const DAY_MS = 24 * 60 * 60_000;
const LONG_MS = 60_000;
/** Adds two entries that say nothing to a log, and keeps so many of all. */
const ADD_AND_TRIM = `
for count = 1, 2 do redis.call('XADD', KEYS[1], '*', 'call', 'c', 'term', '1', 'facts', 'forged') end
return redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[1])
`;

describeOnRedis('the log of facts', (program) => {
  const broker = eachRedis(program);

  async function joined(nodeId: string, url: string): Promise<Coordinator> {
    const node = await openClusterNode({ url, name: 'phones', nodeId });
    await node.join({ answer: async () => '', outranked() {}, emptied() {} });
    return node;
  }

  /** A node, and what passes a day for it. */
  async function aging(url: string) {
    let [aheadMs, emptied] = [0, 0];
    const clock: Clock = {
      now: () => systemClock.now(),
      wallNow: () => systemClock.wallNow() + aheadMs,
      after: (delayMs, task) => systemClock.after(delayMs, task),
    };
    const node = await openClusterNode({ url, name: 'phones', nodeId: 'a', clock });
    await node.join({
      answer: async () => '',
      outranked() {},
      emptied: () => {
        emptied += 1;
      },
    });
    const passDay = () => {
      aheadMs = DAY_MS + LONG_MS;
    };
    return { node, passDay, emptied: () => emptied };
  }

  it.each([
    ['has gone past it', '1', 2],
    ['still has everything', '100', 1],
  ])(
    'says to a node that was away for a while, where it %s, how often something was missed',
    async (_, kept, times) => {
      const { redis } = broker;
      const proxy = await openSlowProxy(redis.port);
      const [one, two] = [await joined('a', redis.url), await joined('b', `redis://127.0.0.1:${proxy.port}`)];
      try {
        const heard: number[] = [];
        let missed = 0;
        two.tail(
          ({ seq }) => heard.push(seq),
          () => {
            missed += 1;
          },
        );
        // A node that begins may have missed what was there before it.
        await soon(() => expect(missed).toBe(1));
        await one.append([factOf(1)]);
        await soon(() => expect(heard).toEqual([1]));
        proxy.cut();
        const [log = ''] = (await redis.ask('KEYS', '*:log')) as string[];
        await redis.ask('EVAL', ADD_AND_TRIM, '1', log, kept);
        proxy.mend();
        await one.append([factOf(2)]);
        await soon(() => expect(heard).toEqual([1, 2]));
        await soon(() => expect(missed).toBe(times));
      } finally {
        await Promise.all([one.close(), two.close()]);
        await proxy.close();
      }
    },
  );

  it('has what happened in several calls in one entry, sealed together, which only names who has appended it', async () => {
    const { redis } = broker;
    const [one, two] = [await joined('a', redis.url), await joined('b', redis.url)];
    try {
      const heard: string[] = [];
      two.tail(({ callId, seq }) => heard.push(`${callId} ${seq}`));
      const other = (seq: number) => ({ ...factOf(seq), callId: 'other' });
      await one.append([factOf(1), other(1), factOf(2), other(2)]);
      await soon(() => expect(heard).toEqual(['call 1', 'other 1', 'call 2', 'other 2']));
      await two.append([factOf(3)]);
      await soon(() => expect(heard.at(-1)).toBe('call 3'));
      const [log = ''] = (await redis.ask('KEYS', '*:log')) as string[];
      const entries = (await redis.ask('XRANGE', log, '-', '+')) as [string, string[]][];
      expect(entries.map(([, fields]) => fields.slice(0, -1))).toEqual([
        ['own', 'a', 'facts'],
        ['by', 'b', 'facts'],
      ]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });

  it('keeps nothing for longer than a day, with the next entry, and no node takes that for a loss', async () => {
    const { redis } = broker;
    const { node, passDay, emptied } = await aging(redis.url);
    try {
      await node.append([factOf(1)]);
      const [log = ''] = (await redis.ask('KEYS', '*:log')) as string[];
      const [epoch = ''] = (await redis.ask('KEYS', '*:epoch')) as string[];
      await redis.ask('DEL', log);
      await redis.ask('XADD', log, String(Date.now() - DAY_MS - 1000), 'call', 'old');
      await redis.ask('XADD', log, String(Date.now() - DAY_MS + LONG_MS), 'call', 'new');
      const other = await joined('b', redis.url);
      await other.append([factOf(2)]);
      await other.close();
      expect(await redis.ask('XLEN', log)).toBe(2);
      // At the end of a day without a fact, both keys are gone.
      await redis.ask('DEL', log, epoch);
      passDay();
      await expect(node.append([factOf(3)])).resolves.toBe(true);
      await expect(node.append([factOf(4)])).resolves.toBe(true);
      await pause(systemClock, 2500);
      expect(emptied()).toBe(0);
    } finally {
      await node.close();
    }
  });

  it('is missed by no node that has told nothing to it for a day, since it was told what it had lost', async () => {
    const { redis } = broker;
    const { node, passDay, emptied } = await aging(redis.url);
    try {
      await node.append([factOf(1)]);
      await redis.ask('FLUSHALL');
      await soon(() => expect(emptied()).toBe(1));
      // What it had told is old by then, and not told again.
      await expect(node.append([])).resolves.toBe(false);
      await expect(node.append([])).resolves.toBe(true);
      await redis.ask('DEL', ...((await redis.ask('KEYS', '*:epoch')) as string[]));
      passDay();
      await expect(node.append([factOf(2)])).resolves.toBe(true);
      await pause(systemClock, 2500);
      expect(emptied()).toBe(1);
      // What is lost behind that is found.
      await redis.ask('DEL', ...((await redis.ask('KEYS', '*:facts:*')) as string[]));
      await expect(node.append([factOf(3)])).resolves.toBe(false);
    } finally {
      await node.close();
    }
  });

  it('says for how long a node has not heard it, and nothing while nothing happens', async () => {
    const { redis } = broker;
    const node = await joined('a', redis.url);
    try {
      node.tail(() => {});
      await soon(() => expect(node.hasHeardAll).toBe(true));
      for (let count = 0; count < 40; count += 1) {
        expect(node.behindMs).toBe(0);
        await pause(systemClock, 100);
      }
      await redis.kill();
      await soon(() => expect(node.behindMs).toBeGreaterThan(3000));
      await redis.start();
      await soon(() => expect(node.behindMs).toBe(0));
    } finally {
      await node.close();
    }
  });
});
