// Who goes on with a call that two nodes have, and what becomes of one that was given and not taken.
import { describe, expect, it } from 'vitest';
import { ClusterCalls } from '../../../src/client/cluster/cluster-calls.js';
import { ClusterError } from '../../../src/base/errors.js';
import { pause } from '../../../src/base/pause.js';
import { ClusterFacts } from '../../../src/client/cluster/cluster-facts.js';
import type { AnswerNode, KeptState } from '../../../src/cluster/coordinator.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

function open(
  standing: { term: number; hasStream: boolean; isPending?: boolean; isRefused?: boolean } | undefined,
) {
  const clock = new FakeClock();
  const done: unknown[] = [];
  /** What this node knows of the call. */
  const heard: {
    hasAll: boolean;
    hasEnded: boolean;
    closing: number | undefined;
    isOver: boolean;
    record: object | undefined;
  } = {
    hasAll: true,
    hasEnded: false,
    closing: undefined,
    isOver: false,
    record: undefined,
  };
  let isUp = standing !== undefined;
  const desk = {
    standing: () => (isUp ? standing : undefined),
    isLive: () => isUp,
    isInvited: () => false,
    isChoosing: () => false,
    hasEnded: () => heard.hasEnded,
    closingTerm: () => heard.closing,
    isOver: () => heard.isOver,
    expectsStream: () => true,
    giveInvited: () => undefined,
    learn: ({ callId, term }: { callId: string; term: number }) => done.push(['learned', callId, term]),
    inviteAgain: ({ callId }: CallRecord, { number, host }: { number: number; host: string }) => {
      done.push(['invited', callId, number, host]);
      return { type: 'stream', url: 'wss://any', parameters: {} };
    },
    liveCallIds: () => (isUp ? ['call'] : []),
    letGo: () => {
      isUp = false;
      return { text: 'state', kept: Promise.resolve() };
    },
  };
  const cluster = new MemoryCluster(clock);
  const coordinator = cluster.node({ nodeId: 'b', address: 'http://b.test' });
  const facts = new ClusterFacts({ nodeId: 'b', clock, hear() {} });
  Object.defineProperty(coordinator, 'hasHeardAll', { get: () => heard.hasAll });
  const parts = {
    nodeId: 'b',
    desk,
    facts,
    clock,
    logger: new RecordedLogger(),
    store: () => ({ get: async () => heard.record }),
    takeUp: async (callId: string, { state }: { state: string }, { term }: { term?: number }) => {
      done.push(['taken up', callId, state, term]);
    },
    inherit: async (inherited: ReadonlyMap<string, { term: number }>) => {
      for (const [callId, { term }] of inherited) done.push(['inherited', callId, term]);
    },
    outbid: (callId: string, term: number) => done.push(['raised', callId, term]),
    chosen: () => undefined,
  };
  const calls = new ClusterCalls(parts as never, coordinator, { answerWebhook: async () => undefined });
  return { clock, cluster, calls, coordinator, done, heard, parts };
}

describe('ClusterCalls', () => {
  it('go on in a higher term where two nodes have one in the same, and the stream is here', () => {
    const { calls, done } = open({ term: 2, hasStream: true });
    calls.outranked('call', { nodeId: 'a', term: 2 });
    expect(done).toEqual([['raised', 'call', 3]]);
  });

  it.each([
    ['in the same term, without a stream', { term: 2, hasStream: false }, 2, 3],
    ['in a lower term, with a stream', { term: 2, hasStream: true }, 3, 3],
  ])('are given up %s', async (_, standing, term, learned) => {
    const { calls, clock, done } = open(standing);
    calls.outranked('call', { nodeId: 'a', term });
    await clock.advanceAsync(500);
    expect(done).toEqual([['learned', 'call', learned]]);
  });

  it.each([
    ['has never had it', 2, [], 'raised', 3],
    ['has never had it, in a higher term', 3, [], 'raised', 4],
    ['has only invited it', 2, [{ callId: 'call', state: 'expected', term: 2 }], 'raised', 3],
    ['is about to have it', 3, [{ callId: 'call', state: 'expected', term: 3 }], 'learned', 3],
    ['has it', 2, [{ callId: 'call', state: 'live', term: 2 }], 'learned', 3],
  ])(
    'without a stream are given up to a node only if it has them: one that %s',
    async (_, term, places, what, result) => {
      const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: false });
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
      await other.join({ answer: async () => JSON.stringify({ places }), outranked() {}, emptied() {} });
      calls.outranked('call', { nodeId: 'a', term });
      await clock.advanceAsync(500);
      expect(done).toEqual([[what, 'call', result]]);
    },
  );

  it.each([
    ['has no stream', { state: 'live', term: 3 }, ['raised', 'call', 4]],
    ['has one', { state: 'live', term: 3, hasStream: true }, ['learned', 'call', 3]],
    ['has just got one', { state: 'arriving', term: 3 }, ['learned', 'call', 3]],
  ])('with a stream are given up to a node in a higher term only if it %s', async (_, place, result) => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: true });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const places = JSON.stringify({ places: [{ callId: 'call', ...place }] });
    await other.join({ answer: async () => places, outranked() {}, emptied() {} });
    calls.outranked('call', { nodeId: 'a', term: 3 });
    await clock.advanceAsync(500);
    expect(done).toEqual([result]);
  });

  it('are left by a process that stood still to whoever has taken them since, also where that is gone', async () => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: true });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await other.claim('call', 3);
    calls.letGoAll();
    await clock.advanceAsync(3000);
    expect(done).toEqual([]);
  });

  it('are taken over once everything was heard that the broker keeps', async () => {
    const { calls, clock, coordinator, done, heard } = open(undefined);
    heard.hasAll = false;
    const status = { callId: 'call', carrierCallId: 'CA1', begins: false, asks: true, host: 'a.test' };
    const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
    heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const answered = calls.answer(webhook, { ...status, since: clock.now() });
    await clock.advanceAsync(1600);
    expect(done).toEqual([]);
    heard.hasAll = true;
    heard.isOver = true;
    await clock.advanceAsync(1000);
    await answered;
    expect(done).toEqual([]);
    heard.isOver = false;
    void calls.answer(webhook, { ...status, since: clock.now() });
    await clock.advanceAsync(2500);
    expect(done).toEqual([['inherited', 'call', 3]]);
  });

  it('are claimed anew by a process that stood still as it took them over, unless another node has them', async () => {
    const { calls, clock, cluster, coordinator, done, heard, parts } = open(undefined);
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'c', address: 'http://c.test' });
    await other.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
    const inherited = parts.inherit;
    let stalls = 0;
    parts.inherit = async (won) => {
      await inherited(won);
      // What is under way by then is nobody's.
      expect(calls.claimedTerm('call')).toBe(3 + stalls);
      stalls += 1;
      calls.letGoAll();
      expect(calls.claimedTerm('call')).toBeUndefined();
      if (stalls === 2) await other.claim('call', 5);
    };
    const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
    const about = { callId: 'call', carrierCallId: 'CA1', begins: false, asks: true, host: 'a.test' };
    void calls.answer(webhook, { ...about, since: clock.now() });
    await clock.advanceAsync(4000);
    expect(done).toEqual([
      ['inherited', 'call', 3],
      ['inherited', 'call', 4],
    ]);
  });

  it('without a state end at one node, also where the broker is too slow for a webhook', async () => {
    const { calls, clock, cluster, coordinator, done, heard } = open(undefined);
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const faster = cluster.node({ nodeId: 'c', address: 'http://c.test' });
    await faster.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    await faster.claim('call', 3);
    const { claim, ownerOf } = coordinator;
    let asked = 0;
    const slow = async () => Promise.reject(new ClusterError('The broker does not answer.'));
    coordinator.claim = (id, term, patience) => {
      if (patience?.isUnhurried !== true) return slow();
      asked += 1;
      return claim.call(coordinator, id, term);
    };
    coordinator.ownerOf = (id, patience) =>
      patience?.isUnhurried === true ? ownerOf.call(coordinator, id) : slow();
    heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
    const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
    const about = { callId: 'call', carrierCallId: 'CA1', begins: false, asks: true, host: 'a.test' };
    void calls.answer(webhook, { ...about, since: clock.now() });
    await clock.advanceAsync(4000);
    expect([done, asked]).toEqual([[], 1]);
  });

  it.each([
    { where: 'tells their state', text: 'state', slowMs: 1900, owner: undefined, taken: ['state', 1900] },
    { where: 'has none', text: undefined, slowMs: 1900, owner: undefined, taken: [undefined, 1900] },
    { where: 'tells too late', text: 'state', slowMs: 5000, owner: undefined, taken: [undefined, 2000] },
    { where: 'names another node', text: undefined, slowMs: 1900, owner: 'c', taken: undefined },
  ])(
    'keep a caller waiting for a slow broker for two seconds in all, where it $where',
    async ({ text, slowMs, owner, taken }) => {
      const { calls, clock, coordinator, done, heard, parts } = open(undefined);
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const { claim } = coordinator;
      const slowly = async <T>(answer: T) => {
        await pause(clock, slowMs);
        return answer;
      };
      coordinator.claim = async (id, term, patience) => {
        if (patience?.isUnhurried !== true) throw new ClusterError('The broker does not answer.');
        return slowly(
          owner === undefined ? await claim.call(coordinator, id, term) : { nodeId: owner, term },
        );
      };
      const state = text === undefined ? undefined : { term: 2, text, at: 0 };
      let begun: number | undefined;
      coordinator.stateOf = () => {
        begun ??= clock.now();
        return slowly(state);
      };
      parts.inherit = async (won) => {
        for (const lost of won.values())
          done.push([(lost as { state?: KeptState }).state?.text, clock.now() - (begun ?? 0)]);
      };
      heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
      const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
      const about = { callId: 'call', carrierCallId: 'CA1', begins: false, asks: true, host: 'a.test' };
      void calls.answer(webhook, { ...about, since: clock.now() });
      await clock.advanceAsync(8000);
      expect(done).toEqual(taken === undefined ? [] : [taken]);
    },
  );

  it('are not taken over for a report by a node that reaches nobody', async () => {
    const { calls, clock, cluster, coordinator, done, heard } = open(undefined);
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    await cluster
      .node({ nodeId: 'a', address: '' })
      .join({ answer: async () => '', outranked() {}, emptied() {} });
    cluster.cut('b');
    heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
    const status = { callId: 'call', carrierCallId: 'CA1', begins: false, host: 'a.test' };
    const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
    void calls.answer(webhook, { ...status, asks: false, since: clock.now() });
    await clock.advanceAsync(3000);
    expect(done).toEqual([]);
    void calls.answer(webhook, { ...status, asks: true, since: clock.now() });
    await clock.advanceAsync(3000);
    // Another node may take it over, too: in another term.
    expect(done).toEqual([['inherited', 'call', 3 + 1 + 'b'.charCodeAt(0)]]);
  });

  it('are given with the same answer again, and gone on with where the other node is gone', async () => {
    const { calls, clock, done } = open({ term: 2, hasStream: true });
    const give = () => calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    const given = await give();
    expect(given).toMatchObject({ type: 'given', term: 2, state: 'state' });
    expect(await give()).toEqual(given);
    expect(await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'c' })).toEqual({
      type: 'elsewhere',
      nodeId: 'a',
    });
    expect(calls.isMoving).toBe(true);
    await clock.advanceAsync(2500);
    expect(done).toEqual([['taken up', 'call', 'state', 4]]);
    expect(calls.isMoving).toBe(false);
  });

  it.each([
    ['a webhook that rings again', 'webhook'],
    ['another stream', 'claim'],
  ])(
    'that were given are asked for where they are, for %s, while the broker still names this node',
    async (_, type) => {
      const { calls, clock, cluster, coordinator } = open({ term: 2, hasStream: true });
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      await coordinator.claim('call', 2);
      const asked: string[] = [];
      const answer: AnswerNode = async (message) => {
        asked.push(message.type);
        return JSON.stringify(type === 'claim' ? { type: 'refused' } : { type: 'answer', answer: 'theirs' });
      };
      const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
      await other.join({ answer, outranked() {}, emptied() {} });
      await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
      const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
      const about = { callId: 'call', carrierCallId: 'CA1', begins: true, asks: true, host: 'a.test' };
      const done =
        type === 'claim'
          ? calls.place('call', { carrierCallId: 'CA1', number: 3, isPassed: false }).catch(() => 'not taken')
          : calls.answer(webhook, { ...about, since: clock.now() });
      await clock.advanceAsync(50);
      expect(await done).toBe(type === 'claim' ? 'not taken' : 'theirs');
      expect(asked).toEqual([type]);
    },
  );

  it('are known no more where they cannot be gone on with', async () => {
    const { calls, clock, parts } = open({ term: 2, hasStream: true });
    parts.takeUp = async () => {
      throw new Error('The call is over.');
    };
    await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    await clock.advanceAsync(2500);
    expect(parts.logger.sentences('error')).toEqual(['the call could not be taken up again']);
    expect(parts.facts.newsOf('call')).toBeUndefined();
  });

  it('are on their way until the other node states a fact of them', async () => {
    const { calls } = open({ term: 2, hasStream: true });
    await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    calls.heard('call', 'c');
    expect(calls.isMoving).toBe(true);
    calls.heard('call', 'a');
    expect(calls.isMoving).toBe(false);
  });

  it('are not taken back where the other node has them', async () => {
    const { calls, cluster, clock, done } = open({ term: 2, hasStream: true });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const places = JSON.stringify({ places: [{ callId: 'call', state: 'live', term: 3 }] });
    await other.join({ answer: async () => places, outranked() {}, emptied() {} });
    await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    await clock.advanceAsync(2500);
    expect(done).toEqual([]);
    expect(calls.isMoving).toBe(false);
  });

  it('are not taken back where the node that they were given to has given them on', async () => {
    const { calls, cluster, clock, done } = open({ term: 2, hasStream: true });
    const places = [{ callId: 'call', state: 'live', term: 4 }];
    for (const [nodeId, own] of [
      ['a', []],
      ['c', places],
    ] as const) {
      const other = cluster.node({ nodeId, address: `http://${nodeId}.test` });
      const answer = async () => JSON.stringify({ places: own });
      await other.join({ answer, outranked() {}, emptied() {} });
    }
    await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    await clock.advanceAsync(2500);
    expect(done).toEqual([]);
    expect(calls.isMoving).toBe(false);
  });

  it('are let go at once by a process that stood still, and gone on with where nobody has them', async () => {
    const { calls, clock, done } = open({ term: 2, hasStream: true });
    calls.letGoAll();
    await clock.advanceAsync(2500);
    expect(done).toEqual([['taken up', 'call', 'state', 3]]);
  });

  it('are taken over of a node that is gone, where nobody else has them', async () => {
    const { calls, cluster, clock, done } = open(undefined);
    const others = cluster.node({ nodeId: 'c', address: 'http://c.test' });
    await others.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    await others.claim('theirs', 3);
    void calls.takeOver(['call', 'theirs'].map((callId) => ({ callId, nodeId: 'a', term: 2 }) as CallRecord));
    await clock.advanceAsync(2500);
    expect(done).toEqual([['inherited', 'call', 3]]);
  });

  const of = ({ logger }: { logger: RecordedLogger }) =>
    logger.lines
      .filter(({ sentence }) => /is gone/.test(sentence))
      .map(({ fields, sentence }) => [sentence, fields]);

  it('are taken over with a word in the log of whose they were, and why', async () => {
    const { calls, cluster, clock, done, parts } = open(undefined);
    const join = async (nodeId: string) => {
      const node = cluster.node({ nodeId, address: `http://${nodeId}.test` });
      await node.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
      return node;
    };
    const [, left] = [await join('killed'), await join('left')];
    await left.close();
    cluster.cut('killed');
    const records = ['killed', 'left', 'killed', 'unknown'].map((nodeId, index) => ({
      callId: `call-${index}`,
      nodeId,
      term: 2,
    }));
    void calls.takeOver(records as CallRecord[]);
    await clock.advanceAsync(2500);
    expect(done).toHaveLength(4);
    const sentence = 'a server is gone: this one takes over calls of it';
    expect(of(parts)).toEqual([
      [sentence, { calls: 2, address: 'http://killed.test', because: 'it does not answer' }],
      [sentence, { calls: 1, address: 'http://left.test', because: 'it has left in order' }],
      [sentence, { calls: 1, address: undefined, because: 'it does not answer' }],
    ]);
  });

  it('are taken over for a webhook with a word in the log of whose they were, once', async () => {
    const { calls, clock, cluster, coordinator, done, heard, parts } = open(undefined);
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await other.join({ answer: async () => '', outranked() {}, emptied() {} });
    cluster.cut('a');
    heard.record = { callId: 'call', nodeId: 'a', term: 2, status: 'active' };
    const about = { callId: 'call', carrierCallId: 'CA1', begins: false, asks: true, host: 'a.test' };
    const webhook = { method: 'POST', target: '/', headers: {}, rawBody: new Uint8Array() };
    for (let times = 0; times < 2; times += 1) {
      void calls.answer(webhook, { ...about, since: clock.now() });
      await clock.advanceAsync(3000);
    }
    expect(done).toEqual([['inherited', 'call', 3]]);
    expect(of(parts)).toEqual([
      [
        'the server of a call is gone: this one takes the call over',
        { callId: 'call', address: 'http://a.test', because: 'it does not answer' },
      ],
    ]);
  });

  it('are kept while they are taken over, however long the broker takes to say so', async () => {
    const { calls, clock, coordinator, done } = open(undefined);
    const stateOf = coordinator.stateOf.bind(coordinator);
    coordinator.stateOf = async (callId) => {
      calls.tidy();
      return stateOf(callId);
    };
    void calls.takeOver([{ callId: 'call', nodeId: 'a', term: 2 } as CallRecord]);
    await clock.advanceAsync(2500);
    expect(done).toEqual([['inherited', 'call', 3]]);
    expect(await coordinator.ownerOf('call')).toEqual({ nodeId: 'b', term: 3 });
  });

  it('are left to the node that has them by a process that stood still', async () => {
    const { calls, cluster, clock, done, coordinator } = open({ term: 2, hasStream: true });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const places = JSON.stringify({ places: [{ callId: 'call', state: 'live', term: 3 }] });
    await other.join({ answer: async () => places, outranked() {}, emptied() {} });
    calls.letGoAll();
    await clock.advanceAsync(500);
    expect(done).toEqual([]);
  });

  it.each([
    ['has it', { state: 'live', term: 2 }, ['learned', 'call', 3]],
    ['has it in a higher term', { state: 'expected', term: 4 }, ['learned', 'call', 4]],
    ['has seen its end', { state: 'ended', term: 3 }, ['learned', 'call', 3]],
    ['has only invited it', { state: 'expected', term: 2 }, undefined],
    ['has ended it in the same term', { state: 'ended', term: 2 }, undefined],
    ['had it before', { state: 'ended', term: 1 }, undefined],
    ['is closing it', { state: 'closing', term: 2 }, ['learned', 'call', 3]],
    ['is closing it in a higher term', { state: 'closing', term: 3 }, ['learned', 'call', 3]],
    ['is closing what was taken over here', { state: 'closing', term: 1 }, undefined, true],
    ['knows nothing of it', undefined, undefined],
    [
      'has seen its end before it was taken over here',
      { state: 'ended', term: 1 },
      ['learned', 'call', 3],
      true,
    ],
    [
      'has its stream, and it was taken from that',
      { state: 'live', term: 1, hasStream: true },
      ['learned', 'call', 3],
      true,
    ],
    ['has no stream of it, and leaves it to this one', { state: 'live', term: 1 }, undefined, true],
    ['has taken it over in the same term', { state: 'live', term: 2 }, ['learned', 'call', 3], true],
  ])(
    'end without a stream unless another node has them: one that %s',
    async (_, place, learned, isPending = false) => {
      const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: false, isPending });
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
      const places = place === undefined ? [] : [{ callId: 'call', ...place }];
      await other.join({ answer: async () => JSON.stringify({ places }), outranked() {}, emptied() {} });
      // Nodes answer also where the broker does not.
      cluster.cut('b', { reachesNodes: true });
      let isAsked = false;
      void calls.othersAsked('call').then(() => (isAsked = true));
      await clock.advanceAsync(500);
      expect(isAsked).toBe(true);
      expect(done).toEqual(learned === undefined ? [] : [learned]);
    },
  );

  it('may have been taken by another node that is not heard, until everything was heard again', async () => {
    const { calls, cluster, clock, coordinator, heard } = open({ term: 2, hasStream: true });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    heard.hasAll = false;
    // Alone.
    expect(calls.mayHaveTaken).toBe(false);
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await other.join({ answer: async () => '', outranked() {}, emptied() {} });
    expect(calls.mayHaveTaken).toBe(true);
    heard.hasAll = true;
    expect(calls.mayHaveTaken).toBe(false);
    cluster.cut('b');
    expect(calls.mayHaveTaken).toBe(true);
    await clock.advanceAsync(60_000);
    expect(calls.mayHaveTaken).toBe(true);
  });

  it.each([
    ['a stream of it is opened for whoever gets that, where nobody can be asked', false, 3, 'invited'],
    ['a report of it takes it from nobody, where nobody can be asked', false, undefined, undefined],
    ['it is taken over where another node can be asked', true, 3, 'inherited'],
  ])('of a node that does not answer: %s', async (_, isReached, nextStream, what) => {
    const { calls, clock, cluster, coordinator, done, heard } = open(undefined);
    heard.record = { callId: 'call', carrierCallId: 'CA1', nodeId: 'a', term: 2, seq: 4 };
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    for (const nodeId of ['a', 'c']) {
      const other = cluster.node({ nodeId, address: `http://${nodeId}.test` });
      await other.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    }
    cluster.cut('a');
    if (!isReached) cluster.cut('b');
    const webhook = {
      method: 'POST',
      target: '/webhooks/carrier-a/resume/call/3',
      headers: {},
      rawBody: Buffer.of(),
    };
    const subject = {
      callId: 'call',
      carrierCallId: 'CA1',
      begins: false,
      asks: nextStream !== undefined,
      nextStream,
    };
    const answered = calls.answer(webhook as never, { ...subject, host: 'b.test', since: clock.now() });
    await clock.advanceAsync(20_000);
    const answer = await answered;
    expect(done.map((each) => (each as string[])[0])).toEqual(what === undefined ? [] : [what]);
    if (what === 'invited') {
      expect(answer).toMatchObject({ type: 'stream' });
      expect(done).toEqual([['invited', 'call', 3, 'b.test']]);
    } else expect(answer).toBeUndefined();
    expect(calls.claimedTerm('call')).toBe(what === 'inherited' ? 3 : undefined);
  });

  it('that were given are not taken back while nobody can be asked who has them', async () => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: false });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const places = [{ callId: 'call', state: 'live', term: 3, hasStream: true }];
    await other.join({ answer: async () => JSON.stringify({ places }), outranked() {}, emptied() {} });
    const given = await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
    expect(given).toMatchObject({ type: 'given' });
    cluster.cut('b');
    await clock.advanceAsync(12_000);
    cluster.heal('b');
    await clock.advanceAsync(60_000);
    expect(done).toEqual([]);
    expect(calls.isMoving).toBe(false);
  });

  it('end no sooner than every node that may live has answered', async () => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 1, hasStream: false });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await other.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    const places = [{ callId: 'call', state: 'live', term: 2, hasStream: true }];
    const silent = cluster.node({ nodeId: 'c', address: 'http://c.test' });
    await silent.join({ answer: async () => JSON.stringify({ places }), outranked() {}, emptied() {} });
    cluster.cut('c');
    let isAsked = false;
    void calls.othersAsked('call').then(() => (isAsked = true));
    await clock.advanceAsync(4000);
    expect([isAsked, done]).toEqual([false, []]);
    cluster.heal('c');
    await clock.advanceAsync(1500);
    expect([isAsked, done]).toEqual([true, [['learned', 'call', 2]]]);
  });

  it.each([true, false])(
    'are not left to a node where their stream arrives, which has yet to ask for them (taken over here: %s)',
    async (isPending) => {
      const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: false, isPending });
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
      let place = { callId: 'call', state: 'arriving', term: isPending ? 1 : 2, hasStream: false };
      const answer = async () => JSON.stringify({ places: [place] });
      await other.join({ answer, outranked() {}, emptied() {} });
      let isAsked = false;
      void calls.othersAsked('call').then(() => (isAsked = true));
      await clock.advanceAsync(500);
      expect([isAsked, done]).toEqual([false, []]);
      const claimed = await calls.handlers.claim({ number: 2 }, { callId: 'call', from: 'a' });
      expect(claimed).toMatchObject({ type: 'given' });
      place = { callId: 'call', state: 'live', term: 3, hasStream: true };
      await clock.advanceAsync(1500);
      expect([isAsked, done]).toEqual([true, []]);
    },
  );

  it('end ten seconds after a node has stopped to answer, also while the broker still names it, and the next ones at once', async () => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 1, hasStream: false });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    for (const nodeId of ['a', 'c']) {
      const other = cluster.node({ nodeId, address: `http://${nodeId}.test` });
      await other.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    }
    cluster.cut('c');
    Object.defineProperty(coordinator, 'nodes', {
      value: () => ['a', 'b', 'c'].map((nodeId) => ({ nodeId, address: `http://${nodeId}.test` })),
    });
    const asked: string[] = [];
    const ask = (name: string) => void calls.othersAsked('call').then(() => asked.push(name));
    ask('one');
    await clock.advanceAsync(9000);
    expect(asked).toEqual([]);
    await clock.advanceAsync(3000);
    ask('two');
    await clock.advanceAsync(500);
    expect([asked, done]).toEqual([['one', 'two'], []]);
  });

  it.each([
    ['has it in a higher term', { state: 'live', term: 3 }, true],
    ['has its stream', { state: 'live', term: 2, hasStream: true }, true],
    ['has only taken it over', { state: 'live', term: 2 }, false],
    ['waits for a stream of it', { state: 'expected', term: 2 }, false],
    ['is closing it as well, and has a lower ID', { state: 'closing', term: 2 }, true],
    ['had it before', { state: 'live', term: 1, hasStream: true }, false],
  ] as const)(
    'that have ended here are left to a node that has them: one that %s',
    async (_, place, isTaken) => {
      const { calls, clock, cluster, coordinator } = open(undefined);
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
      const places = JSON.stringify({ places: [{ callId: 'call', ...place }] });
      await other.join({ answer: async () => places, outranked() {}, emptied() {} });
      const taken = calls.haveTaken('call', 2);
      await clock.advanceAsync(500);
      expect(await taken).toBe(isTaken);
    },
  );

  it.each([
    ['has it, whose stream is yet to come', { state: 'live', term: 1 }, 1],
    ['has had it to its end', { state: 'ended', term: 1 }, 1],
    ['has it in a lower term', { state: 'live', term: 0 }, 0],
    ['only invites its stream', { state: 'expected', term: 1 }, 0],
  ] as const)(
    'that the carrier does not answer for this node are left to another one: one that %s',
    async (_, place, left) => {
      // Whoever has the lower ID.
      for (const nodeId of ['a', 'c']) {
        const { calls, clock, cluster, coordinator, done } = open({
          term: 1,
          hasStream: false,
          isRefused: true,
        });
        await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
        const other = cluster.node({ nodeId, address: `http://${nodeId}.test` });
        const places = JSON.stringify({ places: [{ callId: 'call', ...place }] });
        await other.join({ answer: async () => places, outranked() {}, emptied() {} });
        void calls.othersAsked('call');
        await clock.advanceAsync(500);
        expect(done).toHaveLength(left);
      }
    },
  );

  it('that have ended here are closing while it is asked who states that', async () => {
    const { calls, heard } = open(undefined);
    const placesHere = () => calls.handlers['who-has']({ callIds: ['call'] }, { callId: '', from: 'a' });
    heard.hasEnded = true;
    expect((await placesHere()).places).toMatchObject([{ state: 'ended' }]);
    heard.closing = 2;
    expect((await placesHere()).places).toMatchObject([{ state: 'closing', term: 2 }]);
  });

  it('that have ended here are left once a node that has them can be asked', async () => {
    const { calls, clock, cluster, coordinator } = open(undefined);
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    const places = [{ callId: 'call', state: 'ended', term: 3 }];
    await other.join({ answer: async () => JSON.stringify({ places }), outranked() {}, emptied() {} });
    cluster.cut('b');
    const answers: boolean[] = [];
    void calls.haveTaken('call', 2).then((isTaken) => answers.push(isTaken));
    await clock.advanceAsync(2000);
    expect(answers).toEqual([]);
    cluster.heal('b');
    await clock.advanceAsync(1500);
    expect(answers).toEqual([true]);
    expect(await calls.haveTaken('call', 4)).toBe(false);
  });

  it('end without a stream at once where nobody else is there, and wait for an answer where somebody is', async () => {
    const { calls, clock, cluster, coordinator, done } = open({ term: 2, hasStream: false });
    await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
    cluster.cut('b');
    let asked = 0;
    const ask = () => void calls.othersAsked('call').then(() => (asked += 1));
    ask();
    await clock.advanceAsync(0);
    expect(asked).toBe(1);
    const other = cluster.node({ nodeId: 'a', address: 'http://a.test' });
    await other.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    ask();
    await clock.advanceAsync(55_000);
    expect(asked).toBe(1);
    await other.claim('call', 3);
    cluster.heal('b');
    await clock.advanceAsync(1500);
    expect([asked, done]).toEqual([2, [['learned', 'call', 3]]]);
    cluster.cut('b');
    ask();
    await clock.advanceAsync(62_000);
    expect(asked).toBe(3);
  });
});
