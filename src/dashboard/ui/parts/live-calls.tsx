// The calls that are up now: whole while they are few, a line each when they are many, and one of them in full.
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { CallRecord } from '../../../contract/call-record.js';
import { readState, update } from '../state/app-store.js';
import {
  keepOrder,
  LIVE_ORDERS,
  type LiveOrder,
  type LiveView,
  MAX_WHOLE,
  shownLive,
} from '../state/live.js';
import { LiveCall } from './live-call.js';

export interface LiveCallsProps {
  calls: ReadonlyMap<string, CallRecord>;
  view: LiveView;
  controls: boolean;
  masked: boolean;
}

export function LiveCalls({ calls, view, controls, masked }: LiveCallsProps) {
  const areMany = calls.size > MAX_WHOLE;
  const { shown, list } = useHeldOrder(shownLive(calls, view));
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <section class={areMany ? 'rail many' : 'rail'} aria-labelledby="live-title">
      <div class="bar">
        <h2 id="live-title">Live</h2>
        {calls.size > 0 && <span class="count">{calls.size}</span>}
        {areMany && <Search view={view} />}
      </div>
      {calls.size === 0 && <p class="quiet">No call right now. The next one appears here.</p>}
      {calls.size > 0 && shown.length === 0 && <p class="quiet">No live call matches.</p>}
      <div class="calls" {...list}>
        {shown.map((call) => (
          <LiveCall
            key={call.callId}
            call={call}
            controls={controls}
            masked={masked}
            isLine={areMany && call.callId !== opened}
            toggle={areMany ? setOpened : null}
          />
        ))}
      </div>
    </section>
  );
}

const ORDER_NAMES: Readonly<Record<LiveOrder, string>> = {
  longest: 'Longest first',
  waiting: 'Waiting first',
  trouble: 'Trouble first',
};

function change(part: Partial<LiveView>): void {
  update(({ view }) => ({ view: { ...view, live: { ...view.live, ...part } } }));
}

function Search({ view }: { view: LiveView }) {
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Search live calls by number, id or agent"
        placeholder="Number, id, agent"
        maxLength={200}
        // As it is by now: the list may be drawn between a key and the page.
        value={readState().view.live.q}
        onInput={(event) => change({ q: event.currentTarget.value })}
      />
      <select
        aria-label="Order of live calls"
        value={view.order}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          change({ order: LIVE_ORDERS.find((each) => each === chosen) ?? 'longest' });
        }}
      >
        {LIVE_ORDERS.map((each) => (
          <option key={each} value={each}>
            {ORDER_NAMES[each]}
          </option>
        ))}
      </select>
    </search>
  );
}

/** Calls change their place only while nobody points at one or has the focus in one: what is about to be pressed stays where it is. */
function useHeldOrder(calls: readonly CallRecord[]) {
  const [, draw] = useReducer<number, undefined>((count) => count + 1, 0);
  const order = useRef<readonly string[]>([]);
  const list = useRef<HTMLDivElement>(null);
  const isPointedAt = useRef(false);
  // Not every browser tells that the focus has left what was taken out of the document.
  const isHeld = isPointedAt.current || list.current?.contains(document.activeElement);
  const shown = isHeld ? keepOrder(calls, order.current) : calls;
  order.current = shown.map(({ callId }) => callId);
  const point = (isIn: boolean) => () => {
    isPointedAt.current = isIn;
    draw(undefined);
  };
  useFocusBehind(list);
  const props = {
    ref: list,
    onPointerEnter: point(true),
    onPointerLeave: point(false),
    onFocusIn: () => draw(undefined),
    onFocusOut: () => draw(undefined),
  };
  return { shown, list: props };
}

/** Whoever works by keyboard goes on with the next call where the one under it has ended, and not from the top of the page. */
function useFocusBehind(list: RefObject<HTMLDivElement | null>): void {
  const focused = useRef<{ row: Element; index: number } | null>(null);
  useLayoutEffect(() => {
    const rows = [...(list.current?.children ?? [])];
    const { activeElement } = document;
    const before = focused.current;
    if (before !== null && !before.row.isConnected && activeElement === document.body)
      rows[Math.min(before.index, rows.length - 1)]?.querySelector<HTMLElement>('a.open')?.focus();
    const index = rows.findIndex((row) => row.querySelector(':focus-visible') !== null);
    const row = rows[index];
    focused.current = row === undefined ? null : { row, index };
  });
}
