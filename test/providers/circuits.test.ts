import { expect, it } from 'vitest';
import { Circuits, countsAgainst, LateError } from '../../src/providers/circuits.js';

function setUp() {
  let now = 1000;
  const circuits = new Circuits({ now: () => now });
  const provider = { name: 'vendor/model' };
  const fail = (times: number, everyMs = 0) => {
    for (let count = 0; count < times; count += 1) {
      circuits.failed(provider);
      now += everyMs;
    }
  };
  return {
    circuits,
    provider,
    fail,
    pass(ms: number) {
      now += ms;
    },
  };
}

it('opens after five failures in thirty seconds, for twenty seconds', () => {
  const { circuits, provider, fail, pass } = setUp();
  fail(4);
  expect(circuits.isOpen(provider)).toBe(false);
  fail(1);
  expect(circuits.isOpen(provider)).toBe(true);
  pass(19_999);
  expect(circuits.isOpen(provider)).toBe(true);
  pass(1);
  expect(circuits.isOpen(provider)).toBe(false);
});

it('stays closed where failures are rare, or followed by work that was done', () => {
  const { circuits, provider, fail } = setUp();
  fail(10, 7500);
  expect(circuits.isOpen(provider)).toBe(false);
  circuits.worked(provider);
  fail(4);
  circuits.worked(provider);
  fail(4);
  expect(circuits.isOpen(provider)).toBe(false);
});

it('opens again only after five more failures', () => {
  const { circuits, provider, fail, pass } = setUp();
  fail(5);
  pass(20_000);
  fail(4);
  expect(circuits.isOpen(provider)).toBe(false);
  fail(1);
  expect(circuits.isOpen(provider)).toBe(true);
});

it('knows two servers of one model apart', () => {
  const { circuits, provider, fail } = setUp();
  const other = { ...provider };
  fail(5);
  expect([circuits.isOpen(provider), circuits.isOpen(other)]).toEqual([true, false]);
  circuits.worked(other);
  expect(circuits.isOpen(provider)).toBe(true);
  expect(circuits.choose([provider, other])).toBe(other);
});

it('chooses the first provider that is not in trouble, and the first of all where every one is', () => {
  const { circuits, provider, fail } = setUp();
  const choices: [{ name: string }, { name: string }] = [provider, { name: 'other/model' }];
  expect(circuits.choose(choices)).toBe(choices[0]);
  fail(5);
  expect(circuits.choose(choices)).toBe(choices[1]);
  for (let count = 0; count < 5; count += 1) circuits.failed(choices[1]);
  expect(circuits.choose(choices)).toBe(choices[0]);
});

it.each([
  ['its own', new Error('of a library'), true],
  ['that it was late', new LateError('The model did not go on in time.', { isFair: true }), true],
  [
    'that it was late with little time',
    new LateError('The model did not go on in time.', { isFair: false }),
    false,
  ],
])('counts a failure, or does not: %s', (_, error, counts) => {
  expect(countsAgainst(error)).toBe(counts);
});
