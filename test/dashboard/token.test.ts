import { describe, expect, it } from 'vitest';
import { readCookies } from '../../src/dashboard/token.js';

describe('readCookies', () => {
  it.each<[string | undefined, string[]]>([
    [undefined, []],
    ['', []],
    ['a=1', ['1']],
    ['b=2; a=1;a = 3 ', ['1', '3']],
    ['a==', ['=']],
    ['a=', ['']],
    ['ab=1', []],
    // Without a sign there is no name.
    ['a', []],
    ['ab', []],
  ])('%j', (header, values) => {
    expect(readCookies(header, 'a')).toEqual(values);
  });
});
