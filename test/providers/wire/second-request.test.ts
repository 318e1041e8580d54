import { beforeEach, describe, expect, it } from 'vitest';
import { askTwice, type SentRequest } from '../../../src/providers/wire/second-request.js';
import { FakeClock } from '../../support/fake-clock.js';

interface Sent extends SentRequest {
  answer(text: string): void;
  fail(sentence: string): void;
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('askTwice', () => {
  let clock: FakeClock;
  let sent: Sent[];
  const over = new AbortController();

  beforeEach(() => {
    clock = new FakeClock();
    sent = [];
  });

  const ask = ({ withinMs = 4000, signal = over.signal } = {}) =>
    askTwice<string>(
      (request) =>
        new Promise((resolve, reject) => {
          const fail = (sentence: string) => reject(new Error(sentence));
          request.signal.addEventListener('abort', () => fail('stopped'), { once: true });
          sent.push({ ...request, answer: resolve, fail });
        }),
      { clock, signal, withinMs, secondAfterMs: 1500 },
    );

  it('asks once where the answer is in time', async () => {
    const asked = ask();
    clock.advance(1499);
    sent[0]?.answer('early');
    expect(await asked).toEqual({ answer: 'early', sentAt: 0, isSecond: false });
    clock.advance(10_000);
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });

  it('takes the second answer when that is the first, and stops the other request', async () => {
    const asked = ask();
    clock.advance(1500);
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([4000, 2500]);
    sent[1]?.answer('again');
    expect(await asked).toEqual({ answer: 'again', sentAt: 1500, isSecond: true });
    expect(sent.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('does not stop the first request for the second', async () => {
    const asked = ask();
    clock.advance(1500);
    sent[0]?.answer('late');
    expect(await asked).toEqual({ answer: 'late', sentAt: 0, isSecond: false });
    expect(sent.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  });

  it('waits for the other one when one fails, and fails with the last', async () => {
    const asked = ask();
    clock.advance(1500);
    sent[1]?.fail('refused');
    await settle();
    sent[0]?.fail('gone');
    await expect(asked).rejects.toThrow('gone');
    expect(clock.pending).toBe(0);
  });

  it('does not ask again what was refused', async () => {
    const asked = ask();
    sent[0]?.fail('refused');
    await expect(asked).rejects.toThrow('refused');
    expect(clock.pending).toBe(0);
  });

  it('leaves the second half of a short time to the second request', () => {
    void ask({ withinMs: 1000 }).catch(() => {});
    clock.advance(500);
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 500]);
  });

  it('stops both with their signal, and asks no more', async () => {
    const gone = new AbortController();
    const asked = ask({ signal: gone.signal });
    gone.abort();
    await expect(asked).rejects.toThrow('stopped');
    clock.advance(5000);
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });
});
