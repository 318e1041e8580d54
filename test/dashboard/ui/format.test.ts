import { describe, expect, it } from 'vitest';
import {
  formatDuration,
  formatLatency,
  formatMoney,
  formatNumber,
  formatTime,
  formatWord,
} from '../../../src/dashboard/ui/format.js';

describe('what the page shows', () => {
  it.each([
    [null, '–'],
    [-5, '0:00'],
    [59_999, '0:59'],
    [61_000, '1:01'],
    [600_000, '10:00'],
    [3_723_000, '1:02:03'],
  ])('writes a duration of %s ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [null, '–'],
    [0, '0 ms'],
    [999, '999 ms'],
    [1240, '1.24 s'],
  ])('writes a latency of %s ms as %s', (ms, text) => expect(formatLatency(ms)).toBe(text));

  it.each([
    [null, '–'],
    [0, '$0.00'],
    [0.00001, '<$0.0001'],
    [0.0091, '$0.0091'],
    [12.345, '$12.35'],
  ])('writes %s dollars as %s', (dollars, text) => expect(formatMoney(dollars)).toBe(text));

  it.each([
    ['+15550100', true, '••• 0100'],
    ['+15550100', false, '+15550100'],
    ['anonymous', true, 'anonymous'],
    ['', true, 'unknown'],
  ])('writes number %j, masked %s, as %s', (number, masked, text) => {
    expect(formatNumber(number, { masked })).toBe(text);
  });

  it('names the day of another day', () => {
    const now = Date.UTC(2026, 5, 15, 12);
    expect(formatTime(now - 5000, now)).not.toContain(',');
    expect(formatTime(now - 3 * 86_400_000, now)).toContain(',');
    expect(formatWord('no-answer')).toBe('no answer');
  });
});
