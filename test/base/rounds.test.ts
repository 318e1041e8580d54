import { describe, expect, it } from 'vitest';
import { Rounds } from '../../src/base/rounds.js';
import { FakeClock } from '../support/fake-clock.js';

function open() {
  const clock = new FakeClock();
  const rounds = new Rounds(clock, 100);
  const over: string[] = [];
  const wait = (name: string) => {
    const one = rounds.next();
    void one.over.then(() => over.push(`${name} ${clock.now()}`));
    return one;
  };
  return { clock, over, wait };
}

describe('Rounds', () => {
  it('are the same for all who wait, by one timer', async () => {
    const { clock, over, wait } = open();
    await clock.advanceAsync(30);
    wait('one');
    await clock.advanceAsync(50.5);
    wait('two');
    expect(clock.pending).toBe(1);
    await clock.advanceAsync(19.5);
    expect(over).toEqual(['one 100', 'two 100']);
    wait('three');
    await clock.advanceAsync(100);
    expect([over.at(-1), clock.pending]).toEqual(['three 200', 0]);
  });

  it('wait for nobody whose wait was ended', async () => {
    const { clock, over, wait } = open();
    const [one, two] = [wait('one'), wait('two')];
    one.end();
    one.end();
    await clock.advanceAsync(0);
    expect([over, clock.pending]).toEqual([['one 0'], 1]);
    two.end();
    await clock.advanceAsync(0);
    expect([over, clock.pending]).toEqual([['one 0', 'two 0'], 0]);
    wait('three');
    one.end();
    await clock.advanceAsync(100);
    expect(over.at(-1)).toBe('three 100');
  });
});
