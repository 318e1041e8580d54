import { describe, expect, it } from 'vitest';
import { ClusterFacts } from '../../../src/client/cluster/cluster-facts.js';
import { GATHER_MS, type HearFact } from '../../../src/cluster/coordinator.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { FakeClock } from '../../support/fake-clock.js';

const fact = (nodeId: string, term: number, seq: number, callId = 'call') =>
  ({ type: 'turn.started', turnIndex: seq, callId, nodeId, term, seq, at: seq }) as CallEvent;
const placesOf = (facts: readonly CallEvent[]) => facts.map(({ term, seq }) => [term, seq]);

function open() {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const node = (nodeId: string) => {
    const heard: CallEvent[] = [];
    const facts = new ClusterFacts({ nodeId, clock, hear: (each) => heard.push(each) });
    const coordinator = cluster.node({ nodeId, address: `http://${nodeId}.test` });
    void coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    facts.start(coordinator);
    return { facts, heard };
  };
  /** A node, and what its broker is told, which takes it or not. */
  const telling = (isTaken: () => boolean) => {
    const facts = new ClusterFacts({ nodeId: 'a', clock, hear() {} });
    const coordinator = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const asked: (readonly CallEvent[])[] = [];
    coordinator.append = async (batch) => {
      asked.push(batch);
      return isTaken();
    };
    facts.start(coordinator);
    return { facts, asked };
  };
  return { clock, cluster, node, telling };
}

describe('ClusterFacts', () => {
  it('are heard by every other node, each once and in order', async () => {
    const { clock, node } = open();
    const [one, two] = [node('a'), node('b')];
    for (const seq of [1, 2, 3]) one.facts.tell(fact('a', 1, seq));
    await one.facts.flushed();
    await clock.advanceAsync(GATHER_MS);
    expect(placesOf(two.heard)).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(one.heard).toEqual([]);
  });

  it('are told at once where a call is over, also while others are on their way', async () => {
    const { clock, cluster } = open();
    const facts = new ClusterFacts({ nodeId: 'a', clock, hear() {} });
    const coordinator = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const asked: number[][] = [];
    let arrive = () => {};
    coordinator.append = async (batch) => {
      asked.push(batch.map(({ seq }) => seq));
      await new Promise<void>((resolve) => {
        arrive = resolve;
      });
      return true;
    };
    facts.start(coordinator);
    facts.tell(fact('a', 1, 1));
    await clock.advanceAsync(GATHER_MS);
    facts.tell({ ...fact('a', 1, 2), type: 'call.ended' } as CallEvent);
    arrive();
    await clock.advanceAsync(0);
    expect(asked).toEqual([[1], [2]]);
    arrive();
  });

  it('are told together, and at once where a call is over', async () => {
    const { clock, telling } = open();
    const times: number[] = [];
    const { facts, asked } = telling(() => times.push(clock.now()) > 0);
    facts.tell(fact('a', 1, 1));
    await clock.advanceAsync(30);
    facts.tell(fact('a', 1, 2));
    await clock.advanceAsync(GATHER_MS);
    facts.tell(fact('a', 1, 3));
    facts.tell({ ...fact('a', 1, 4), type: 'call.ended' } as CallEvent);
    await clock.advanceAsync(0);
    facts.tell(fact('a', 1, 5, 'other'));
    await clock.advanceAsync(0);
    await clock.advanceAsync(GATHER_MS);
    expect(asked.map((batch) => batch.map(({ seq }) => seq))).toEqual([[1, 2], [3, 4], [5]]);
    expect(times).toEqual([GATHER_MS, GATHER_MS + 30, 2 * GATHER_MS]);
  });

  it('are told again where the broker has lost them, in front of what is new', async () => {
    let isLost = false;
    const { facts, asked } = open().telling(() => {
      const takes = !isLost;
      isLost = false;
      return takes;
    });
    facts.tell(fact('a', 1, 1));
    await facts.flushed();
    isLost = true;
    facts.tell(fact('a', 1, 2));
    await facts.flushed();
    isLost = true;
    facts.tellAgain();
    await facts.flushed();
    facts.tellAgain();
    await facts.flushed();
    expect(asked.map((batch) => batch.map(({ seq }) => seq))).toEqual([[1], [2], [1, 2], [], [1, 2], []]);
  });

  it('of a call that is up are all told again, and those of one that another node has not at all', async () => {
    const { clock, telling } = open();
    let isLost = false;
    const { facts, asked } = telling(() => {
      const takes = !isLost;
      isLost = false;
      return takes;
    });
    const begun = { ...fact('a', 1, 1, 'up'), type: 'call.started' } as CallEvent;
    facts.tell(begun);
    await facts.flushed();
    // Every node has heard it long ago.
    await clock.advanceAsync(60_000);
    facts.tell(fact('a', 1, 1, 'moved'));
    facts.tell(fact('a', 1, 2, 'up'));
    await facts.flushed();
    facts.take(fact('b', 2, 2, 'moved'));
    isLost = true;
    facts.tell(fact('a', 1, 3, 'up'));
    await facts.flushed();
    expect(asked.at(-1)?.map(({ callId, seq }) => [callId, seq])).toEqual([
      ['up', 1],
      ['up', 2],
      ['up', 3],
    ]);
  });

  it('of a call that rang elsewhere and has ended here are all told again', async () => {
    let isLost = false;
    const { facts, asked } = open().telling(() => {
      const takes = !isLost;
      isLost = false;
      return takes;
    });
    const rang = [fact('b', 1, 1), fact('b', 1, 2)];
    facts.tellFor(...rang);
    facts.adopt('call', rang);
    facts.tell({ ...fact('a', 2, 3), type: 'call.started' } as CallEvent);
    facts.tell({ ...fact('a', 2, 4), type: 'call.ended' } as CallEvent);
    await facts.flushed();
    const whole = [
      [1, 1],
      [1, 2],
      [2, 3],
      [2, 4],
    ];
    expect(asked.map(placesOf)).toEqual([whole]);
    isLost = true;
    facts.tellAgain();
    await facts.flushed();
    expect(asked.slice(1).map(placesOf)).toEqual([[], whole]);
  });

  it.each([
    ['is up here', 'turn.started', 24],
    ['has ended here', 'call.ended', 6],
  ])(
    'of a call that %s are told again in a higher term, as many as a record can take back',
    async (_, last, most) => {
      const { clock, node } = open();
      const [one, two] = [node('a'), node('b')];
      one.facts.adopt('call', [fact('z', 1, 1)]);
      for (let seq = 2; seq < 40; seq += 1) one.facts.tell(fact('a', 2, seq));
      one.facts.tell({ ...fact('a', 2, 40), type: last } as CallEvent);
      await one.facts.flushed();
      await clock.advanceAsync(GATHER_MS);
      two.heard.length = 0;
      const again = one.facts.restate('call', 5);
      expect(placesOf(again)).toEqual(Array.from({ length: most }, (_, at) => [5, 41 - most + at]));
      await one.facts.flushed();
      await clock.advanceAsync(GATHER_MS);
      expect(placesOf(two.heard)).toEqual(placesOf(again));
      expect(placesOf(one.facts.newsOf('call') ?? []).slice(-most)).toEqual(placesOf(again));
      expect(again.every(({ nodeId }) => nodeId === 'a')).toBe(true);
    },
  );

  it('of a call that has ended here are told again from its end on, however much came behind it', () => {
    const { node } = open();
    const { facts } = node('a');
    facts.adopt('call', [fact('a', 1, 1)]);
    facts.tell({ ...fact('a', 1, 2), type: 'call.ended' } as CallEvent);
    for (let seq = 3; seq < 15; seq += 1)
      facts.tell({ ...fact('a', 1, seq), type: 'cost.updated' } as CallEvent);
    const again = facts.restate('call', 3);
    expect(again.map(({ type }) => type)).toEqual(['call.ended', ...Array(12).fill('cost.updated')]);
  });

  it('of a short call are told again but for the first, which a record has to begin with', () => {
    const { node } = open();
    const { facts } = node('a');
    facts.adopt('call', [fact('z', 1, 1), fact('z', 1, 2)]);
    expect(placesOf(facts.restate('call', 3))).toEqual([[3, 2]]);
    expect(facts.restate('unknown', 3)).toEqual([]);
  });

  it('of a call that rang here and went on elsewhere are not told again, nor kept', async () => {
    const { clock, node } = open();
    const [one, two] = [node('a'), node('b')];
    one.facts.tell({ ...fact('a', 1, 1), type: 'call.status' } as CallEvent);
    await clock.advanceAsync(GATHER_MS);
    expect(placesOf(one.facts.logOf('call'))).toEqual([[1, 1]]);
    two.facts.tell({ ...fact('b', 2, 2), type: 'call.started' } as CallEvent);
    await clock.advanceAsync(GATHER_MS);
    expect(one.facts.newsOf('call')).toBeUndefined();
    expect(placesOf(two.facts.logOf('call'))).toEqual([[2, 2]]);
  });

  it('of a lower term are not heard behind those of a higher one', async () => {
    const { clock, node } = open();
    const [one, two, three] = [node('a'), node('b'), node('c')];
    two.facts.tell(fact('b', 2, 4));
    one.facts.tell(fact('a', 1, 3));
    await clock.advanceAsync(GATHER_MS);
    expect(placesOf(three.heard)).toEqual([[2, 4]]);
    expect(placesOf(two.heard)).toEqual([]);
  });

  it('wait for a broker that is away, and are told in their order', async () => {
    const { clock, cluster, node } = open();
    const [one, two] = [node('a'), node('b')];
    cluster.cut('a');
    for (const seq of [1, 2]) one.facts.tell(fact('a', 1, seq));
    await clock.advanceAsync(1000);
    expect(placesOf(one.facts.unheard('call'))).toEqual([
      [1, 1],
      [1, 2],
    ]);
    cluster.heal('a');
    await clock.advanceAsync(1000);
    expect(placesOf(two.heard)).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(one.facts.unheard('call')).toEqual([]);
  });

  it('of one call are found without a look at those of others, however many wait', async () => {
    const { cluster, node } = open();
    const one = node('a');
    cluster.cut('a');
    let looks = 0;
    for (let call = 0; call < 1000; call += 1)
      one.facts.tell({
        ...fact('a', 1, 1),
        get callId() {
          looks += 1;
          return `other-${call}`;
        },
      });
    one.facts.tell(fact('a', 1, 1));
    looks = 0;
    expect(placesOf(one.facts.unheard('call'))).toEqual([[1, 1]]);
    expect(looks).toBe(0);
  });

  it('of a call that is up keep half sentences until every node has heard them', async () => {
    const { cluster, node } = open();
    const one = node('a');
    const said = (seq: number, at: number, final: boolean) =>
      ({ ...fact('a', 1, seq), type: 'transcript.segment', entry: { final }, at }) as CallEvent;
    const seqs = () => one.facts.newsOf('call')?.map(({ seq }) => seq);
    one.facts.tell({ ...fact('a', 1, 1), type: 'call.started' } as CallEvent);
    one.facts.tell(said(2, 1000, false));
    one.facts.tell(said(3, 30_000, false));
    await one.facts.flushed();
    one.facts.tell(said(4, 30_001, true));
    await one.facts.flushed();
    expect(seqs()).toEqual([1, 2, 3, 4]);
    cluster.cut('a');
    one.facts.tell(said(5, 31_000, false));
    one.facts.tell(said(6, 90_000, true));
    expect(seqs()).toEqual([1, 4, 5, 6]);
  });

  it('that wait are no more than 50,000: the oldest are given up', () => {
    const { cluster, node } = open();
    const one = node('a');
    cluster.cut('a');
    for (let seq = 1; seq <= 50_002; seq += 1) one.facts.tell(fact('a', 1, seq, `call-${seq}`));
    expect(one.facts.waiting).toBe(50_000);
    expect([2, 3].map((seq) => one.facts.unheard(`call-${seq}`).length)).toEqual([0, 1]);
  });

  it('that are told again are counted', async () => {
    const { clock, telling } = open();
    const taken = [false, true];
    const { facts } = telling(() => taken.shift() === true);
    facts.tell(fact('a', 1, 1));
    expect(facts.retries).toBe(0);
    await clock.advanceAsync(1000);
    expect([facts.retries, taken]).toEqual([1, []]);
  });

  it('tell how late they come, as long as they do', async () => {
    const { clock, cluster } = open();
    const coordinator = cluster.node({ nodeId: 'b', address: 'http://b.test' });
    let hear: HearFact = () => {};
    coordinator.tail = (heard) => {
      hear = heard;
    };
    const facts = new ClusterFacts({ nodeId: 'b', clock, hear() {} });
    facts.start(coordinator);
    expect(facts.lateMs).toBe(0);
    hear(fact('a', 1, 1), coordinator.time.now() - 300);
    await clock.advanceAsync(4999);
    expect(facts.lateMs).toBe(300);
    await clock.advanceAsync(1);
    expect(facts.lateMs).toBe(0);
  });

  it('tell for how long none can come, until they do', async () => {
    const { clock, cluster, node } = open();
    const { facts } = node('a');
    await clock.advanceAsync(60_000);
    expect(facts.lateMs).toBe(0);
    cluster.cut('a');
    await clock.advanceAsync(20_000);
    expect(facts.lateMs).toBe(20_000);
    await clock.advanceAsync(20_000);
    expect(facts.lateMs).toBe(40_000);
    cluster.heal('a');
    expect(facts.lateMs).toBe(0);
  });

  it('tell for how long they wait for what is missing before them', async () => {
    const { clock, cluster } = open();
    let found = () => {};
    const between = () => new Promise<CallEvent[]>((resolve) => (found = () => resolve([])));
    const facts = new ClusterFacts({ nodeId: 'b', clock, between, hear() {} });
    const coordinator = cluster.node({ nodeId: 'b', address: 'http://b.test' });
    facts.start(coordinator);
    const one = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await one.append([fact('a', 1, 5)]);
    await clock.advanceAsync(6000);
    expect(facts.lateMs).toBe(6000);
    found();
    await clock.advanceAsync(0);
    expect(facts.lateMs).toBe(0);
  });
});
