import { expect, it } from 'vitest';
import { counted } from '../../src/base/counted.js';

it.each([
  [0, '0 gaps'],
  [1, '1 gap'],
  [2, '2 gaps'],
])('says how many there are: %i', (count, text) => {
  expect(counted(count, 'gap')).toBe(text);
});
