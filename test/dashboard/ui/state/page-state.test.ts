import { describe, expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../../../src/contract/call-event.js';
import type { CallPhase } from '../../../../src/contract/call-record.js';
import type { Snapshot } from '../../../../src/contract/dashboard-api.js';
import {
  applyAggregates,
  applyEvent,
  applyPage,
  applyRecord,
  applySnapshot,
  EMPTY_STATE,
  type PageState,
} from '../../../../src/dashboard/ui/state/page-state.js';
import { reduceCall } from '../../../../src/events/reduce.js';
import { aggregate, toSummary } from '../../../../src/events/summarize.js';
import { MemoryStore } from '../../../../src/stores/memory-store.js';
import { ended, stamp, started } from '../../../support/call-facts.js';

const cost = (total: number): CallFact => ({
  type: 'cost.updated',
  cost: { stt: total, llm: null, tts: null, telephony: null, total, currency: 'USD', estimated: true },
  usage: {
    sttSeconds: 0,
    llmInputTokens: 0,
    llmCachedTokens: 0,
    llmOutputTokens: 0,
    ttsCharacters: 0,
    telephonySeconds: 0,
  },
});

const call = (callId: string, at: number, ...facts: CallFact[]) => stamp(facts, { callId, at });
const recordOf = (events: readonly CallEvent[]) =>
  events.reduce<ReturnType<typeof reduceCall> | undefined>(reduceCall, undefined)!;
const play = (state: PageState, events: readonly CallEvent[]) => events.reduce(applyEvent, state);

function snapshotOf(active: readonly CallEvent[][], over: readonly CallEvent[][]): Snapshot {
  const records = { active: active.map(recordOf), over: over.map(recordOf) };
  return {
    active: records.active,
    recent: records.over.map(toSummary),
    aggregates: aggregate([...records.active, ...records.over]),
    controls: true,
    isSignedIn: false,
    canListen: false,
    entry: null,
  };
}

const A = call('a', 1000, started(), cost(0.5), ended());
const B = call('b', 2000, started(), cost(0.25));
const historyOf = (state: PageState) => state.history.map((summary) => summary.callId);

describe('the state of the page', () => {
  it('follows the phase of a call to its end', () => {
    const phase = (name: CallPhase): CallFact => ({ type: 'phase.changed', phase: name });
    const events = call('p', 1000, started(), phase('hearing'), phase('thinking'), ended());
    const snapshot = snapshotOf([events.slice(0, 2)], []);
    const before = applySnapshot(EMPTY_STATE, snapshot);
    expect(before.active.get('p')?.phase).toEqual({ name: 'hearing', since: 1010 });
    const after = play(before, events.slice(2, 3));
    expect(after.active.get('p')?.phase).toEqual({ name: 'thinking', since: 1020 });
    expect(play(after, events).history.map((summary) => summary.phase)).toEqual([null]);
  });

  it('adds what a call costs, and that it is over, to the figures of a range that it is in, and to no others', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], []));
    const late = applyAggregates(start, aggregate([]), { from: 1500, to: 9000 });
    const inside = play(late, [...B, { ...call('b', 9000, ended())[0]!, seq: 3 }]);
    expect(inside.aggregates).toMatchObject({ totalCost: 0.25, completedCalls: 1 });
    const outside = play(late, A);
    expect(outside.aggregates).toEqual(aggregate([]));
    expect(historyOf(outside)).toEqual(['a']);
    expect(play(late, call('after', 9000, ended())).aggregates).toEqual(aggregate([]));
    const amended = play(inside, [{ ...call('b', 9100, cost(0.5))[0]!, seq: 4 }]);
    expect(amended.aggregates).toMatchObject({ totalCost: 0.5, completedCalls: 1 });
  });

  it('counts no more ended calls than a full server keeps, but those of one that keeps more', () => {
    for (const [kept, counted] of [
      [499, 500],
      [500, 500],
      [505, 506],
    ]) {
      const aggregates = { ...aggregate([]), completedCalls: kept ?? 0 };
      const start = applySnapshot(EMPTY_STATE, { ...snapshotOf([B], [A]), aggregates });
      const after = applyEvent(start, { ...call('b', 9000, ended())[0]!, seq: 3 });
      expect(after.aggregates?.completedCalls).toBe(counted);
    }
  });

  it('moves an ended call from the live ones to the top of the history', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([B], [A]));
    const state = applyEvent(start, { ...call('b', 9000, ended())[0]!, seq: 3 });
    expect([...state.active.keys()]).toEqual([]);
    expect(historyOf(state)).toEqual(['b', 'a']);
    expect(state.ended.get('b')?.durationMs).toBe(7000);
    expect(state.aggregates?.completedCalls).toBe(2);
  });

  it('is the same whether facts came in the snapshot or behind it, and when they come twice', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], [A]));
    const state = play(start, [...B, ...B]);
    const whole = applySnapshot(EMPTY_STATE, snapshotOf([B], [A]));
    expect(state.active).toEqual(whole.active);
    expect(state.aggregates).toMatchObject({
      totalCost: whole.aggregates?.totalCost,
      costBreakdown: whole.aggregates?.costBreakdown,
    });
    expect(play(state, A)).toEqual(state);
  });

  it('has calls of the same moment in the order in which the server lists them', async () => {
    const calls = ['b', 'd', 'a', 'c'].map((callId) => call(callId, 1000, started(), ended()));
    const store = new MemoryStore();
    for (const event of calls.flat()) await store.append(event);
    const listed = (await store.list({ limit: 10 })).calls.map(({ callId }) => callId);
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], []));
    expect(historyOf(play(start, calls.flat()))).toEqual(listed);
  });

  it('adds a late cost to the history and to the total, once', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], [A]));
    const late = { ...call('a', 5000, cost(0.75))[0]!, seq: 4 };
    const state = play(start, [late, late]);
    expect(state.history[0]?.cost.total).toBe(0.75);
    expect(state.aggregates?.totalCost).toBe(0.75);
    expect(state.aggregates?.costBreakdown.stt).toBe(0.75);
  });

  it('takes a call that was supposed to be over from the history when a snapshot shows it up', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([B], [A]));
    const supposed = applyEvent(start, { ...call('b', 9000, ended())[0]!, seq: 3 });
    const state = applySnapshot(supposed, snapshotOf([B], [A]));
    expect([...state.active.keys()]).toEqual(['b']);
    expect(historyOf(state)).toEqual(['a']);
    expect(state.ended.has('b')).toBe(false);
  });

  it('forgets a whole record of which a snapshot knows more', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([B], []));
    const state = applyEvent(start, { ...call('b', 9000, ended())[0]!, seq: 3 });
    const more = [...B, { ...call('b', 9000, ended())[0]!, seq: 3 }];
    expect(applySnapshot(state, snapshotOf([], [more])).ended.has('b')).toBe(true);
    const late = { ...call('b', 9500, cost(0.75))[0]!, seq: 4 };
    expect(applySnapshot(state, snapshotOf([], [[...more, late]])).ended.has('b')).toBe(false);
  });

  it('adds an incident that comes after the end', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], [A]));
    const incident: CallFact = { type: 'incident.noted', code: 'X', message: 'm' };
    const late = { ...call('a', 5000, incident)[0]!, seq: 4 };
    expect(play(start, [late, late]).history[0]?.incidents).toMatchObject([{ code: 'X' }]);
  });

  it('opens no call for a late fact of one that it does not show', () => {
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], []));
    expect(applyEvent(start, { ...call('old', 1, cost(1))[0]!, seq: 40 })).toBe(start);
  });

  it('keeps older pages over a new snapshot that meets them, and drops them over one that does not', () => {
    const old = call('old', 10, started(), ended());
    const start = applySnapshot(EMPTY_STATE, snapshotOf([], [A]));
    const paged = applyPage(start, { calls: [toSummary(recordOf(old))], nextCursor: 'c', total: 9 });
    expect(historyOf(paged)).toEqual(['a', 'old']);
    const met = applySnapshot(paged, snapshotOf([], [call('n', 3000, started(), ended()), A]));
    expect(historyOf(met)).toEqual(['n', 'a', 'old']);
    const apart = applySnapshot(paged, snapshotOf([], [call('n', 3000, started(), ended())]));
    expect(historyOf(apart)).toEqual(['n']);
  });

  describe('a call that is deleted', () => {
    const deletion = (callId: string): CallEvent => ({
      type: 'call.forgotten',
      ...{ callId, nodeId: 'node', term: 2, seq: 1, at: 9000 },
    });
    const old = call('old', 10, started(), ended());

    it('leaves the page, its figures, and what was fetched of it', () => {
      const over = recordOf(A);
      const start = applyRecord(applySnapshot(EMPTY_STATE, snapshotOf([B], [A, old])), over);
      const after = applyEvent(start, deletion('a'));
      expect([historyOf(after), [...after.ended.keys()], [...after.active.keys()]]).toEqual([
        ['old'],
        [],
        ['b'],
      ]);
      expect(after.forgotten.has('a')).toBe(true);
      expect(after.aggregates).toMatchObject({
        totalCalls: 2,
        completedCalls: 1,
        activeCalls: 1,
        totalCost: 0.25,
      });
      expect(JSON.stringify([...after.ended, after.history])).not.toContain('"a"');
    });

    it('does not come back with a late fact', () => {
      const after = applyEvent(applySnapshot(EMPTY_STATE, snapshotOf([], [A, old])), deletion('a'));
      expect(play(after, [{ ...call('a', 9000, cost(9))[0]!, seq: 40 }])).toBe(after);
    });

    it('is not kept over a snapshot or a page that it has left', () => {
      const N = call('n', 3000, started(), ended());
      const start = applySnapshot(EMPTY_STATE, snapshotOf([], [N, A, old]));
      expect(historyOf(applySnapshot(start, snapshotOf([], [N, old])))).toEqual(['n', 'old']);
      const without = {
        calls: [N, A].map((events) => toSummary(recordOf(events))),
        nextCursor: null,
        total: 2,
      };
      expect(historyOf(applyPage(start, without))).toEqual(['n', 'a']);
    });

    it('that is not on the page changes nothing that is', () => {
      const start = applySnapshot(EMPTY_STATE, snapshotOf([B], [A]));
      expect({ ...applyEvent(start, deletion('x')), forgotten: start.forgotten }).toEqual(start);
    });
  });
});
