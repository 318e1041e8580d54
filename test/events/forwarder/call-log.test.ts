import { describe, expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../../src/contract/call-event.js';
import { CallLog } from '../../../src/events/forwarder/call-log.js';
import { reduceCall } from '../../../src/events/reduce.js';
import { ended, stamp, started } from '../../support/call-facts.js';

const CALL = { callId: 'call-1', nodeId: 'node-1', term: 1 };
const ALL = Number.MAX_SAFE_INTEGER;

function segment(id: string, text: string, final: boolean): CallFact {
  return { type: 'transcript.segment', entry: { id, turnIndex: 0, role: 'user', text, at: 1, final } };
}

function logOf(facts: readonly CallFact[], before = 0): { log: CallLog; events: CallEvent[] } {
  const log = new CallLog(CALL, { term: 1, seq: before });
  const events = stamp(facts).map((event) => ({ ...event, seq: event.seq + before }));
  for (const event of events) log.append(event);
  return { log, events };
}

/** What is sent, as [seq, after]. */
function sent(log: CallLog, maxLength = ALL): number[][] {
  return log.next(maxLength).events.map(({ seq, after }) => [seq, after ?? -1]);
}

const state = (seq: number, ended_ = false) => ({ term: 1, seq, ended: ended_, wanted: true });

describe('the log of a call', () => {
  it('sends what the dashboard does not have, each fact with the one before it', () => {
    const { log } = logOf([started(), { type: 'turn.started', turnIndex: 0 }, ended()]);
    expect(sent(log)).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    log.learn(state(2));
    expect(sent(log)).toEqual([[3, 2]]);
    log.learn(state(3, true));
    expect([log.isBehind, sent(log)]).toEqual([false, []]);
  });

  it('lets go of what a later fact makes needless, and gives the same record', () => {
    const facts = [
      started(),
      segment('a', 'w', false),
      segment('b', 'h', false),
      segment('a', 'wh', false),
      segment('a', 'wha', false),
      segment('b', 'hm', true),
      segment('a', 'what', true),
      ended(),
    ];
    const { log, events } = logOf(facts);
    expect(sent(log)).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [6, 3],
      [7, 6],
      [8, 7],
    ]);
    const record = (some: readonly CallEvent[]) =>
      some.reduce<ReturnType<typeof reduceCall> | undefined>(reduceCall, undefined);
    const plain = log.next(ALL).events.map(({ after: _after, ...event }) => event as CallEvent);
    expect(record(plain)).toEqual(record(events));
  });

  it('keeps the phase of now alone, and none behind the end', () => {
    const phases = (['listening', 'hearing', 'thinking'] as const).map(
      (phase): CallFact => ({ type: 'phase.changed', phase }),
    );
    const { log } = logOf([started(), ...phases]);
    expect(sent(log)).toEqual([
      [1, 0],
      [4, 1],
    ]);
    log.append({ ...CALL, seq: 5, at: 1, ...ended() });
    expect(sent(log)).toEqual([
      [1, 0],
      [5, 1],
    ]);
  });

  it('sends a piece at a time, and a fact that is larger alone', () => {
    const { log } = logOf([started(), segment('a', 'x'.repeat(5000), true), ended()]);
    expect(sent(log, 10)).toEqual([[1, 0]]);
    const { length } = log.next(ALL);
    expect(sent(log, length)).toHaveLength(3);
    expect(sent(log, length - 1)).toHaveLength(2);
    log.learn(state(1));
    expect(sent(log, 1000)).toEqual([[2, 1]]);
  });

  it('passes over a fact that is never taken', () => {
    const { log } = logOf([started(), { type: 'dtmf.received', digit: '1' }, ended()]);
    log.skip({ term: 1, seq: 2 });
    expect(sent(log)).toEqual([
      [1, 0],
      [3, 1],
    ]);
  });

  it('asks for what it let go of, and takes it from a store, or sends the call with a hole', () => {
    const { log, events } = logOf([started(), { type: 'dtmf.received', digit: '1' }, ended()]);
    log.shed();
    expect([log.count, log.length, log.lacksFacts]).toEqual([0, 0, true]);
    log.recover(events);
    expect([sent(log), log.lacksFacts]).toEqual([
      [
        [1, 0],
        [2, 1],
        [3, 2],
      ],
      false,
    ]);
    log.shed();
    log.append({ ...(events[2] as CallEvent), seq: 4 });
    log.recover(undefined);
    expect(sent(log)).toEqual([[4, 0]]);
  });

  it('that begins in the middle of a call asks first', () => {
    const { log } = logOf([ended()], 7);
    expect([log.isUnknown, log.isBehind]).toEqual([true, false]);
    log.learn(state(5));
    expect([log.isBehind, log.lacksFacts]).toEqual([true, true]);
  });

  it('goes on in a higher term behind facts that a dead process had sent and not written', () => {
    const { log } = logOf([started()]);
    log.append({ ...CALL, term: 2, seq: 2, at: 1, ...ended({ endReason: 'process-lost' }) });
    log.learn(state(5));
    expect(log.next(ALL).events).toMatchObject([{ term: 2, seq: 2, after: 1, afterTerm: 1 }]);
    log.append({ ...CALL, term: 2, seq: 3, at: 1, type: 'incident.noted', code: 'c', message: 'm' });
    log.learn({ ...state(2, true), term: 2 });
    expect(log.next(ALL).events).toMatchObject([{ term: 2, seq: 3, after: 2 }]);
    expect(log.next(ALL).events[0]).not.toHaveProperty('afterTerm');
  });

  it('that begins with a higher term takes the facts before from a store', () => {
    const [first, second] = stamp([started(), { type: 'dtmf.received', digit: '1' }]) as [
      CallEvent,
      CallEvent,
    ];
    const last = { ...CALL, term: 2, seq: 3, at: 1, ...ended() };
    const log = new CallLog(CALL, { term: 2, seq: 2 });
    log.append(last);
    expect(log.isUnknown).toBe(true);
    log.learn(state(0));
    expect([log.isBehind, log.lacksFacts]).toEqual([true, true]);
    log.recover([first, second, last]);
    expect(
      log.next(ALL).events.map(({ term, seq, after, afterTerm }) => [term, seq, after, afterTerm]),
    ).toEqual([
      [1, 1, 0, undefined],
      [1, 2, 1, undefined],
      [2, 3, 2, 1],
    ]);
  });

  it('says no more of a call that another process has taken over, to whatever dashboard', () => {
    const { log } = logOf([started(), { type: 'dtmf.received', digit: '1' }]);
    log.learn({ ...state(1), term: 2 });
    log.append({ ...CALL, seq: 3, at: 1, ...ended() });
    expect([log.count, log.length, log.isBehind, log.isUnknown]).toEqual([0, 0, false, false]);
    log.forget();
    expect([log.isUnknown, log.endedAt]).toEqual([false, 1]);
    log.learn(state(0));
    expect([log.isBehind, sent(log)]).toEqual([false, []]);
  });

  it('sends nothing of a call that is not wanted', () => {
    const { log } = logOf([started(), ended()]);
    log.learn({ ...state(0), wanted: false });
    expect(log.isBehind).toBe(false);
  });
});
