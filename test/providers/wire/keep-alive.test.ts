import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.js';
import { KeepAlive } from '../../../src/providers/wire/keep-alive.js';
import { FakeClock } from '../../support/fake-clock.js';

const EVERY_MS = 4000;

function open(clock: Clock) {
  const sentAt: number[] = [];
  const keepAlive = new KeepAlive(clock, {
    everyMs: EVERY_MS,
    socket: { send: () => sentAt.push(clock.now()) },
    text: 'here',
  });
  return { keepAlive, sentAt };
}

describe('KeepAlive', () => {
  it('sends once nothing else was sent for the time, until it is stopped', () => {
    const clock = new FakeClock();
    const { keepAlive, sentAt } = open(clock);
    keepAlive.start();
    clock.advance(3000);
    keepAlive.sent();
    clock.advance(3999);
    expect(sentAt).toEqual([]);
    clock.advance(1);
    clock.advance(4000);
    expect(sentAt).toEqual([7000, 11_000]);
    keepAlive.stop();
    clock.advance(60_000);
    expect(sentAt).toHaveLength(2);
  });

  it('sends and waits at any time of a clock, though the difference of two times is rounded', () => {
    // For some of these, the time of the timer less the time before is less than the period.
    const times = Array.from({ length: 20_000 }, (_, index) => 1000.1 + index * 7.313);
    expect(times.some((at) => at + EVERY_MS - at < EVERY_MS)).toBe(true);
    for (const startedAt of times) {
      let now = startedAt;
      const waits: { delayMs: number; task: () => void }[] = [];
      const clock: Clock = {
        now: () => now,
        wallNow: () => now,
        after(delayMs, task) {
          waits.push({ delayMs, task });
          return { cancel() {} };
        },
      };
      const { keepAlive, sentAt } = open(clock);
      keepAlive.start();
      for (let ring = 0; ring < 3 && sentAt.length === 0; ring += 1) {
        const wait = waits.at(-1);
        now += wait?.delayMs ?? 0;
        wait?.task();
      }
      expect(sentAt).toHaveLength(1);
    }
  });
});
