import { describe, expect, it } from 'vitest';
import { CallRegistry, type InvitedCall } from '../../src/calls/call-registry.js';
import type { CallSession } from '../../src/calls/call-session.js';
import type { EndedCall } from '../../src/calls/ending/ended-call.js';
import { FakeClock } from '../support/fake-clock.js';

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60_000;
const LIMITS = {
  expected: { keepMs: 10_000, maxEntries: 2 },
  waiting: { keepMs: 600_000, maxEntries: 2 },
  ended: { keepMs: 2 * HOUR_MS, maxEntries: 1 },
  endedElsewhere: { keepMs: 2 * HOUR_MS, maxEntries: 2 },
  endedIds: { keepMs: 2 * HOUR_MS, maxIds: 8 },
};

const sessionOf = (callId: string, carrierCallId: string | null = null) =>
  ({ callId, carrierCallId }) as CallSession;
const endedOf = (callId: string, carrierCallId: string | null = null, isTakingLeave = false) =>
  ({ callId, carrierCallId, isTakingLeave }) as EndedCall;
const invited = (callId: string, carrierCallId: string) => ({ callId, carrierCallId }) as InvitedCall;
const reply = {
  reply: { status: 200, contentType: 'text/xml', body: '<a/>' },
  answer: 'busy',
  at: 0,
} as const;
const place = { holdsPlace: true };

function create(limits?: typeof LIMITS) {
  const clock = new FakeClock();
  return { clock, registry: new CallRegistry(clock, limits) };
}

describe('a call in the registry', () => {
  it('is found by either ID in every state, and takes its replies with it', () => {
    const { registry } = create();
    registry.repliesTo('CA1').set('d1', reply);
    expect(registry.find('CA1')).toEqual({ state: 'announced' });
    registry.invite(invited('c1', 'CA1'), place);
    const session = sessionOf('c1', 'CA1');
    const states = () => ['c1', 'CA1'].map((id) => registry.find(id)?.state);
    expect(states()).toEqual(['invited', 'invited']);
    registry.open(session, place);
    expect(states()).toEqual(['live', 'live']);
    expect([registry.liveCount, registry.sessions()]).toEqual([1, [session]]);
    registry.end(endedOf('c1', 'CA1'));
    expect(states()).toEqual(['ended', 'ended']);
    expect(registry.liveCount).toBe(0);
    expect(registry.repliesTo('CA1').get('d1')).toBe(reply);
  });

  it('that the carrier has named only by its end is announced', () => {
    const { registry } = create();
    const end = {
      type: 'status',
      status: 'completed',
      outcome: null,
      sequence: 1,
      carrierCallId: 'CA1',
      callId: null,
    } as const;
    registry.announce(end);
    expect(registry.find('CA1')).toEqual({ state: 'announced', end });
    expect(registry.hasEnded('CA1')).toBe(false);
  });

  it('has its ID at the carrier alone while it is live, and the next call has it after that', () => {
    const { registry } = create();
    const [first, second] = [sessionOf('c1'), sessionOf('c2')];
    registry.open(first, place);
    registry.open(second, place);
    expect(registry.claim('CA1', first)).toBe(true);
    expect(registry.claim('CA1', first)).toBe(true);
    expect(registry.claim('CA1', second)).toBe(false);
    registry.end(endedOf('c2', 'CA1'));
    expect(registry.session('CA1')).toBe(first);
    registry.end(endedOf('c1', 'CA1'));
    expect(registry.ended('CA1')?.callId).toBe('c1');
  });

  it('that is over is found by an ID that becomes known later', () => {
    const { registry } = create();
    registry.open(sessionOf('c1'), place);
    registry.end(endedOf('c1'));
    expect(registry.hasEnded('CA1')).toBe(false);
    registry.end(endedOf('c1', 'CA1'));
    expect([registry.hasEnded('CA1'), registry.ended('CA1')?.callId]).toEqual([true, 'c1']);
  });
});

describe('the place of a call', () => {
  it('is taken by an invitation for ten seconds, once for each call, and then by the session', () => {
    const { registry, clock } = create();
    registry.invite(invited('c1', 'CA1'), place);
    clock.advance(5 * SECOND_MS);
    registry.invite(invited('c1', 'CA1'), place);
    registry.invite(invited('c2', 'CA2'), place);
    registry.invite(invited('c3', 'CA3'), { holdsPlace: false });
    expect([registry.takenPlaces, registry.expectedCount]).toEqual([2, 2]);
    expect(['c1', 'CA2', 'c3'].map((id) => registry.holdsPlace(id))).toEqual([true, true, false]);
    registry.open(sessionOf('c2', 'CA2'), place);
    expect([registry.takenPlaces, registry.expectedCount]).toEqual([2, 1]);
    clock.advance(10 * SECOND_MS - 1);
    expect(registry.takenPlaces).toBe(2);
    clock.advance(1);
    expect([registry.takenPlaces, registry.expectedCount]).toEqual([1, 0]);
    expect(registry.find('c1')?.state).toBe('invited');
    registry.end(endedOf('c2', 'CA2'));
    expect(registry.takenPlaces).toBe(0);
  });

  it('is taken by a call that nobody signed for when its stream is there', () => {
    const { registry } = create();
    const session = sessionOf('c1', 'CA1');
    registry.open(session, { holdsPlace: false });
    expect([registry.takenPlaces, registry.liveCount]).toEqual([0, 1]);
    registry.takePlace(session);
    registry.takePlace(session);
    expect(registry.takenPlaces).toBe(1);
  });
});

describe('the registry forgets', () => {
  it('calls without a session after ten minutes, and the oldest first when there are too many', () => {
    const { registry, clock } = create(LIMITS);
    for (const id of ['1', '2', '3']) registry.invite(invited(`c${id}`, `CA${id}`), place);
    expect(['c1', 'CA1', 'c2', 'CA3'].map((id) => registry.find(id)?.state)).toEqual([
      undefined,
      undefined,
      'invited',
      'invited',
    ]);
    expect(registry.takenPlaces).toBe(2);
    clock.advance(600 * SECOND_MS);
    expect(registry.find('CA3')).toBeUndefined();
  });

  it('no call that is live', () => {
    const { registry, clock } = create(LIMITS);
    for (const id of ['1', '2', '3', '4']) registry.open(sessionOf(`c${id}`, `CA${id}`), place);
    clock.advance(48 * HOUR_MS);
    expect(registry.find('CA1')?.state).toBe('live');
    expect(registry.liveCount).toBe(4);
  });

  it('what is left of ended calls, but not for hours that they are over', () => {
    const { registry, clock } = create(LIMITS);
    for (const id of ['1', '2']) registry.end(endedOf(`c${id}`, `CA${id}`));
    expect(['c1', 'CA2'].map((id) => registry.ended(id)?.callId)).toEqual([undefined, 'c2']);
    clock.advance(HOUR_MS - 1);
    expect(['c1', 'CA1', 'c2', 'other'].map((id) => registry.hasEnded(id))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    clock.advance(HOUR_MS + 1);
    expect(['c1', 'c2'].map((id) => registry.hasEnded(id))).toEqual([false, false]);
  });

  it('the IDs of the calls that ended first when there are too many', () => {
    const { registry } = create(LIMITS);
    for (const id of ['1', '2', '1', '3', '4', '5']) registry.end(endedOf(`c${id}`, `CA${id}`));
    expect(['c1', 'c2', 'c5'].map((id) => registry.hasEnded(id))).toEqual([false, false, true]);
  });

  it('no call of which the carrier is still asked something', () => {
    const { registry, clock } = create(LIMITS);
    const leaving = { callId: 'c1', carrierCallId: null, isTakingLeave: true };
    registry.end(leaving as EndedCall);
    for (const id of ['2', '3']) registry.end(endedOf(`c${id}`));
    expect(['c1', 'c2', 'c3'].map((id) => registry.ended(id)?.callId)).toEqual(['c1', undefined, undefined]);
    clock.advance(5 * HOUR_MS);
    expect([registry.hasEnded('c1'), registry.hasEnded('c3')]).toEqual([true, false]);
    leaving.isTakingLeave = false;
    expect(registry.ended('c1')).toBeUndefined();
  });
});
