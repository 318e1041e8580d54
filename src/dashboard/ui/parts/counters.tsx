// The figures on top, over what the server holds or the part of it that is chosen.
import { useEffect, useMemo } from 'preact/hooks';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import {
  UNKNOWN,
  formatDuration,
  formatLatency,
  formatMoney,
  parseLocalInput,
  toLocalInput,
} from '../format.js';
import { update } from '../state/app-store.js';
import { serverNow, useMinute } from '../state/clock.js';
import { refreshAggregates } from '../state/connection.js';
import type { PageState } from '../state/page-state.js';
import { type Trend, trendsOf } from '../state/trends.js';
import { isWithin, RANGES, type Range, spanOf, type View } from '../state/view.js';
import { Charts } from './charts.js';
import { Sparkline } from './sparkline.js';

const RANGE_NAMES: Readonly<Record<Range, string>> = {
  all: 'All',
  day: '24 h',
  hour: '1 h',
  custom: 'Custom',
};

export interface CountersProps {
  page: PageState;
  view: View;
  /** Ended calls that the page knows: what is drawn of the chosen time. */
  calls: readonly CallSummary[];
}

export function Counters({ page, view, calls }: CountersProps) {
  const { aggregates, active, history } = page;
  const span = spanOf(view);
  const { from, to } = span;
  const minute = useMinute();
  // A range moves on also where nothing happens.
  useEffect(() => {
    if (RANGES[view.range] !== null) void refreshAggregates();
  }, [minute]);
  const oldest = history.at(-1)?.startedAt ?? 0;
  const [trends, now] = useMemo(() => {
    const until = serverNow();
    return [trendsOf(calls, { from: from ?? oldest, to: to ?? until }), until];
  }, [calls, from, to, minute]);
  const drawn = calls.filter(({ startedAt }) => isWithin(startedAt, span)).length;
  const figures: readonly (readonly [string, string, Trend | undefined])[] = [
    [
      'Total calls',
      aggregates === null ? UNKNOWN : String(aggregates.completedCalls + active.size),
      trends?.calls,
    ],
    ['Total cost', formatMoney(aggregates?.totalCost ?? null), trends?.cost],
    ['Avg duration', formatDuration(aggregates?.avgDurationMs ?? null), trends?.durationMs],
    ['Avg latency', formatLatency(aggregates?.avgLatencyMs ?? null), trends?.latencyMs],
    ['Active', aggregates === null ? UNKNOWN : String(active.size), trends?.active],
    ['P95 latency', formatLatency(aggregates?.p95LatencyMs ?? null), trends?.p95Ms],
  ];
  return (
    <section aria-labelledby="figures-title">
      <div class="bar figures-bar">
        <h2 id="figures-title">
          Figures <small>{over(view, aggregates?.completedCalls ?? 0, drawn)}</small>
        </h2>
        {view.range === 'custom' && <Dates view={view} />}
        <Ranges view={view} />
      </div>
      <dl class="counters">
        {figures.map(([label, value, trend]) => (
          <div key={label} class={label === 'Active' && active.size > 0 ? 'lit' : ''}>
            <dt>{label}</dt>
            <dd>{value}</dd>
            {trend !== undefined && <Sparkline trend={trend} />}
          </div>
        ))}
      </dl>
      {history.length > 0 && <Charts calls={calls} from={from ?? oldest} to={to ?? now} />}
    </section>
  );
}

/** What the figures are over, and what is drawn of `counted` ended calls where that is less. */
function over({ range }: View, counted: number, drawn: number): string {
  const part = counted > drawn ? `; curves and charts over ${drawn} of the ended ones` : '';
  if (range === 'all') return `last 500 calls, and the active ones${part}`;
  if (range === 'custom') return `calls of the chosen time, and the active ones${part}`;
  return `calls of the last ${range === 'day' ? '24 hours' : 'hour'}, and the active ones${part}`;
}

function change(part: Partial<View>): void {
  update((app) => ({ view: { ...app.view, ...part } }));
  void refreshAggregates();
}

/** The custom range. What a person is about to enter is the browser's alone: nothing is written into the fields. */
function Dates({ view }: { view: View }) {
  const field = (label: string, name: 'from' | 'to') => (
    <label>
      {label}{' '}
      <input
        type="datetime-local"
        defaultValue={toLocalInput(view[name])}
        onChange={(event) => change({ [name]: parseLocalInput(event.currentTarget.value) })}
      />
    </label>
  );
  return (
    <span class="dates">
      {field('From', 'from')} {field('to', 'to')}
    </span>
  );
}

function Ranges({ view }: { view: View }) {
  const choose = (range: Range) => {
    const today = new Date().setHours(0, 0, 0, 0);
    change(range === 'custom' ? { range, from: view.from ?? today } : { range });
  };
  return (
    <fieldset class="ranges">
      <legend class="unseen">Time range</legend>
      {(Object.keys(RANGES) as Range[]).map((range) => (
        <label key={range}>
          <input
            type="radio"
            name="range"
            class="unseen"
            checked={view.range === range}
            onChange={() => choose(range)}
          />
          <span>{RANGE_NAMES[range]}</span>
        </label>
      ))}
    </fieldset>
  );
}
