import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { guardedStream } from '../../src/engines/guarded-stream.js';
import { FakeClock } from '../support/fake-clock.js';

/** Reads `source` until its second item, then gives it up, and tells what still came. */
async function givenUp(source: AsyncIterable<number>, clock = new FakeClock()): Promise<number[]> {
  const late: number[] = [];
  const abort = new AbortController();
  const options = { clock, signal: abort.signal, source: 'test', firstMs: 1000, nextMs: 1000 };
  for await (const item of guardedStream(source, { ...options, late: (number) => void late.push(number) }))
    if (item === 2) abort.abort();
  await clock.advanceAsync(10_000);
  expect(clock.pending).toBe(0);
  return late;
}

describe('guardedStream', () => {
  it('lets timers run while a source gives nothing, without end and without a wait', async () => {
    const most = 20_000;
    let given = 0;
    async function* endless() {
      for (; given < most; given += 1) yield new Int16Array(0);
    }
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1);
    const options = { clock: systemClock, signal: abort.signal, source: 'test', firstMs: 1000, nextMs: 1000 };
    for await (const chunk of guardedStream(endless(), options)) expect(chunk).toHaveLength(0);
    expect(abort.signal.aborted).toBe(true);
    expect(given).toBeLessThan(most);
  });
});

describe('guardedStream, given up', () => {
  it('tells what still comes, and no more than a hundred of it', async () => {
    async function* few() {
      yield* [1, 2, 3, 4];
    }
    expect(await givenUp(few())).toEqual([3, 4]);
    async function* endless() {
      for (let number = 1; ; number += 1) yield number;
    }
    expect(await givenUp(endless())).toHaveLength(100);
  });

  it('does not mind a source that fails or hangs', async () => {
    async function* failing() {
      yield* [1, 2, 3];
      throw new Error('late');
    }
    expect(await givenUp(failing())).toEqual([3]);
    async function* hanging() {
      yield* [1, 2];
      await new Promise(() => {});
      yield 3;
    }
    expect(await givenUp(hanging())).toEqual([]);
  });

  it('asks a source to end when nobody wants to hear the rest', async () => {
    let isEnded = false;
    async function* source() {
      try {
        yield* [1, 2, 3];
      } finally {
        isEnded = true;
      }
    }
    const abort = new AbortController();
    const options = { clock: new FakeClock(), signal: abort.signal, source: 'test', firstMs: 1, nextMs: 1 };
    for await (const item of guardedStream(source(), options)) if (item === 2) abort.abort();
    await options.clock.advanceAsync(0);
    expect(isEnded).toBe(true);
  });
});
