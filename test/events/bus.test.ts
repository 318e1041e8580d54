import { beforeEach, describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/contract/call-event.js';
import { EventBus } from '../../src/events/bus.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const CALL = stamp([started(), { type: 'turn.started', turnIndex: 0 }, ended()]);
const LATE = stamp([
  started(),
  { type: 'turn.started', turnIndex: 0 },
  ended(),
  { type: 'recording.completed', recording: { url: null, durationMs: 1, status: 'completed' } },
]).slice(3);

describe('EventBus', () => {
  let logger: RecordedLogger;
  let bus: EventBus;
  let clock: FakeClock;
  let heard: string[];
  const note =
    (name: string) =>
    (event: CallEvent): void => {
      heard.push(`${name} ${event.type}`);
    };
  const publish = (events: readonly CallEvent[]) => {
    for (const event of events) bus.publish(event);
  };

  beforeEach(() => {
    logger = new RecordedLogger();
    clock = new FakeClock();
    bus = new EventBus(logger, clock);
    heard = [];
  });

  it('delivers at once and in order, until unsubscribed', () => {
    const leave = bus.subscribe(note('a'));
    publish(CALL.slice(0, 2));
    leave();
    publish(CALL.slice(2));
    expect(heard).toEqual(['a call.started', 'a turn.started']);
  });

  it('a listener that throws or rejects is logged and felt by nobody', async () => {
    bus.subscribe(() => {
      throw new Error('secret content');
    });
    bus.subscribe(async () => {
      throw new TypeError('secret content');
    });
    bus.subscribe(note('b'));
    publish(CALL.slice(0, 1));
    await Promise.resolve();
    await Promise.resolve();
    expect(heard).toEqual(['b call.started']);
    expect(logger.sentences('error')).toEqual(['event listener failed', 'event listener failed']);
    expect(logger.text).not.toContain('secret content');
  });

  it('the end of a call waits for the durable stage, and what follows it keeps its place', async () => {
    let store = () => {};
    bus.subscribeDurable(async (event) => {
      if (event.type === 'call.ended') await new Promise<void>((resolve) => (store = resolve));
      heard.push(`durable ${event.type}`);
    });
    bus.subscribe(note('a'));
    publish([...CALL, ...LATE]);
    publish(stamp([started()], { callId: 'other' }));
    await Promise.resolve();
    expect(heard.filter((line) => line.startsWith('a'))).toEqual([
      'a call.started',
      'a turn.started',
      'a call.started',
    ]);
    store();
    await bus.settled();
    expect(heard.slice(-3)).toEqual(['durable call.ended', 'a call.ended', 'a recording.completed']);
  });

  it('waits a second for the durable stage and no longer', async () => {
    bus.subscribeDurable(() => new Promise(() => {}));
    bus.subscribe(note('a'));
    publish(CALL);
    await clock.advanceAsync(999);
    expect(heard).not.toContain('a call.ended');
    await clock.advanceAsync(1);
    expect(heard.at(-1)).toBe('a call.ended');
  });

  it('a durable listener that fails is logged, and the end is told all the same', async () => {
    bus.subscribeDurable(async () => {
      throw new Error('disk full');
    });
    bus.subscribeDurable(() => {
      throw new Error('disk full');
    });
    bus.subscribe(note('a'));
    publish(CALL);
    await bus.settled();
    expect(heard.at(-1)).toBe('a call.ended');
    expect(logger.sentences('error')).toHaveLength(6);
  });

  it('a fact published by a listener is heard by all after the one that caused it', () => {
    bus.subscribe((event) => {
      if (event.type === 'call.started') publish(CALL.slice(1, 2));
    });
    bus.subscribe(note('b'));
    publish(CALL.slice(0, 1));
    expect(heard).toEqual(['b call.started', 'b turn.started']);
  });
});
