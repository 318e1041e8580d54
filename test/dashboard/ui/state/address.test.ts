import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALL_OUTCOMES, END_REASONS } from '../../../../src/contract/call-record.js';
import { fromAddress, isTyped, toAddress } from '../../../../src/dashboard/ui/state/address.js';
import { LIVE_ORDERS } from '../../../../src/dashboard/ui/state/live.js';
import {
  DIRECTIONS,
  FIRST_VIEW,
  RANGES,
  type Range,
  SORT_KEYS,
} from '../../../../src/dashboard/ui/state/view.js';

const { until: _, ...FIRST } = FIRST_VIEW;

const searched = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.trim());
const carrier = fc.option(fc.stringMatching(/^[a-z][a-z\d]{0,8}(-[a-z\d]{1,8}){0,2}$/));
const named = fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }));
const amount = fc.option(fc.nat(1e9).map((micros) => micros / 1e3));
const time = fc.option(fc.nat(4e12));
const view = fc.record({
  q: searched,
  words: searched,
  direction: fc.constantFrom(null, ...DIRECTIONS),
  outcome: fc.constantFrom(null, ...CALL_OUTCOMES),
  endReason: fc.constantFrom(null, ...END_REASONS),
  carrier,
  incident: named,
  provider: named,
  agent: named,
  nodeId: named,
  minLatencyMs: amount,
  minCost: amount,
  range: fc.constantFrom(...(Object.keys(RANGES) as Range[])),
  from: time,
  to: time,
  sort: fc.constantFrom(...SORT_KEYS),
  isDescending: fc.boolean(),
  live: fc.record({ q: searched, order: fc.constantFrom(...LIVE_ORDERS) }),
});
const open = fc.option(
  fc.record({
    callId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    seconds: fc.option(fc.nat(999_999)),
  }),
);

describe('the address of the page', () => {
  it('says all that it was made of', () => {
    fc.assert(
      fc.property(open, view, (call, shown) => {
        expect(fromAddress(toAddress(call, shown))).toEqual({ open: call, view: shown });
      }),
    );
  });

  it('is empty for what is shown at first', () => {
    expect(toAddress(null, { ...FIRST_VIEW, until: 5 })).toBe('');
    expect(fromAddress('')).toEqual({ open: null, view: FIRST });
  });

  it.each([
    'call=&t=5',
    't=12',
    'direction=sideways&outcome=great&endReason=&carrier=&range=year&minCost=-1&from=noon&sort=luck&order=up&liveOrder=none',
    'carrier=Carrier%20A&minLatencyMs=1000000000&minCost=999999999.5&from=5.5&to=-1',
    `carrier=${'a'.repeat(41)}&minCost=1e3&minLatencyMs=0.1234567`,
    '%E0%A4%A&=&&call',
  ])('leaves out what it cannot mean: %s', (address) => {
    expect(fromAddress(address)).toEqual({ open: null, view: FIRST });
  });

  it.each(['-5', '1e9', 'NaN', '5s', '123456789012345'])(
    'leads to the call alone with the instant %s',
    (seconds) => {
      expect(fromAddress(`call=c1&t=${seconds}`).open).toEqual({ callId: 'c1', seconds: null });
    },
  );

  it('tells letters of a search from another choice', () => {
    expect(isTyped({ ...FIRST, q: 'ab' }, { ...FIRST, q: 'a' })).toBe(true);
    expect(isTyped({ ...FIRST, live: { ...FIRST.live, q: 'x' } }, FIRST)).toBe(true);
    expect(isTyped({ ...FIRST, q: 'ab', sort: 'cost' }, FIRST)).toBe(false);
  });
});
