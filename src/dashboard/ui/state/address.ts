// What the page shows, as the part of its address behind `#`: `call=<id>&t=83&outcome=failed&sort=cost`. Pure: no browser, no clock.
import { CALL_OUTCOMES, CARRIER_ID, END_REASONS } from '../../../contract/call-record.js';
import { parseAmount } from '../../../events/call-filter.js';
import { LIVE_ORDERS } from './live.js';
import { DIRECTIONS, FIRST_VIEW, RANGES, type Range, SORT_KEYS, type View } from './view.js';

/** The call that is open. */
export interface OpenCall {
  callId: string;
  /** Where in the call, in seconds of its audio; null for the call as a whole. */
  seconds: number | null;
}

/** All of a view but what moves on by itself. */
export type AddressedView = Omit<View, 'until'> & Partial<Pick<View, 'until'>>;

/** As the server bounds it. */
const MAX_TEXT_CHARS = 200;
const ORDERS = ['asc', 'desc'] as const;
const SECONDS = /^\d{1,14}(?:\.\d{1,6})?$/;
const INSTANT = /^\d{1,14}$/;

/** Empty for what the page shows at first. */
export function toAddress(open: OpenCall | null, view: AddressedView): string {
  const { q, words, live, range, sort, isDescending, until: _until, ...others } = view;
  const unlessFirst = (value: string, first: string) => (value === first ? null : value);
  const parts = {
    call: open?.callId ?? null,
    t: open?.seconds ?? null,
    q: q.trim(),
    words: words.trim(),
    ...others,
    range: unlessFirst(range, FIRST_VIEW.range),
    sort: unlessFirst(sort, FIRST_VIEW.sort),
    order: isDescending ? null : 'asc',
    live: live.q.trim(),
    liveOrder: unlessFirst(live.order, FIRST_VIEW.live.order),
  };
  const said = Object.entries(parts).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[name, String(value)]],
  );
  return new URLSearchParams(said).toString();
}

/** What an address cannot mean is left out: an old link shows what is left of it. */
export function fromAddress(address: string): { open: OpenCall | null; view: AddressedView } {
  const parts = new URLSearchParams(address);
  const one = <T extends string>(name: string, values: readonly T[]): T | null =>
    values.find((value) => value === parts.get(name)) ?? null;
  const text = (name: string) => (parts.get(name) ?? '').slice(0, MAX_TEXT_CHARS);
  const name = (of: string) => text(of) || null;
  const matching = (of: string, pattern: RegExp) =>
    pattern.test(parts.get(of) ?? '') ? parts.get(of) : null;
  const number = (of: string, pattern: RegExp) => {
    const said = matching(of, pattern);
    return said === null ? null : Number(said);
  };
  const amount = (of: string) => parseAmount(parts.get(of) ?? '');
  const callId = parts.get('call') ?? '';
  return {
    open: callId === '' ? null : { callId, seconds: number('t', SECONDS) },
    view: {
      q: text('q'),
      words: text('words'),
      direction: one('direction', DIRECTIONS),
      outcome: one('outcome', CALL_OUTCOMES),
      endReason: one('endReason', END_REASONS),
      carrier: matching('carrier', CARRIER_ID),
      incident: name('incident'),
      provider: name('provider'),
      agent: name('agent'),
      nodeId: name('nodeId'),
      minLatencyMs: amount('minLatencyMs'),
      minCost: amount('minCost'),
      range: one('range', Object.keys(RANGES) as Range[]) ?? FIRST_VIEW.range,
      from: number('from', INSTANT),
      to: number('to', INSTANT),
      sort: one('sort', SORT_KEYS) ?? FIRST_VIEW.sort,
      isDescending: one('order', ORDERS) !== 'asc',
      live: { q: text('live'), order: one('liveOrder', LIVE_ORDERS) ?? FIRST_VIEW.live.order },
    },
  };
}

/** True where the two differ in what was typed alone. */
export function isTyped(view: AddressedView, before: AddressedView): boolean {
  const untyped = (shown: AddressedView) =>
    toAddress(null, {
      ...shown,
      q: '',
      words: '',
      minLatencyMs: null,
      minCost: null,
      live: { ...shown.live, q: '' },
    });
  return untyped(view) === untyped(before);
}
