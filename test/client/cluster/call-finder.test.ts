// Which of the nodes that are after a call has it, where no broker decides; and what is taken for an answer.
import { describe, expect, it } from 'vitest';
import { ClusterError } from '../../../src/base/errors.js';
import { pause } from '../../../src/base/pause.js';
import { CallFinder } from '../../../src/client/cluster/call-finder.js';
import type { CallPlace } from '../../../src/client/cluster/requests.js';
import type { NodeMessage } from '../../../src/cluster/coordinator.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import { FakeClock } from '../../support/fake-clock.js';

type State = CallPlace['state'];

/** Nodes of a cluster without a broker. Messages and answers take so long on their ways. */
class Nodes {
  readonly clock = new FakeClock();
  readonly #cluster = new MemoryCluster(this.clock);
  readonly #states = new Map<string, State>();
  readonly #delaysMs: readonly [number, number];

  constructor(messageMs = 0, answerMs = 0) {
    this.#delaysMs = [messageMs, answerMs];
  }

  async join(nodeId: string, answer?: (message: NodeMessage) => Promise<string>): Promise<CallFinder> {
    const coordinator = this.#cluster.node({ nodeId, address: `http://${nodeId}.test` });
    const places = async () => {
      await pause(this.clock, this.#delaysMs[0]);
      const state = this.#states.get(nodeId);
      const said = state === undefined ? [] : [{ callId: 'call', state, term: 2 }];
      await pause(this.clock, this.#delaysMs[1]);
      return JSON.stringify({ places: said });
    };
    await coordinator.join({ answer: answer ?? places, outranked() {}, emptied() {} });
    this.#cluster.cut(nodeId, { reachesNodes: true });
    const store = () => ({ get: async () => undefined }) as never;
    return new CallFinder({ nodeId, clock: this.clock, store }, coordinator);
  }

  /** As a node does whose call is that of a node that is gone. Resolves to whether it goes on with it. */
  async isAfter(nodeId: string, finder: CallFinder, isStreamThere: boolean): Promise<boolean> {
    this.#states.set(nodeId, isStreamThere ? 'arriving' : 'expected');
    const rival = await finder.rivalFor('call', isStreamThere);
    if (rival === undefined) this.#states.set(nodeId, 'live');
    else this.#states.delete(nodeId);
    return rival === undefined;
  }
}

const STREAMS = [
  [false, false],
  [false, true],
  [true, false],
  [true, true],
] as const;
const LATER_MS = [-700, -301, -120, -60, -30, -5, 0, 5, 30, 60, 120, 301, 700];

describe('of two nodes without a broker', () => {
  describe.each(STREAMS)('with streams: %s and %s', (atB, atC) => {
    it.each([
      [0, 0],
      [100, 0],
      [0, 100],
      [140, 140],
    ])(
      'one has the call, whoever asks first, where messages take %i ms and answers %i',
      async (...delaysMs) => {
        for (const laterMs of LATER_MS) {
          const nodes = new Nodes(...delaysMs);
          const [b, c] = [await nodes.join('b'), await nodes.join('c')];
          const asking = Promise.all([
            pause(nodes.clock, Math.max(0, -laterMs)).then(() => nodes.isAfter('b', b, atB)),
            pause(nodes.clock, Math.max(0, laterMs)).then(() => nodes.isAfter('c', c, atC)),
          ]);
          await nodes.clock.advanceAsync(3000);
          expect((await asking).filter(Boolean), `c ${laterMs} ms after b`).toHaveLength(1);
        }
      },
    );
  });

  it('who has the stream has the call, whatever its ID', async () => {
    const nodes = new Nodes(5, 5);
    const [b, c] = [await nodes.join('b'), await nodes.join('c')];
    const asking = Promise.all([nodes.isAfter('b', b, false), nodes.isAfter('c', c, true)]);
    await nodes.clock.advanceAsync(3000);
    expect(await asking).toEqual([false, true]);
  });
});

describe('a command', () => {
  it('finds a call at a node that takes longer to answer than a webhook may wait', async () => {
    const nodes = new Nodes();
    const finder = await nodes.join('b');
    await nodes.join('a', async ({ type }) => {
      await pause(nodes.clock, 200);
      return JSON.stringify(
        type === 'who-has' ? { places: [{ callId: 'call', state: 'live', term: 1 }] } : {},
      );
    });
    const answer = finder.command('call', { type: 'hangup' } as never);
    await nodes.clock.advanceAsync(2000);
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('is given once, also where the node of the call is too busy to say that it is there', async () => {
    const nodes = new Nodes();
    const finder = await nodes.join('b');
    let busyUntil = Number.POSITIVE_INFINITY;
    let given = 0;
    await nodes.join('a', async ({ type }) => {
      if (type === 'command') {
        given += 1;
        // Until it is asked whether it is there, and somewhat longer.
        busyUntil = nodes.clock.now() + 600;
        await pause(nodes.clock, 3000);
        return '{}';
      }
      if (nodes.clock.now() < busyUntil && given > 0) await pause(nodes.clock, busyUntil - nodes.clock.now());
      return JSON.stringify({ places: [{ callId: 'call', state: 'live', term: 1 }] });
    });
    const answer = finder.command('call', { type: 'say', text: 'Hello.' } as never);
    await nodes.clock.advanceAsync(10_000);
    expect(await answer).toMatchObject({ status: 409 });
    expect(given).toBe(1);
  });
});

describe('a node that does not answer', () => {
  it('is asked again while it counts as alive, by who is patient', async () => {
    const nodes = new Nodes();
    const finder = await nodes.join('b');
    let times = 0;
    await nodes.join('a', async () => {
      times += 1;
      if (times < 4) throw new ClusterError('The message was lost.');
      return JSON.stringify({ places: [] });
    });
    const asking = finder.placesAt('a', ['call'], { timeoutMs: 5000, isPatient: true });
    await nodes.clock.advanceAsync(5000);
    expect(await asking).toEqual([]);
    expect(times).toBe(4);
  });

  it('is a node that is not there, once the time is over', async () => {
    const nodes = new Nodes();
    const finder = await nodes.join('b');
    await nodes.join('a', () => new Promise(() => {}));
    const asking = finder.placesAt('a', ['call'], { timeoutMs: 1000, isPatient: true });
    await nodes.clock.advanceAsync(1500);
    expect(await asking).toBeUndefined();
  });

  it.each([
    ['webhook', 2],
    ['claim', 2],
    ['command', 1],
  ] as const)('has a lost %s sent %i times while it is alive', async (type, times) => {
    const nodes = new Nodes();
    const finder = await nodes.join('b');
    const asked: string[] = [];
    await nodes.join('a', async (message) => {
      if (message.type === 'who-has') return JSON.stringify({ places: [] });
      asked.push(message.type);
      throw new ClusterError('The answer was lost.');
    });
    const request = { type, callId: 'call', ask: {} } as never;
    const answer = finder.ask({ nodeId: 'a', term: 1 }, { request, timeoutMs: 2000 });
    const failed = expect(answer).rejects.toMatchObject({ code: 'CLUSTER_FAILED' });
    await nodes.clock.advanceAsync(3000);
    await failed;
    expect(asked).toEqual(Array(times).fill(type));
  });
});
