// Where money and time went, and how calls ended, over the time that is chosen.
import { useMemo, useState } from 'preact/hooks';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { formatCount, formatDay, formatLatency, formatMoney, formatTime, formatWord } from '../format.js';
import { axisTop, type Charts as ChartsData, chartsOf, type Slice } from '../state/charts.js';
import { isTrouble } from '../state/trouble.js';
import { PARTS } from './cost-table.js';
import { partsOf, STAGES } from './latency-bars.js';

/** Over a longer time the axis names days alone. */
const LONG_SPAN_MS = 86_400_000;
/** Rarer reasons stand in the filter. */
const MOST_REASONS = 6;

export interface ChartsProps {
  calls: readonly CallSummary[];
  /** Epoch milliseconds. */
  from: number;
  to: number;
}

/** Closed at first: whoever watches calls needs the room. */
export function Charts(props: ChartsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="charts" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Cost, latency and failures over time</summary>
      {isOpen && <Open {...props} />}
    </details>
  );
}

function Open({ calls, from, to }: ChartsProps) {
  const charts = useMemo(() => chartsOf(calls, { from, to }), [calls, from, to]);
  if (charts === null) return <p class="quiet">No call ended in this time.</p>;
  return (
    <div class="chart-grid">
      <Chart
        title="Cost"
        note="by component"
        charts={charts}
        write={formatMoney}
        columns={charts.slices.map(({ costs }) =>
          PARTS.map(([key, label]) => ({ key: `cost-${key}`, label, value: costs[key] })),
        )}
        legend={PARTS.map(([key, label]) => ({ key: `cost-${key}`, label }))}
      />
      <Chart
        title="Latency"
        note="average of each stage"
        charts={charts}
        write={formatLatency}
        columns={charts.slices.map(({ latency }) =>
          partsOf(latency).map(({ key, label, ms }) => ({ key, label, value: ms })),
        )}
        legend={STAGES.filter(([key]) => charts.slices.some(({ latency }) => latency[key] !== null)).map(
          ([key, label]) => ({ key, label }),
        )}
      />
      <Chart
        title="Calls"
        note={`${charts.failed} of ${charts.calls} failed (${percent(charts.failed, charts.calls)})`}
        charts={charts}
        // There is no half call.
        write={(count) => (Number.isInteger(count) ? String(count) : '')}
        columns={charts.slices.map((slice) => outcomes(slice))}
        legend={OUTCOMES}
      />
      <Ends charts={charts} calls={calls} />
    </div>
  );
}

const OUTCOMES = [
  { key: 'call-failed', label: 'Failed' },
  { key: 'call-fine', label: 'Others' },
] as const;

function outcomes({ calls, failed }: Slice): Part[] {
  return [
    { ...OUTCOMES[0], value: failed },
    { ...OUTCOMES[1], value: calls - failed },
  ];
}

function percent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`;
}

/** `key`: the class with its color. */
interface Part {
  key: string;
  label: string;
  value: number;
}

interface ChartProps {
  title: string;
  note: string;
  charts: ChartsData;
  write: (value: number) => string;
  /** Of each slice of time, from below. */
  columns: readonly (readonly Part[])[];
  legend: readonly { key: string; label: string }[];
}

const sumOf = (parts: readonly Part[]) => parts.reduce((sum, { value }) => sum + value, 0);

/** Columns of parts on top of each other, with an axis of values and one of time. */
function Chart({ title, note, charts, write, columns, legend }: ChartProps) {
  const { from, to, slices } = charts;
  const greatest = Math.max(...columns.map(sumOf));
  const top = axisTop(greatest);
  const time = (at: number) => formatTime(at, to, { seconds: false });
  const range = `${time(from)} to ${time(to)}`;
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b> <small>{note}</small>
      </figcaption>
      <div class="plot">
        <span class="values" aria-hidden="true">
          <span>{write(top)}</span>
          <span>{write(top / 2)}</span>
          <span>{write(0)}</span>
        </span>
        <div
          class="columns"
          role="img"
          aria-label={`${title} ${note}, ${range}: at most ${write(greatest)} in one of ${slices.length} parts`}
        >
          {columns.map((parts, index) => (
            <span
              key={slices[index]?.from}
              class="column"
              title={[
                `${time(slices[index]?.from ?? from)}: ${write(sumOf(parts))}`,
                ...spell(parts, write),
              ].join('\n')}
            >
              {parts.map(({ key, value }) => (
                <i key={key} class={key} style={{ height: `${(value / top) * 100}%` }} />
              ))}
            </span>
          ))}
        </div>
        <span class="times" aria-hidden="true">
          {[from, (from + to) / 2, to].map((at) => (
            <span key={at}>{to - from > LONG_SPAN_MS ? formatDay(at) : time(at)}</span>
          ))}
        </span>
      </div>
      <ul class="legend">
        {legend.map(({ key, label }) => (
          <li key={key}>
            <i class={key} aria-hidden="true" />
            {label}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function spell(parts: readonly Part[], write: (value: number) => string): string[] {
  return parts.filter(({ value }) => value > 0).map(({ label, value }) => `${label} ${write(value)}`);
}

function Ends({ charts, calls }: { charts: ChartsData; calls: readonly CallSummary[] }) {
  const most = charts.ends[0]?.count ?? 1;
  const isBad = (reason: string) => calls.some((call) => call.endReason === reason && isTrouble(call));
  return (
    <figure class="chart">
      <figcaption>
        <b>End reasons</b> <small>{formatCount(charts.calls, 'call')}</small>
      </figcaption>
      <ol class="ends">
        {charts.ends.slice(0, MOST_REASONS).map(({ reason, count }) => (
          <li key={reason}>
            <span class={isBad(reason) ? 'trouble' : ''}>{formatWord(reason)}</span>
            <span class="track" aria-hidden="true">
              <i
                class={isBad(reason) ? 'call-failed' : 'call-fine'}
                style={{ width: `${(count / most) * 100}%` }}
              />
            </span>
            <span>{count}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
