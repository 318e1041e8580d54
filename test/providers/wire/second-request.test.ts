import { beforeEach, describe, expect, it } from 'vitest';
import { AnswerTimes } from '../../../src/providers/wire/answer-times.js';
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
  let times: AnswerTimes;
  const over = new AbortController();

  beforeEach(() => {
    clock = new FakeClock();
    sent = [];
    times = new AnswerTimes();
  });

  const ask = ({ withinMs = 4000, signal = over.signal } = {}) =>
    askTwice<string>(
      (request) =>
        new Promise((resolve, reject) => {
          const fail = (sentence: string) => reject(new Error(sentence));
          request.signal.addEventListener('abort', () => fail('stopped'), { once: true });
          sent.push({ ...request, answer: resolve, fail });
        }),
      { clock, signal, withinMs, secondAfterMs: 1500, times },
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

  describe('of a server that is known', () => {
    /** Whether it was asked twice, by the times of both requests. */
    const askFor = async (tookMs: number, within = {}) => {
      sent = [];
      const asked = ask(within);
      clock.advance(tookMs);
      sent[0]?.answer('late');
      await asked;
      return sent.map(({ timeoutMs }) => timeoutMs);
    };

    it('asks one that takes half of the time twice once, and never again', async () => {
      const asked: number[][] = [];
      for (let count = 0; count < 20; count += 1) asked.push(await askFor(2000));
      expect(asked.map((requests) => requests.length)).toEqual([2, ...Array(19).fill(1)]);
    });

    it('waits half as long again as for the slowest recent answer', async () => {
      await askFor(1200);
      expect(await askFor(1799)).toHaveLength(1);
      times = new AnswerTimes();
      await askFor(1200);
      expect(await askFor(1801)).toEqual([4000, 2200]);
    });

    it('keeps to the usual time for a fast one', async () => {
      await askFor(300);
      expect(await askFor(1501)).toEqual([4000, 2500]);
    });

    it('forgets a slow answer when many fast ones have come', async () => {
      await askFor(2000);
      for (let count = 0; count < 4; count += 1) await askFor(300);
      expect(await askFor(1900)).toHaveLength(1);
      for (let count = 0; count < 7; count += 1) await askFor(300);
      expect(await askFor(1501)).toHaveLength(2);
    });

    it('learns while a request waits', async () => {
      const asked = ask();
      clock.advance(1000);
      times.answered(2000);
      clock.advance(1500);
      expect(sent).toHaveLength(1);
      sent[0]?.answer('late');
      await asked;
      expect(clock.pending).toBe(0);
    });

    it('measures the second answer from its own request', async () => {
      const asked = ask();
      clock.advance(1900);
      sent[1]?.answer('again');
      await asked;
      expect(times.slowestMs).toBe(400);
    });

    it('learns nothing of a request that failed', async () => {
      const asked = ask();
      sent[0]?.fail('refused');
      await expect(asked).rejects.toThrow('refused');
      expect(times.slowestMs).toBeUndefined();
    });
  });
});
