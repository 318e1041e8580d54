// A node that was cut off for longer than the log reaches: what it missed it has from the others.
import { describe, expect, it } from 'vitest';
import { ClusterError } from '../../../src/base/errors.js';
import { ClusterFacts } from '../../../src/client/cluster/cluster-facts.js';
import { MissedFacts } from '../../../src/client/cluster/missed-facts.js';
import { answerRequest, type EndedCall } from '../../../src/client/cluster/requests.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import type { CallEvent, CallFact } from '../../../src/contract/call-event.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { MemoryStore } from '../../../src/stores/memory-store.js';
import { ended, started } from '../../support/call-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** Facts that the log keeps. */
const LOG_FACTS = 3;
const turn = (index: number): CallFact => ({ type: 'turn.started', turnIndex: index });
const said = (text: string, final = true): CallFact => ({
  type: 'transcript.segment',
  entry: { id: 'said', turnIndex: 0, role: 'user', text, at: 0, final },
});
const partial = (text: string) => said(text, false);

function open() {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock, LOG_FACTS);
  const node = async (nodeId: string) => {
    const store = new MemoryStore();
    const heard: CallEvent[] = [];
    const lost: string[] = [];
    const recalled: EndedCall[] = [];
    let asked = 0;
    const coordinator = cluster.node({ nodeId, address: `http://${nodeId}.test` });
    const facts: ClusterFacts = new ClusterFacts({
      nodeId,
      clock,
      hear: (fact) => {
        heard.push(fact);
        void store.append(fact);
      },
      between: (last, fact) => missed.between(last, fact),
      missed: () => void missed.catchUp(),
      untold: (callIds) => missed.show(callIds),
    });
    const takeOver = async (records: readonly CallRecord[]) => {
      lost.push(...records.map(({ callId }) => callId));
    };
    /** Calls that are up here. */
    const up = new Set<string>();
    const placesOf = async (callIds: readonly string[]) =>
      callIds.filter((id) => up.has(id)).map((callId) => ({ callId, state: 'live', term: 1 }) as const);
    const parts = {
      nodeId,
      clock,
      logger: new RecordedLogger(),
      coordinator,
      facts,
      store: () => store,
      placesOf,
      recall: (calls: readonly EndedCall[]) => void recalled.push(...calls),
      takeOver,
    };
    const missed = new MissedFacts(parts);
    const handlers = {
      news: (ask: Parameters<typeof missed.answer>[0]) => {
        asked += 1;
        return missed.answer(ask);
      },
      changed: missed.changed,
      ended: () => missed.ended(),
      'who-has': async ({ callIds }: { callIds: readonly string[] }) => ({ places: await placesOf(callIds) }),
    };
    const standing = { isDeaf: false, hearsOnly: undefined as string | undefined };
    const unheard: string[] = [];
    await coordinator.join({
      answer: (message, from) => {
        const { hearsOnly = message.type } = standing;
        if (message.type !== hearsOnly) unheard.push(message.type);
        if (standing.isDeaf || message.type !== hearsOnly)
          throw new ClusterError('The node does not answer.');
        return answerRequest(handlers as never, message, from);
      },
      outranked() {},
      emptied() {},
    });
    facts.start(coordinator);
    const seqs = new Map<string, number>();
    /** Without waiting for the broker. */
    const tell = async (callId: string, ...stated: readonly CallFact[]) => {
      for (const fact of stated) {
        const seq = (seqs.get(callId) ?? 0) + 1;
        seqs.set(callId, seq);
        const event = { ...fact, callId, nodeId, term: 1, seq, at: seq } as CallEvent;
        facts.tell(event);
        await store.append(event);
        if (fact.type === 'call.ended') up.delete(callId);
        else up.add(callId);
      }
    };
    const state = async (...told: Parameters<typeof tell>) => {
      await tell(...told);
      await facts.flushed();
      await clock.advanceAsync(0);
    };
    const asks = () => asked;
    return Object.assign(standing, {
      store,
      heard,
      recalled,
      unheard,
      lost,
      missed,
      up,
      facts,
      tell,
      state,
      asks,
    });
  };
  const cutOff = async (nodeId: string, during: () => Promise<unknown>) => {
    cluster.cut(nodeId);
    await during();
    cluster.heal(nodeId);
    await clock.advanceAsync(100);
  };
  return { clock, cluster, node, cutOff };
}

const seqsOf = (facts: readonly CallEvent[]) => facts.map(({ seq }) => seq);
/** More than the log keeps. */
const many = Array.from({ length: 5 }, (_, index) => turn(index));

describe('a node that was cut off for longer than the log reaches', () => {
  it('has what it missed of a call that is up, in order, with the half sentences of the last moments', async () => {
    const { node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('call', started());
    await cutOff('b', () => one.state('call', partial('He'), ...many));
    expect(seqsOf(two.heard)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await one.state('call', turn(5));
    expect(seqsOf(two.heard).at(-1)).toBe(8);
    expect(await two.store.get('call')).toMatchObject({ status: 'active', turnCount: 6 });
  });

  it('has the beginning of a call that began meanwhile', async () => {
    const { node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    await cutOff('b', () => one.state('call', started(), ...many));
    expect(seqsOf(two.heard)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await two.store.get('call')).toMatchObject({ status: 'active' });
  });

  it('hears that a call is over of which nothing is in the log any more', async () => {
    const { node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('call', started());
    await cutOff('b', async () => {
      await one.state('call', ended());
      await one.state('other', started(), ...many);
    });
    expect(await two.store.get('call')).toMatchObject({ status: 'completed' });
    expect(two.lost).toEqual([]);
  });

  it('has the calls that ended before it was there, each once, with what they cost', async () => {
    const { clock, node } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('first', started(), ended());
    await two.state('second', started(), turn(0), ended());
    await one.state('up', started(), ...many);
    const late = await node('c');
    await clock.advanceAsync(100);
    expect(late.heard.filter(({ callId }) => callId !== 'up')).toMatchObject([
      { callId: 'first', type: 'call.started' },
      { callId: 'first', type: 'call.ended' },
      { callId: 'second', type: 'call.started' },
      { callId: 'second', type: 'turn.started' },
      { callId: 'second', type: 'call.ended' },
    ]);
    expect(late.recalled.map(({ callId, endedAt }) => [callId, endedAt])).toEqual([
      ['first', 2],
      ['second', 3],
    ]);
    expect(late.missed.hasAsked).toBe(true);
    expect([one.lost, two.lost, late.lost]).toEqual([[], [], []]);
  });

  it('is told of calls that are over, however many are up, by whoever knows any', async () => {
    const { clock, node } = open();
    const one = await node('a');
    await one.state('over', started(), ended());
    for (let index = 0; index < 501; index += 1) await one.state(`up ${index}`, started());
    const others = [await node('b'), await node('c'), await node('d')];
    await clock.advanceAsync(100);
    // Only the last one of those that are asked answers.
    for (const silent of [one, ...others.slice(0, 2)]) silent.hearsOnly = 'nothing';
    const late = await node('e');
    await clock.advanceAsync(5000);
    expect(late.recalled.map(({ callId }) => callId)).toEqual(['over']);
  });

  it('asks no further for the calls of a node that does not answer', async () => {
    const { clock, node } = open();
    const one = await node('a');
    for (let index = 0; index < 50; index += 1) await one.state(`${index}`, started(), ended());
    one.hearsOnly = 'ended';
    const late = await node('b');
    await clock.advanceAsync(100);
    expect(late.missed.hasAsked).toBe(true);
    expect(late.recalled).toHaveLength(50);
    // The other one is for the call whose end stands in the log without its beginning.
    expect(one.unheard.filter((type) => type === 'news')).toHaveLength(2);
  });

  it('hears that a call was deleted', async () => {
    const { cluster, clock, node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('call', started(), ended());
    expect(await two.store.get('call')).toBeDefined();
    await cutOff('b', async () => {
      const forgotten = { type: 'call.forgotten', callId: 'call', nodeId: 'a', term: 2, seq: 3, at: 3 };
      one.facts.tell(forgotten as CallEvent);
      await one.store.append(forgotten as CallEvent);
      await one.state('other', started(), ...many);
    });
    expect(await two.store.get('call')).toBeUndefined();
    expect(cluster.log).toHaveLength(LOG_FACTS);
    expect(clock.pending).toBe(0);
  });

  it('leaves a call alone that is up and says nothing, and takes over one that no node has', async () => {
    const { node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('quiet', started());
    await one.state('lost', started());
    await cutOff('b', async () => {
      one.up.delete('lost');
      one.facts.leave('lost');
      await one.state('other', started(), ...many);
    });
    expect(two.lost).toEqual(['lost']);
  });

  it('has what another node is gone with that had told nobody, also of the calls that it had given to that one', async () => {
    const { cluster, node } = open();
    const [one, two, three] = [await node('a'), await node('b'), await node('c')];
    for (const callId of ['given', 'here', 'there']) await one.state(callId, started());
    one.up.delete('given');
    one.up.delete('there');
    two.up.add('there');
    three.up.add('given');
    await one.missed.takeLost();
    expect(one.lost).toEqual([]);
    cluster.nodes.delete('c');
    await one.missed.takeLost();
    await two.missed.takeLost();
    expect([one.lost, two.lost]).toEqual([['given'], ['given']]);
  });

  it('takes over no call that a node may have that does not answer, until its lease is over', async () => {
    const { clock, node, cutOff } = open();
    const [one, two, three] = [await node('a'), await node('b'), await node('c')];
    await one.state('call', started());
    await one.state('other', started());
    await cutOff('b', async () => {
      // It goes on at the third one, which says so, and stands still.
      one.up.delete('call');
      three.up.add('call');
      await one.state('other', ...many);
      three.isDeaf = true;
    });
    await clock.advanceAsync(3000);
    three.isDeaf = false;
    await clock.advanceAsync(3000);
    expect(two.lost).toEqual([]);
    three.up.delete('call');
    await cutOff('b', () => one.state('other', ...many));
    expect(two.lost).toEqual(['call']);
  });

  it('takes over no call of a node that has lost its lease, and answers: it is only cut off from the broker', async () => {
    const { cluster, clock, node, cutOff } = open();
    const [one, two, three] = [await node('a'), await node('b'), await node('c')];
    await one.state('call', started());
    cluster.cut('c', { reachesNodes: true });
    // The first one gives it there, which nobody hears of.
    one.up.delete('call');
    one.facts.leave('call');
    three.up.add('call');
    await clock.advanceAsync(6000);
    await cutOff('b', () => one.state('other', started(), ...many));
    await one.missed.takeLost();
    expect([one.lost, two.lost]).toEqual([[], []]);
    // Now it is gone.
    cluster.nodes.delete('c');
    await one.missed.takeLost();
    expect(one.lost).toEqual(['call']);
  });

  it('goes on with what it has where no node answers', async () => {
    const { node, cluster, clock } = open();
    const [one, two] = [await node('a'), await node('b')];
    await one.state('call', started());
    cluster.cut('b');
    await one.state('call', ...many);
    const nodeOfCall = cluster.nodes.get('a');
    cluster.nodes.delete('a');
    cluster.heal('b');
    await clock.advanceAsync(100);
    expect(seqsOf(two.heard)).toEqual([1, 4, 5, 6]);
    expect(two.lost).toEqual([]);
    expect(nodeOfCall).toBeDefined();
  });
});

describe('a node that stood still', () => {
  it('has the record of whoever went on with its call, without what it said to nobody', async () => {
    const { cluster, clock, node } = open();
    const [one, two, three] = [await node('a'), await node('b'), await node('c')];
    await one.state('call', started(), turn(0), partial('He'));
    const tell = async ({ facts, store }: typeof one, nodeId: string, term: number, stated: CallFact[]) => {
      for (const [index, fact] of stated.entries()) {
        const event = { ...fact, callId: 'call', nodeId, term, seq: 4 + index, at: 9 } as CallEvent;
        facts.tell(event);
        await store.append(event);
      }
    };
    cluster.cut('a');
    await tell(one, 'a', 1, [said('Hello'), turn(1), ended()]);
    await tell(two, 'b', 2, [turn(0), said('Yes'), ended()]);
    cluster.heal('a');
    await clock.advanceAsync(1000);
    const record = await two.store.get('call');
    expect(record).toMatchObject({ nodeId: 'b', turnCount: 1, transcript: [{ text: 'Yes' }] });
    expect(await one.store.get('call')).toEqual(record);
    expect(await three.store.get('call')).toEqual(record);
  });
});

describe('a node that hears everything', () => {
  it('asks nobody', async () => {
    const { clock, node } = open();
    const [one, two] = [await node('a'), await node('b')];
    await clock.advanceAsync(0);
    await one.state('call', started(), partial('He'), ...many, ended());
    await one.state('other', started(), ...many);
    expect(two.heard).toHaveLength(14);
    expect([one.asks(), two.asks()]).toEqual([0, 0]);
  });
});

describe('a node that cannot tell the broker', () => {
  it('tells the others which calls begin and end, and what they have missed of them until then', async () => {
    const { clock, cluster, node } = open();
    const [one, two, three] = [await node('a'), await node('b'), await node('c')];
    cluster.cut('a', { reachesNodes: true });
    await one.tell('new', started(), said('Hello.'));
    await clock.advanceAsync(500);
    for (const other of [two, three]) expect(seqsOf(other.heard)).toEqual([1, 2]);
    // Of what is said meanwhile, nothing: nobody has to go on with that.
    await one.tell('new', ...many);
    await clock.advanceAsync(5000);
    expect(seqsOf(two.heard)).toEqual([1, 2]);
    await one.tell('new', ended());
    await clock.advanceAsync(100);
    for (const other of [two, three]) {
      expect(seqsOf(other.heard)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(await other.store.get('new')).toMatchObject({ status: 'completed', seq: 8 });
    }
    cluster.heal('a');
    await clock.advanceAsync(5000);
    for (const other of [two, three]) expect(seqsOf(other.heard)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('tells nobody but the broker once that takes what it is told', async () => {
    const { clock, cluster, node, cutOff } = open();
    const [one, two] = [await node('a'), await node('b')];
    cluster.cut('a', { reachesNodes: true });
    await one.tell('first', started());
    await clock.advanceAsync(500);
    cluster.heal('a');
    await clock.advanceAsync(1000);
    const asks = one.asks();
    await one.state('second', started(), ended());
    await clock.advanceAsync(1000);
    expect(await two.store.get('second')).toMatchObject({ status: 'completed' });
    expect(one.asks()).toBe(asks);
    // One that reaches nobody at all tells it later.
    await cutOff('a', () => one.tell('third', started()));
    await clock.advanceAsync(1000);
    expect(await two.store.get('third')).toMatchObject({ status: 'active' });
  });
});
