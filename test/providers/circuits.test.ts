import { expect, it } from 'vitest';
import { Circuits } from '../../src/providers/circuits.js';

function setUp() {
  let now = 1000;
  const circuits = new Circuits({ now: () => now });
  const fail = (times: number, everyMs = 0) => {
    for (let count = 0; count < times; count += 1) {
      circuits.failed('vendor/model');
      now += everyMs;
    }
  };
  return {
    circuits,
    fail,
    pass(ms: number) {
      now += ms;
    },
  };
}

it('opens after five failures in thirty seconds, for twenty seconds', () => {
  const { circuits, fail, pass } = setUp();
  fail(4);
  expect(circuits.isOpen('vendor/model')).toBe(false);
  fail(1);
  expect(circuits.isOpen('vendor/model')).toBe(true);
  pass(19_999);
  expect(circuits.isOpen('vendor/model')).toBe(true);
  pass(1);
  expect(circuits.isOpen('vendor/model')).toBe(false);
});

it('stays closed where failures are rare, or followed by work that was done', () => {
  const { circuits, fail } = setUp();
  fail(10, 8000);
  expect(circuits.isOpen('vendor/model')).toBe(false);
  circuits.worked('vendor/model');
  fail(4);
  circuits.worked('vendor/model');
  fail(4);
  expect(circuits.isOpen('vendor/model')).toBe(false);
});

it('chooses the first provider that is not in trouble, and the first of all where every one is', () => {
  const { circuits, fail } = setUp();
  const choices: [{ name: string }, { name: string }] = [{ name: 'vendor/model' }, { name: 'other/model' }];
  expect(circuits.choose(choices)).toBe(choices[0]);
  fail(5);
  expect(circuits.choose(choices)).toBe(choices[1]);
  for (let count = 0; count < 5; count += 1) circuits.failed('other/model');
  expect(circuits.choose(choices)).toBe(choices[0]);
});
