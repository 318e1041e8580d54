import { describe, expect, it } from 'vitest';
import { PatientReader } from '../../../src/providers/fallback/patient-reader.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('a stream that never waits', () => {
  it('lets timers run', async () => {
    async function* endless() {
      for (;;) yield 0;
    }
    const reader = new PatientReader(endless, { clock: new FakeClock(), source: 'the model' });
    let hasRun = false;
    setTimeout(() => {
      hasRun = true;
    }, 1);
    let given = 0;
    for (; !hasRun && given < 100_000; given += 1) await reader.next(() => undefined);
    expect(hasRun).toBe(true);
    await reader.leave();
  });
});

describe('a stream that was given up', () => {
  it('is told to end after a while, though it never ends by itself', async () => {
    const source = { given: 0, ended: false };
    async function* endless() {
      try {
        for (;;) {
          source.given += 1;
          yield source.given;
        }
      } finally {
        source.ended = true;
      }
    }
    const clock = new FakeClock();
    const reader = new PatientReader(endless, { clock, source: 'the voice' });
    await reader.next(() => undefined);
    const late: number[] = [];
    await reader.leave((item) => late.push(item));
    expect(late.length).toBeGreaterThan(10);
    expect(source).toEqual({ given: late.length + 1, ended: true });
    expect(clock.pending).toBe(0);
  });
});
