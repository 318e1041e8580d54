import { describe, expect, it } from 'vitest';
import { HeldReports } from '../../../src/engines/fallback/held-reports.js';

interface Events {
  used(amount: number): void;
  noted(text: string): void;
}

function heard(): Events & { told: unknown[] } {
  const told: unknown[] = [];
  return { told, used: (amount) => void told.push(amount), noted: (text) => void told.push(text) };
}

function reports() {
  const held = new HeldReports<Events, number>();
  const use = (usage: number) => held.add({ usage, tell: (events) => events.used(usage) });
  const note = (text: string) => held.add({ tell: (events) => events.noted(text) });
  use(1);
  note('replaced');
  use(2);
  return { held, use };
}

describe('what a session told before there was an engine', () => {
  it('is told in its order, and everything later at once', () => {
    const { held, use } = reports();
    const events = heard();
    expect(held.events).toBeUndefined();
    held.release(events);
    use(3);
    expect(events.told).toEqual([1, 'replaced', 2, 3]);
    expect(held.takeUsage()).toEqual([]);
  });

  it('is only what it used when another session takes its place', () => {
    const { held, use } = reports();
    const events = heard();
    held.settle(events);
    use(3);
    expect(events.told).toEqual([1, 2, 3]);
  });

  it('is what it used where no engine comes, once', () => {
    const { held } = reports();
    expect(held.takeUsage()).toEqual([1, 2]);
    expect(held.takeUsage()).toEqual([]);
  });

  it('is bounded', () => {
    const { held, use } = reports();
    for (let count = 0; count < 5000; count += 1) use(1);
    expect(held.takeUsage()).toHaveLength(999);
    use(4);
    expect(held.takeUsage()).toEqual([4]);
  });
});
