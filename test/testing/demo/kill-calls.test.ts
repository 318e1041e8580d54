import { describe, expect, it } from 'vitest';
import type { CarrierASimulator } from '../../../src/testing/index.js';
import { type KilledServer, killServer, startKills } from '../../../src/testing/demo/kill-calls.js';
import { FakeClock } from '../../support/fake-clock.js';

/** A call of which a test says whether it is over and has a stream. */
function fakeLeg(from: string, state: { isOver?: boolean; stream?: object | undefined } = {}) {
  return { facts: { from }, isOver: false, stream: {} as object | undefined, ...state };
}

function start(legs: ReturnType<typeof fakeLeg>[], changes: Partial<KilledServer> = {}) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const failures: unknown[] = [];
  let kills = 0;
  const server = {
    kill: async () => {
      kills += 1;
      for (const leg of legs) leg.stream = undefined;
    },
    start: async () => {
      await new Promise<void>((resolve) => void clock.after(700, resolve));
    },
  };
  const { stop } = startKills({
    ...{ clock, firstAfterMs: 1000, everyMs: 30_000 },
    kill: () =>
      killServer({
        ...{ clock, server, simulator: { legs } as unknown as CarrierASimulator },
        print: (line) => lines.push(line),
        ...changes,
      }),
    onFailure: (error) => failures.push(error),
  });
  return { clock, lines, failures, stop, kills: () => kills };
}

describe('startKills', () => {
  it('says which calls went on, and after what time', async () => {
    const stays = fakeLeg('+15005550121');
    const goes = fakeLeg('+15005550134');
    const { clock, lines } = start([
      stays,
      goes,
      fakeLeg('+15005550157', { isOver: true }),
      fakeLeg('+15005550158', { stream: undefined }),
    ]);
    await clock.advanceAsync(1000 + 700 + 500);
    stays.stream = {};
    await clock.advanceAsync(600);
    goes.isOver = true;
    expect(lines).toEqual([]);
    await clock.advanceAsync(40);
    expect(lines).toEqual([
      'server killed with 2 calls up, back after 0.7 s, the call from …0121 went on after 1.2 s, the call from …0134 is lost',
    ]);
  });

  it('does not wait forever for a call', async () => {
    const { clock, lines } = start([fakeLeg('+15005550121')]);
    await clock.advanceAsync(1000 + 8100);
    expect(lines).toEqual(['server killed with 1 call up, back after 0.7 s, the call from …0121 is lost']);
  });

  it('goes on until it is stopped, and leaves a server that serves', async () => {
    const { clock, lines, kills, stop } = start([]);
    await clock.advanceAsync(31_000);
    expect(kills()).toBe(2);
    const stopping = stop();
    await clock.advanceAsync(700);
    await stopping;
    expect(lines).toEqual(Array(2).fill('server killed with 0 calls up, back after 0.7 s'));
    await clock.advanceAsync(100_000);
    expect(kills()).toBe(2);
  });

  it('tells of a server that does not come back', async () => {
    const failure = new Error('the port is taken');
    const server = { kill: async () => {}, start: () => Promise.reject(failure) };
    const { clock, failures } = start([], { server });
    await clock.advanceAsync(1000);
    expect(failures).toEqual([failure]);
  });
});
