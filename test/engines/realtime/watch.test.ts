import { describe, expect, it } from 'vitest';
import * as rules from '../../../src/conversation/watch.js';
import { Conversation } from '../../../src/engines/conversation.js';
import { RealtimeWatch } from '../../../src/engines/realtime/watch.js';
import { FakeClock } from '../../support/fake-clock.js';

function watch(options: { isReplaceable: boolean }) {
  const clock = new FakeClock();
  const told: string[] = [];
  const watching = new RealtimeWatch({
    ...options,
    conversation: new Conversation(clock),
    late: () => void told.push(`late ${clock.now()}`),
    silent: () => void told.push(`silent ${clock.now()}`),
  });
  return { clock, told, watching };
}

function ready(options: { isReplaceable: boolean }) {
  const scene = watch(options);
  scene.watching.opening();
  scene.watching.tell(rules.ready);
  return scene;
}

describe.each([
  [false, { openingMs: 4500, silentMs: 4000, lostMs: 3600 }],
  [true, { openingMs: 2000, silentMs: 2450, lostMs: 2500 }],
])('a model, replaceable: %s', (isReplaceable, { openingMs, silentMs, lostMs }) => {
  it('has so long to be ready', () => {
    const { clock, told, watching } = watch({ isReplaceable });
    watching.opening();
    clock.advance(10_000);
    expect(told).toEqual([`silent ${openingMs}`]);
  });

  it('has so long to begin an answer that was asked for, and is asked once for one that was not', () => {
    const asked = ready({ isReplaceable });
    asked.watching.owes({ isAsked: true });
    asked.clock.advance(10_000);
    expect(asked.told).toEqual([`silent ${silentMs}`]);
    const unasked = ready({ isReplaceable });
    unasked.watching.owes({ isAsked: false });
    unasked.clock.advance(silentMs / 2);
    unasked.watching.owes({ isAsked: true });
    unasked.clock.advance(10_000);
    expect(unasked.told).toEqual([`late ${silentMs / 2}`, `silent ${silentMs}`]);
  });

  it('has less time for an answer when it has noticed late that the caller has finished', () => {
    const prompt = ready({ isReplaceable });
    prompt.watching.tell((owing, at) => rules.owesCaller(owing, { agoMs: 500, at }));
    prompt.clock.advance(10_000);
    expect(prompt.told).toEqual([`late ${silentMs / 2}`]);
    const { clock, told, watching } = ready({ isReplaceable });
    watching.tell((owing, at) => rules.owesCaller(owing, { agoMs: 1300, at }));
    clock.advance(silentMs / 2 - 400);
    expect(told).toEqual([`late ${silentMs / 2 - 400}`]);
    watching.owes({ isAsked: true });
    clock.advance(10_000);
    expect(told[1]).toBe(`silent ${silentMs - 800}`);
  });

  it('has the whole of what is left on another connection, also when it was late on the one before', () => {
    const { clock, told, watching } = ready({ isReplaceable });
    watching.owes({ isAsked: false });
    clock.advance(silentMs / 2);
    watching.owes({ isAsked: true });
    watching.lost();
    watching.tell(rules.back);
    const backAt = clock.now();
    watching.owes({ isAsked: true, waitedMs: silentMs });
    clock.advance(10_000);
    expect(told[1]).toBe(`silent ${backAt + 1200}`);
  });

  it('has so long to find another connection', () => {
    const { clock, told, watching } = ready({ isReplaceable });
    clock.advance(1000);
    watching.lost();
    expect(watching.value.lost?.since).toBe(1000);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${1000 + lostMs}`]);
    expect(clock.pending).toBe(0);
  });

  it('has the time anew when another connection is lost before it was of use', () => {
    const { clock, told, watching } = ready({ isReplaceable });
    watching.lost();
    clock.advance(1000);
    watching.lost();
    expect(watching.value.lost?.since).toBe(0);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${1000 + lostMs}`]);
  });

  it('knows since when a connection is dead that is found late', () => {
    const { clock, told, watching } = ready({ isReplaceable });
    clock.advance(10_000);
    watching.lost(3000);
    expect([watching.value.wait.since, watching.value.lost?.since]).toEqual([7000, 10_000]);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${10_000 + lostMs}`]);
  });
});

describe('the time that the caller waits', () => {
  it('runs from the first moment that something is owed to the last sign of it', () => {
    const { clock, watching } = watch({ isReplaceable: true });
    watching.opening();
    clock.advance(500);
    watching.owes({ isAsked: true });
    watching.tell(rules.ready);
    expect(watching.value.wait.since).toBe(0);
    clock.advance(500);
    watching.tell(rules.began);
    clock.advance(300);
    watching.tell(rules.alive);
    expect(watching.value.wait.since).toBe(1300);
    watching.tell(rules.ended);
    expect(watching.value.wait.since).toBeNull();
  });

  it('runs while there is no connection', () => {
    const { clock, told, watching } = ready({ isReplaceable: true });
    expect(watching.value.wait.since).toBeNull();
    clock.advance(1000);
    watching.lost();
    expect(watching.value.wait.since).toBe(1000);
    clock.advance(1000);
    watching.tell(rules.back);
    expect([watching.value.wait.since, watching.value.lost]).toEqual([null, null]);
    clock.advance(10_000);
    expect(told).toEqual([]);
  });

  it('is over with the call', () => {
    const { clock, watching } = ready({ isReplaceable: false });
    watching.owes({ isAsked: true });
    watching.lost();
    watching.close();
    expect(clock.pending).toBe(0);
  });
});
