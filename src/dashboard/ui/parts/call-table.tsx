// The table of ended calls. Only the rows near the eye exist; the others are two empty ones of the right height.
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { formatDuration, formatLatency, formatTime, formatTotal, formatWord } from '../format.js';
import { update } from '../state/app-store.js';
import { useToday } from '../state/clock.js';
import { linkTo } from '../state/deep-link.js';
import { useRowWindow } from '../state/row-window.js';
import { isTrouble } from '../state/trouble.js';
import type { SortKey, View } from '../state/view.js';
import { memo } from './memo.js';
import { Direction, Parties, providersOf } from './parties.js';

/** Height of a row in pixels, as table.css has it. */
const ROW_PX = 54;

const COLUMNS: readonly { name: string; sort?: SortKey; class?: string }[] = [
  { name: 'Call', sort: 'started' },
  { name: 'Provider', class: 'wide' },
  { name: 'Duration', sort: 'duration', class: 'figure middle' },
  { name: 'Turns', sort: 'turns', class: 'figure middle' },
  { name: 'Latency', sort: 'latency', class: 'figure' },
  { name: 'Cost', sort: 'cost', class: 'figure cost' },
  { name: 'Outcome', class: 'middle' },
];

export function CallTable({
  calls,
  view,
  masked,
}: {
  calls: readonly CallSummary[];
  view: View;
  masked: boolean;
}) {
  const { list, rows } = useRowWindow(calls.length, ROW_PX);
  const today = useToday();
  const shown = calls.slice(rows.first, rows.end);
  return (
    <table class={masked ? '' : 'whole-numbers'} aria-rowcount={calls.length + 1}>
      <Head view={view} />
      <tbody ref={list}>
        <Gap rows={rows.first} />
        {shown.map((call, index) => (
          <Row key={call.callId} call={call} masked={masked} index={rows.first + index + 2} today={today} />
        ))}
        <Gap rows={calls.length - rows.first - shown.length} />
      </tbody>
    </table>
  );
}

function Gap({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

function Head({ view }: { view: View }) {
  return (
    <thead>
      <tr>
        {COLUMNS.map((column) => (
          <th key={column.name} scope="col" class={column.class} aria-sort={orderOf(column.sort, view)}>
            {column.sort === undefined ? (
              column.name
            ) : (
              <SortButton {...column} sort={column.sort} view={view} />
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function orderOf(sort: SortKey | undefined, view: View): 'ascending' | 'descending' | undefined {
  if (sort !== view.sort) return undefined;
  return view.isDescending ? 'descending' : 'ascending';
}

function SortButton({ name, sort, view }: { name: string; sort: SortKey; view: View }) {
  const isChosen = view.sort === sort;
  return (
    <button
      type="button"
      class="sort"
      onClick={() =>
        update((app) => ({
          view: { ...app.view, sort, isDescending: isChosen ? !view.isDescending : true },
        }))
      }
    >
      {name}
      {isChosen && <span aria-hidden="true">{view.isDescending ? '↓' : '↑'}</span>}
    </button>
  );
}

interface RowProps {
  call: CallSummary;
  masked: boolean;
  index: number;
  /** The day that it is, epoch milliseconds. */
  today: number;
}

/** Only rows with news are drawn again. */
const Row = memo(({ call, masked, index, today }: RowProps) => {
  // Trouble has a word of its own, not a color alone.
  const isBad = isTrouble(call);
  return (
    <tr aria-rowindex={index}>
      <th scope="row">
        <a href={linkTo(call.callId)} class="open">
          <Direction direction={call.direction} />
          <span>
            <Parties call={call} masked={masked} />
            <span class="when">
              <span class="brief">
                <span class={isBad ? 'trouble' : ''}>
                  {formatWord(isBad ? call.endReason : call.outcome)}
                </span>
                {call.durationMs === null ? ' · ' : ` · ${formatDuration(call.durationMs)} · `}
              </span>
              <time>{formatTime(call.startedAt, today, { seconds: false })}</time>
            </span>
          </span>
        </a>
      </th>
      <td class="wide provider" title={providersOf(call)}>
        <span class="names">{providersOf(call)}</span>
        <span class="reason">
          {call.mode === null ? '' : `${call.mode} · `}
          {call.carrier}
        </span>
      </td>
      <td class="figure middle">{formatDuration(call.durationMs)}</td>
      <td class="figure middle">{call.turnCount}</td>
      <td class="figure">{formatLatency(call.latency.avgMs)}</td>
      <td class="figure">{formatTotal(call.cost)}</td>
      <td class="middle">
        {formatWord(call.outcome)}
        <span class={`reason ${isBad ? 'trouble' : ''}`}>{formatWord(call.endReason)}</span>
      </td>
    </tr>
  );
});
