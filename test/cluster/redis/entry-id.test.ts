// IDs of entries in the log, which somebody else may have chosen.
import { describe, expect, it } from 'vitest';
import { idBefore, isBefore, timeOf } from '../../../src/cluster/redis/entry-id.js';

const LAST = '18446744073709551615';

describe('the ID of an entry', () => {
  it.each([
    ['1700000000000-5', '1700000000000-4'],
    ['1700000000000-1', '1700000000000-0'],
    ['1700000000000-0', `1699999999999-${LAST}`],
    [`1700000000000-${LAST}`, '1700000000000-18446744073709551614'],
    ['1700000000000-9007199254740995', '1700000000000-9007199254740994'],
  ])('%s has one before it', (id, before) => {
    expect(idBefore(id)).toBe(before);
    expect(isBefore(before, id)).toBe(true);
    expect(isBefore(id, before)).toBe(false);
  });

  it('says when the broker got the entry', () => {
    expect(timeOf(`1700000000123-${LAST}`)).toBe(1_700_000_000_123);
    expect(isBefore('9-0', '10-0')).toBe(true);
  });
});
