import { describe, expect, it } from 'vitest';
import { KeptStates } from '../../../src/client/cluster/kept-states.js';
import { FakeClock } from '../../support/fake-clock.js';

function open() {
  const clock = new FakeClock();
  const asked: string[] = [];
  const returned: number[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const terms = new Map([
    ['call', 1],
    ['other', 1],
  ]);
  const coordinator = {
    isThere: true,
    isReached: true,
    keepState: (callId: string, term: number, text: string) => {
      asked.push(`${callId} ${term} ${text}`);
      return new Promise<void>((resolve, reject) => {
        answers.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    },
  };
  const states = new KeptStates({
    clock,
    coordinator: () => coordinator as never,
    termOf: (callId) => terms.get(callId),
    returned: () => returned.push(clock.now()),
  });
  /** Whether a write is over. */
  const write = (callId: string, text: string) => {
    const written = { isOver: false };
    void states.write(callId, text).then(() => {
      written.isOver = true;
    });
    return written;
  };
  const answer = async (error?: Error) => {
    answers.shift()?.(error);
    await clock.advanceAsync(0);
  };
  return { clock, coordinator, states, asked, returned, terms, write, answer };
}

describe('KeptStates', () => {
  it('are waited for until the broker has them', async () => {
    const { clock, write, answer } = open();
    const written = write('call', 'one');
    await clock.advanceAsync(99);
    expect(written.isOver).toBe(false);
    await answer();
    expect(written.isOver).toBe(true);
  });

  it('hold nobody up for more than the time of a webhook, and reach the broker all the same', async () => {
    const { clock, asked, write } = open();
    const written = write('call', 'one');
    await clock.advanceAsync(100);
    expect([written.isOver, asked]).toEqual([true, ['call 1 one']]);
  });

  it('are given to a broker that is known to be slow, and not waited for', async () => {
    const { clock, coordinator, asked, write } = open();
    coordinator.isThere = false;
    const written = write('call', 'one');
    await clock.advanceAsync(0);
    expect([written.isOver, asked]).toEqual([true, ['call 1 one']]);
  });

  it('of one call are on their way one at a time, and the newest follows', async () => {
    const { coordinator, asked, write, answer } = open();
    coordinator.isThere = false;
    for (const text of ['one', 'two', 'three']) write('call', text);
    write('other', 'its own');
    expect(asked).toEqual(['call 1 one', 'other 1 its own']);
    await answer();
    expect(asked.slice(2)).toEqual(['call 1 three']);
    await answer();
    await answer();
    expect(asked).toHaveLength(3);
    write('call', 'four');
    expect(asked.slice(3)).toEqual(['call 1 four']);
  });

  it('follow also one that the broker did not take', async () => {
    const { asked, write, answer } = open();
    for (const text of ['one', 'two']) write('call', text);
    await answer(new Error('out of memory'));
    expect(asked).toEqual(['call 1 one', 'call 1 two']);
  });

  it('are not taken by a broker that is not reached, and all are kept again once it is', async () => {
    const { clock, coordinator, states, returned } = open();
    expect(states.isTaking).toBe(true);
    coordinator.isReached = false;
    for (let times = 0; times < 3; times += 1) expect(states.isTaking).toBe(false);
    await clock.advanceAsync(5000);
    expect(returned).toEqual([]);
    coordinator.isReached = true;
    await clock.advanceAsync(5000);
    expect(returned).toEqual([6000]);
    states.close();
    expect(clock.pending).toBe(0);
  });

  it('that were lost with the connection are kept again', async () => {
    const { clock, coordinator, returned, write, answer } = open();
    write('call', 'one');
    coordinator.isReached = false;
    await answer(new Error('the broker does not answer'));
    coordinator.isReached = true;
    await clock.advanceAsync(1000);
    expect(returned).toEqual([1000]);
  });

  it('of a call that is over do not follow', async () => {
    const { asked, terms, write, answer } = open();
    for (const text of ['one', 'two']) write('call', text);
    terms.delete('call');
    await answer();
    write('call', 'three');
    expect(asked).toEqual(['call 1 one']);
  });
});
