import { describe, expect, it } from 'vitest';
import { BrokerTime } from '../../../src/cluster/redis/broker-time.js';
import { FakeClock } from '../../support/fake-clock.js';

const HOUR_MS = 3_600_000;

function open() {
  const clock = new FakeClock();
  const time = new BrokerTime(clock);
  /** The broker, whose clock is ahead by so much, is asked. */
  const ask = (aheadMs: number, { thereMs = 1, backMs = 1 } = {}) => {
    clock.advance(thereMs);
    const at = clock.wallNow() + aheadMs;
    clock.advance(backMs);
    time.answered(at, thereMs + backMs);
  };
  return { clock, time, ask, aheadMs: () => time.now() - clock.wallNow() };
}

describe('BrokerTime', () => {
  it('is the clock of the node until the broker was heard', () => {
    const { time, aheadMs } = open();
    expect(aheadMs()).toBe(0);
    expect(time.formerNow()).toBeUndefined();
  });

  it.each([HOUR_MS, -HOUR_MS])(
    'is that of a broker whose clock is %i ms ahead, while it is away, too',
    (byMs) => {
      const { clock, ask, aheadMs } = open();
      ask(byMs);
      expect(aheadMs()).toBe(byMs);
      clock.advance(HOUR_MS);
      expect(aheadMs()).toBe(byMs);
    },
  );

  it('goes on where the clock of the node is set', () => {
    const { clock, time, ask } = open();
    ask(0);
    const before = time.now();
    clock.setWall(HOUR_MS);
    ask(-HOUR_MS);
    expect(time.now() - before).toBe(2);
  });

  it('is not moved by a slow answer that agrees, and by one that does not only as far as it shows', () => {
    const { ask, aheadMs } = open();
    ask(500);
    ask(500, { thereMs: 300, backMs: 0 });
    ask(500, { thereMs: 0, backMs: 300 });
    expect(aheadMs()).toBe(500);
    ask(5000, { thereMs: 300, backMs: 0 });
    expect(Math.abs(aheadMs() - 5000)).toBeLessThanOrEqual(150);
  });

  it('has the time before a step for a quarter of an hour, and not before what is none', () => {
    const { clock, time, ask } = open();
    ask(300);
    expect(time.formerNow()).toBeUndefined();
    ask(HOUR_MS);
    ask(HOUR_MS + 20);
    expect((time.formerNow() ?? 0) - clock.wallNow()).toBe(300);
    clock.advance(15 * 60_000);
    expect(time.formerNow()).toBeUndefined();
  });
});
