import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyJoin } from '../../../src/calls/keys/key-join.js';
import { keysDurationMs } from '../../../src/calls/keys/sent-keys.js';

const anyKeys = fc.array(fc.constantFrom('1', '2', '#'), { maxLength: 12 });

describe('KeyJoin', () => {
  it('takes a key for a new one when the other source told the same five seconds ago', () => {
    const join = new KeyJoin();
    expect(join.hear('stream', '1', 0)).toBe(true);
    expect(join.hear('webhook', '1', 4999)).toBe(false);
    expect(join.hear('stream', '1', 5000)).toBe(true);
    expect(join.hear('webhook', '1', 10_000)).toBe(true);
  });

  it('tells each key once, in order, however the two sources are mixed', () => {
    fc.assert(
      fc.property(anyKeys, fc.infiniteStream(fc.boolean()), (keys, picks) => {
        const join = new KeyJoin();
        const told: string[] = [];
        const at = { stream: 0, webhook: 0 };
        const pick = picks[Symbol.iterator]();
        while (at.stream < keys.length || at.webhook < keys.length) {
          const wanted = pick.next().value ? 'stream' : 'webhook';
          const source = at[wanted] < keys.length ? wanted : wanted === 'stream' ? 'webhook' : 'stream';
          const digit = keys[at[source]] ?? '';
          at[source] += 1;
          if (join.hear(source, digit, 100)) told.push(digit);
        }
        expect(told).toEqual(keys);
      }),
    );
  });

  it('does not remember without bound', () => {
    const join = new KeyJoin();
    for (let count = 0; count < 1000; count += 1) expect(join.hear('stream', '1', 0)).toBe(true);
    let echoes = 0;
    for (let count = 0; count < 1000; count += 1) if (!join.hear('webhook', '1', 0)) echoes += 1;
    expect(echoes).toBeLessThanOrEqual(65);
  });
});

it.each([
  ['1', 500],
  ['w', 500],
  ['1wW#', 2500],
])('%s takes no longer than %d ms', (digits, expected) => {
  expect(keysDurationMs(digits)).toBe(expected);
});
