import { describe, expect, it } from 'vitest';
import {
  formatCount,
  formatDuration,
  formatLatency,
  formatMoney,
  formatNumber,
  formatPlace,
  formatTime,
  formatWord,
  formatLanguage,
} from '../../../src/dashboard/ui/format.js';

describe('what the page shows', () => {
  it.each([
    [0, '0 turns'],
    [1, '1 turn'],
    [2, '2 turns'],
  ])('counts %s as %s', (count, text) => expect(formatCount(count, 'turn')).toBe(text));

  it.each([
    [null, '–'],
    [-5, '0:00'],
    [35_490, '0:35'],
    [35_990, '0:36'],
    [59_999, '1:00'],
    [61_000, '1:01'],
    [600_000, '10:00'],
    [3_723_000, '1:02:03'],
  ])('writes a duration of %s ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [0, '0:00'],
    [1999, '0:01'],
    [-5, '0:00'],
    [-3000, '−0:03'],
  ])('writes a place %s ms into a call as %s', (ms, text) => expect(formatPlace(ms)).toBe(text));

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
    ['sip:anna.smith@clinic.example', true, '•••'],
    ['sip:anna.smith@10.20.30.40', true, '•••'],
    ['sips:1001@clinic.example', true, '•••'],
    ['sip:+15550100@clinic.example;user=phone', true, '••• 0100'],
    ['anna.smith@clinic.example', true, '•••'],
    ['sip:anna', true, '•••'],
    ['sip:anna.smith@clinic.example', false, 'sip:anna.smith@clinic.example'],
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

describe('formatLanguage', () => {
  it.each([
    ['de', 'German'],
    ['es-MX', 'Mexican Spanish'],
    ['zz', 'zz'],
    ['<b>', '<b>'],
  ])('shows %s as %s', (tag, name) => {
    expect(formatLanguage(tag)).toBe(name);
  });
});
