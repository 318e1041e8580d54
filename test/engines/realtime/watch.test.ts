import { describe, expect, it } from 'vitest';
import { RealtimeWatch } from '../../../src/engines/realtime/watch.js';
import { FakeClock } from '../../support/fake-clock.js';
import { aConversation } from '../a-conversation.js';

function watch({ isReplaceable }: { isReplaceable: boolean }) {
  const clock = new FakeClock();
  const told: string[] = [];
  const conversation = aConversation({ clock, policy: { endsTurns: true } });
  const watching = new RealtimeWatch(conversation);
  const perform = ({ type }: { type: string }) => {
    if (type === 'respond' && !isAsking) told.push(`late ${clock.now()}`);
  };
  const live = { hasVoice: true, isCaughtUp: true, awaitsTools: false };
  conversation.drivenBy(
    { live, sound: { isDry: false, isFilling: false }, perform },
    {
      attempt: (task) => task(),
      context: {},
      ends: () => {},
      silent: () => void told.push(`silent ${clock.now()}`),
    },
  );
  let isAsking = false;
  const asks = () => {
    isAsking = true;
    conversation.tell({ type: 'asked' });
    isAsking = false;
  };
  const lost = (agoMs = 0) =>
    conversation.tell({ type: 'connection.lost', agoMs, unansweredMs: null, isAnswered: false });
  const back = () =>
    conversation.tell({ type: 'connection.back', isResponding: false, hearsAgain: false, gapMs: 0 });
  const opening = () => conversation.tell({ type: 'starts', isReplaceable });
  const tell = conversation.tell.bind(conversation);
  return { clock, told, watching, asks, lost, back, opening, tell };
}

function ready(options: { isReplaceable: boolean }) {
  const scene = watch(options);
  scene.opening();
  scene.tell({ type: 'ready' });
  return scene;
}

describe.each([
  [false, { openingMs: 4500, silentMs: 4000, lostMs: 3600 }],
  [true, { openingMs: 2000, silentMs: 2450, lostMs: 2500 }],
])('a model, replaceable: %s', (isReplaceable, { openingMs, silentMs, lostMs }) => {
  it('has so long to be ready', () => {
    const { clock, told, opening } = watch({ isReplaceable });
    opening();
    clock.advance(10_000);
    expect(told).toEqual([`silent ${openingMs}`]);
  });

  it('has so long to begin an answer that was asked for, and is asked once for one that was not', () => {
    const asked = ready({ isReplaceable });
    asked.asks();
    asked.clock.advance(10_000);
    expect(asked.told).toEqual([`silent ${silentMs}`]);
    const unasked = ready({ isReplaceable });
    unasked.tell({ type: 'owes', isAsked: false });
    unasked.clock.advance(silentMs / 2);
    unasked.asks();
    unasked.clock.advance(10_000);
    expect(unasked.told).toEqual([`late ${silentMs / 2}`, `silent ${silentMs}`]);
  });

  it('has less time for an answer when it has noticed late that the caller has finished', () => {
    const prompt = ready({ isReplaceable });
    prompt.tell({ type: 'caller.finished', itemId: 'a', agoMs: 500 });
    prompt.clock.advance(10_000);
    expect(prompt.told).toEqual([`late ${silentMs / 2}`, `silent ${silentMs}`]);
    const { clock, told, tell } = ready({ isReplaceable });
    tell({ type: 'caller.finished', itemId: 'a', agoMs: 1300 });
    clock.advance(silentMs / 2 - 400);
    expect(told).toEqual([`late ${silentMs / 2 - 400}`]);
    clock.advance(10_000);
    expect(told[1]).toBe(`silent ${silentMs - 800}`);
  });

  it('has the whole of what is left on another connection, also when it was late on the one before', () => {
    const { clock, told, asks, lost, back, tell } = ready({ isReplaceable });
    tell({ type: 'owes', isAsked: false });
    clock.advance(silentMs / 2);
    asks();
    lost();
    back();
    const backAt = clock.now();
    tell({ type: 'owes', isAsked: true, waitedMs: silentMs });
    clock.advance(10_000);
    expect(told[1]).toBe(`silent ${backAt + 1200}`);
  });

  it('has so long to find another connection', () => {
    const { clock, told, watching, lost } = ready({ isReplaceable });
    clock.advance(1000);
    lost();
    expect(watching.value.lost?.since).toBe(1000);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${1000 + lostMs}`]);
    expect(clock.pending).toBe(0);
  });

  it('has the time anew when another connection is lost before it was of use', () => {
    const { clock, told, watching, lost } = ready({ isReplaceable });
    lost();
    clock.advance(1000);
    lost();
    expect(watching.value.lost?.since).toBe(0);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${1000 + lostMs}`]);
  });

  it('knows since when a connection is dead that is found late', () => {
    const { clock, told, watching, lost } = ready({ isReplaceable });
    clock.advance(10_000);
    lost(3000);
    expect([watching.value.wait.since, watching.value.lost?.since]).toEqual([7000, 10_000]);
    clock.advance(10_000);
    expect(told).toEqual([`silent ${10_000 + lostMs}`]);
  });
});

describe('the time that the caller waits', () => {
  it('runs from the first moment that something is owed to the last sign of it', () => {
    const { clock, watching, asks, opening, tell } = watch({ isReplaceable: true });
    opening();
    clock.advance(500);
    asks();
    tell({ type: 'ready' });
    expect(watching.value.wait.since).toBe(0);
    clock.advance(500);
    tell({ type: 'began', isMore: false });
    clock.advance(300);
    watching.alive();
    expect(watching.value.wait.since).toBe(1300);
    tell({ type: 'response.ended', answer: 'none', hasTools: false });
    expect(watching.value.wait.since).toBeNull();
  });

  it('runs while there is no connection', () => {
    const { clock, told, watching, lost, back } = ready({ isReplaceable: true });
    expect(watching.value.wait.since).toBeNull();
    clock.advance(1000);
    lost();
    expect(watching.value.wait.since).toBe(1000);
    clock.advance(1000);
    back();
    expect([watching.value.wait.since, watching.value.lost]).toEqual([null, null]);
    clock.advance(10_000);
    expect(told).toEqual([]);
  });

  it('is over with the call', () => {
    const { clock, asks, lost, tell } = ready({ isReplaceable: false });
    asks();
    lost();
    tell({ type: 'watch.closed' });
    expect(clock.pending).toBe(0);
  });
});
