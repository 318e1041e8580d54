import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkOrder } from '../../../src/carriers/carrier-b/chunk-order.js';

const piece = (number: number) => Uint8Array.of(number % 256);

/** What comes out for each number that goes in; an empty list where nothing does. */
function run(numbers: readonly number[]): number[][] {
  const order = new ChunkOrder();
  return numbers.map((number) => [...(order.receive(String(number), piece(number)) ?? [])]);
}

describe('ChunkOrder', () => {
  it('passes what is in order, from any first number', () => {
    expect(run([7, 8, 9])).toEqual([[7], [8], [9]]);
  });

  it('holds an early piece until the missing one is there', () => {
    expect(run([1, 3, 2, 4])).toEqual([[1], [], [2, 3], [4]]);
    expect(run([1, 4, 3, 2, 5])).toEqual([[1], [], [], [2, 3, 4], [5]]);
  });

  it('gives a missing piece up with the third early one', () => {
    expect(run([1, 3, 4, 5, 6])).toEqual([[1], [], [], [3, 4, 5], [6]]);
    expect(run([1, 9, 5, 3, 4])).toEqual([[1], [], [], [3], [4, 5]]);
  });

  it('drops what is late or repeated', () => {
    expect(run([1, 2, 2, 1, 3])).toEqual([[1], [2], [], [], [3]]);
    expect(run([1, 3, 3, 3, 2])).toEqual([[1], [], [], [], [2, 3]]);
    expect(run([1, 3, 4, 5, 2, 6])).toEqual([[1], [], [], [3, 4, 5], [], [6]]);
  });

  it('goes on when the numbering begins anew', () => {
    const restarted = Array.from({ length: 60 }, (_, index) => index + 1);
    const heard = run([1000, ...restarted]).flat();
    expect(heard).toEqual([1000 % 256, ...restarted.slice(49)]);
  });

  it('takes only late pieces in a row for a new numbering', () => {
    const late = Array.from({ length: 49 }, (_, index) => index + 1);
    expect(run([1000, ...late, 1001, ...late, 1002]).flat()).toEqual(
      [1000, 1001, 1002].map((at) => at % 256),
    );
  });

  it('plays nothing of an old numbering in a new one', () => {
    const restarted = Array.from({ length: 62 }, (_, index) => index + 1);
    expect(run([60, 62, ...restarted]).slice(-3)).toEqual([[60], [61], [62]]);
  });

  it('lets pass what has no number', () => {
    const order = new ChunkOrder();
    for (const chunk of [undefined, null, '', 'x', '-1', '1.5', 1.5, Number.NaN, {}, '1'.repeat(16)]) {
      expect(order.receive(chunk, piece(5))).toEqual(piece(5));
    }
    expect(order.receive(1, piece(1))).toEqual(piece(1));
    expect(order.receive('2', piece(2))).toEqual(piece(2));
  });

  it('loses nothing that is at most two places out of order', () => {
    const stream = fc
      .array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 200 })
      .map((delays) =>
        delays
          .map((delay, index) => ({ number: index + 1, at: index + delay + 0.5 }))
          .sort((a, b) => a.at - b.at || a.number - b.number)
          .map(({ number }) => number),
      )
      // What comes before the first piece cannot be told from what is late.
      .map((numbers) => [0, ...numbers]);
    fc.assert(
      fc.property(stream, (numbers) => {
        const sorted = [...numbers].sort((a, b) => a - b).map((number) => number % 256);
        const heard = run(numbers).flat();
        expect(sorted.slice(0, heard.length)).toEqual(heard);
        expect(heard.length).toBeGreaterThanOrEqual(sorted.length - 2);
      }),
    );
  });

  it('plays nothing twice and nothing backwards, whatever the numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }), (numbers) => {
        let last = -1;
        let silent = 0;
        for (const heard of run(numbers)) {
          // Only a numbering that begins anew leads back.
          const isAnew = silent >= 49;
          silent = heard.length === 0 ? silent + 1 : 0;
          if (!isAnew) expect([last, ...heard]).toEqual([...new Set([last, ...heard])].sort((a, b) => a - b));
          last = heard.at(-1) ?? last;
        }
      }),
    );
  });
});
