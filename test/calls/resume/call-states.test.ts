import { describe, expect, it } from 'vitest';
import { type CallState, decodeState } from '../../../src/calls/resume/call-state.js';
import { CallStates, type StateStore } from '../../../src/calls/resume/call-states.js';
import { Rounds } from '../../../src/base/rounds.js';
import type { CallEvent, CallFact } from '../../../src/contract/call-event.js';
import { EventBus } from '../../../src/events/bus.js';
import { ended, stamp, started } from '../../support/call-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** A store that takes its time: each write waits until it is let go. */
class SlowStore implements StateStore {
  readonly written: string[] = [];
  readonly removed: string[] = [];
  #go: (() => void)[] = [];
  isSlow = false;
  isTaking = true;
  declare rounds?: Rounds;

  async write(_: string, text: string): Promise<void> {
    if (this.isSlow) await new Promise<void>((resolve) => void this.#go.push(resolve));
    this.written.push(text);
  }
  async remove(callId: string): Promise<void> {
    this.removed.push(callId);
  }
  async letGo(clock: FakeClock): Promise<void> {
    for (const go of this.#go.splice(0)) go();
    await clock.advanceAsync(0);
  }
}

function setUp() {
  const clock = new FakeClock();
  const bus = new EventBus(new RecordedLogger(), clock);
  const store = new SlowStore();
  /** The call as it stands; its host tells which moment that is. */
  const live: { state: Omit<CallState, 'facts'> | undefined } = { state: undefined };
  const state = (host: string) => {
    live.state = { callId: 'call-1', host } as unknown as CallState;
  };
  state('0');
  const states = new CallStates({ store, bus, clock, unstored: () => unstored, stateOf: () => live.state });
  const unstored: CallEvent[] = [];
  const facts: CallEvent[] = [];
  let events: CallEvent[] = [];
  let seq = 0;
  const tell = (fact: CallFact, at = clock.wallNow()) => {
    events = stamp([fact], { callId: 'call-1', at });
    for (const event of events) {
      seq += 1;
      const fact = { ...event, seq };
      facts.push(fact);
      bus.publish(fact);
    }
  };
  const hosts = () => store.written.map((text) => decodeState(text)?.host);
  return { clock, store, states, unstored, live, state, tell, facts, hosts };
}

const said = (final: boolean, role: 'user' | 'agent' = 'user'): CallFact => ({
  type: 'transcript.segment',
  entry: { id: `${role}-1`, turnIndex: 0, role, text: 'Hello.', at: 5, final },
});

describe('what is kept of a live call', () => {
  it('is it as it stands once the fact has had its consequences', async () => {
    const { clock, state, tell, hosts } = setUp();
    tell(started());
    state('1');
    expect(hosts()).toEqual([]);
    await clock.advanceAsync(0);
    expect(hosts()).toEqual(['1']);
  });

  it('is the newest where the disk is slow, and nothing between', async () => {
    const { clock, store, state, tell, hosts } = setUp();
    store.isSlow = true;
    tell(started());
    await clock.advanceAsync(0);
    for (const moment of ['1', '2', '3']) {
      state(moment);
      tell(said(true));
    }
    await store.letGo(clock);
    await store.letGo(clock);
    expect(hosts()).toEqual(['0', '3']);
  });

  it('is written once in a while with those of other calls, but at first, when words are final, and where something waits for it', async () => {
    const { clock, store, states, state, tell, hosts } = setUp();
    store.rounds = new Rounds(clock, 100);
    tell(started());
    await clock.advanceAsync(10);
    for (const moment of ['1', '2']) {
      state(moment);
      tell(said(false, 'agent'));
      await clock.advanceAsync(10);
    }
    expect(hosts()).toEqual(['0']);
    await clock.advanceAsync(70);
    expect(hosts()).toEqual(['0', '2']);
    state('3');
    states.changed('call-1');
    await clock.advanceAsync(10);
    let isWritten = false;
    void states.written('call-1').then(() => {
      isWritten = true;
    });
    await clock.advanceAsync(0);
    expect([hosts(), isWritten]).toEqual([['0', '2', '3'], true]);
    state('4');
    states.changed('call-1');
    await clock.advanceAsync(10);
    tell(said(true));
    await clock.advanceAsync(0);
    expect(hosts()).toEqual(['0', '2', '3', '4']);
    state('5');
    states.changed('call-1');
    await clock.advanceAsync(10);
    tell(ended());
    await clock.advanceAsync(0);
    expect([hosts().at(-1), store.removed, clock.pending]).toEqual(['4', ['call-1'], 0]);
  });

  it('is not even made while nobody can take it, and is once it has changed after that', async () => {
    const { clock, store, states, live, tell } = setUp();
    let made = 0;
    const { state } = live;
    const encoded = () => {
      made += 1;
      return '1';
    };
    live.state = { ...state, host: { toJSON: encoded } as never } as never;
    store.isTaking = false;
    tell(started());
    await clock.advanceAsync(0);
    expect([made, store.written]).toEqual([0, []]);
    store.isTaking = true;
    states.changed('call-1');
    await clock.advanceAsync(0);
    expect([made, store.written.length]).toEqual([1, 1]);
  });

  it('has the facts of the last second with it', async () => {
    const { clock, store, tell } = setUp();
    tell(started());
    await clock.advanceAsync(700);
    tell(said(true));
    await clock.advanceAsync(700);
    tell({ type: 'dtmf.received', digit: '1' });
    await clock.advanceAsync(0);
    const kept = store.written.map((text) => decodeState(text)?.facts.map(({ type }) => type));
    expect(kept.at(-1)).toEqual(['transcript.segment', 'dtmf.received']);
  });

  it('has those with it that no disk has, however old they are', async () => {
    const { clock, store, unstored, tell, facts } = setUp();
    tell(started());
    await clock.advanceAsync(5000);
    tell(said(true));
    await clock.advanceAsync(2000);
    unstored.push(...facts.slice(-1));
    tell(said(true, 'agent'));
    unstored.push(...facts.slice(-1));
    await clock.advanceAsync(0);
    const kept = store.written.map((text) => decodeState(text)?.facts.map(({ seq }) => seq));
    expect(kept.at(-1)).toEqual(facts.slice(-2).map(({ seq }) => seq));
  });

  it('is not written for half a sentence of the caller, and is for each one that the agent begins', async () => {
    const { clock, store, tell } = setUp();
    tell(started());
    await clock.advanceAsync(0);
    tell({ type: 'phase.changed', phase: 'hearing' });
    tell(said(false));
    await clock.advanceAsync(0);
    expect(store.written).toHaveLength(1);
    tell({ type: 'phase.changed', phase: 'thinking' });
    await clock.advanceAsync(0);
    expect(store.written).toHaveLength(2);
    tell(said(false, 'agent'));
    await clock.advanceAsync(0);
    expect(store.written).toHaveLength(3);
  });

  it('is removed when the call is over, also behind a write that is under way', async () => {
    const { clock, store, states, live, tell } = setUp();
    store.isSlow = true;
    tell(started());
    await clock.advanceAsync(0);
    live.state = undefined;
    tell(ended());
    await clock.advanceAsync(0);
    expect(store.removed).toEqual([]);
    await store.letGo(clock);
    expect(store.removed).toEqual(['call-1']);
    await states.settled();
    // What still comes of it is in its record.
    tell({ type: 'hangup.updated', state: 'done' });
    await clock.advanceAsync(0);
    expect(store.written).toHaveLength(1);
  });

  it('is there before something is done outside, or half a second has passed', async () => {
    const { clock, store, states, state, tell, hosts } = setUp();
    tell(started());
    await clock.advanceAsync(0);
    state('tool');
    await Promise.all([states.written('call-1'), clock.advanceAsync(0)]);
    expect(hosts()).toEqual(['0', 'tool']);
    store.isSlow = true;
    let isDone = false;
    void states.written('call-1').then(() => {
      isDone = true;
    });
    await clock.advanceAsync(499);
    expect(isDone).toBe(false);
    await clock.advanceAsync(2);
    expect(isDone).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('is given away before it is on disk, where nothing older comes behind it', async () => {
    const { clock, store, states, live, state, tell, hosts } = setUp();
    store.isSlow = true;
    tell(started());
    await clock.advanceAsync(0);
    state('1');
    tell(said(true));
    const given = states.handOver('call-1', { ...live.state, host: 'given' } as CallState);
    live.state = undefined;
    expect(decodeState(given.text)).toMatchObject({
      host: 'given',
      facts: [{ type: 'call.started' }, { type: 'transcript.segment' }],
    });
    let isKept = false;
    void given.kept.then(() => {
      isKept = true;
    });
    await clock.advanceAsync(60_000);
    expect(hosts()).toEqual([]);
    await store.letGo(clock);
    expect([hosts(), isKept]).toEqual([['0'], false]);
    await store.letGo(clock);
    expect([hosts(), isKept]).toEqual([['0', 'given'], true]);
  });

  it('is written only once the process that has given it writes no more, as it is then', async () => {
    const { clock, store, states, state, tell, hosts } = setUp();
    let release = () => {};
    const free = new Promise<void>((resolve) => {
      release = resolve;
    });
    states.adopt('call-1', { free });
    tell(started());
    const waiting = states.written('call-1');
    await clock.advanceAsync(1000);
    await waiting;
    expect(store.written).toEqual([]);
    state('1');
    release();
    await clock.advanceAsync(0);
    expect(hosts()).toEqual(['1']);
  });

  it.each([
    ['has given it may have died', { free: Promise.resolve() }],
    ['has taken it over may die, too', {}],
  ])('is written although nothing happens in it, since the process that %s', async (_, about) => {
    const { clock, states, hosts } = setUp();
    states.adopt('call-1', about);
    await clock.advanceAsync(0);
    expect(hosts()).toEqual(['0']);
  });

  it('is removed behind the last write of the process that has given it', async () => {
    const { clock, store, states, live, tell } = setUp();
    let release = () => {};
    states.adopt('call-1', {
      free: new Promise<void>((resolve) => {
        release = resolve;
      }),
    });
    live.state = undefined;
    tell(ended());
    await clock.advanceAsync(1000);
    expect(store.removed).toEqual([]);
    release();
    await clock.advanceAsync(0);
    expect([store.written, store.removed]).toEqual([[], ['call-1']]);
  });

  it('is of no call that it has not heard of', async () => {
    const { states, store, clock } = setUp();
    states.changed('call-2');
    await states.written('call-2');
    await clock.advanceAsync(0);
    expect(store.written).toEqual([]);
  });
});
