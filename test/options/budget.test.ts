import { expect, it } from 'vitest';
import { checkBudget } from '../../src/options/budget.js';
import { refusal } from './refusal.js';

it('budget is nothing without a limit', () => {
  expect(checkBudget(undefined)).toBeUndefined();
  expect(checkBudget({})).toBeUndefined();
  expect(checkBudget({ perCall: undefined })).toBeUndefined();
});

it('budget takes dollars', () => {
  expect(checkBudget({ perCall: 0.5, perDay: 20 })).toEqual({ perCall: 0.5, perHour: undefined, perDay: 20 });
});

it.each<[unknown, string]>([
  [5, 'budget takes an object'],
  [{ perMonth: 5 }, 'budget has no option "perMonth"'],
  [{ perCalls: 5 }, 'Did you mean perCall?'],
  [{ perCall: 0 }, 'budget.perCall must be a number, from 0.001'],
  [{ perHour: -1 }, 'budget.perHour'],
  [{ perDay: Number.NaN }, 'budget.perDay'],
  [{ perDay: '5' }, 'budget.perDay'],
])('budget refuses %j', (value, sentence) => {
  expect(refusal(() => checkBudget(value as never)).message).toContain(sentence);
});
