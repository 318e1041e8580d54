// The small curves beside the figures: ended calls in slices of time. Pure: no browser, no clock.
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { average, percentile } from '../../../events/summarize.js';

const SLICES = 24;
/** Fewer calls make no trend. */
const MIN_CALLS = 3;

/** One value for each slice of time, oldest first. Null where there is nothing to say. */
export type Trend = readonly (number | null)[];

export interface Trends {
  /** Calls that began. */
  calls: Trend;
  /** Most calls at a time. */
  active: Trend;
  /** US dollars spent. */
  cost: Trend;
  durationMs: Trend;
  latencyMs: Trend;
  /** Of the calls' own P95. */
  p95Ms: Trend;
}

/** Trends from `from` to `to`, epoch milliseconds. Null of few calls, and where there is no time between them. */
export function trendsOf(calls: readonly CallSummary[], span: { from: number; to: number }): Trends | null {
  const widthMs = (span.to - span.from) / SLICES;
  if (calls.length < MIN_CALLS || !(widthMs > 0)) return null;
  const slices = slicesOf(calls, span);
  const each = (value: (slice: readonly CallSummary[]) => number | null) => slices.map(value);
  const known = (slice: readonly CallSummary[], pick: (call: CallSummary) => number | null) =>
    slice.map(pick).filter((value) => value !== null);
  return {
    calls: each((slice) => slice.length),
    active: slices.map((_, index) =>
      mostAtATime(calls, { from: span.from + index * widthMs, to: span.from + (index + 1) * widthMs }),
    ),
    cost: each((slice) => slice.reduce((sum, call) => sum + call.cost.total, 0)),
    durationMs: each((slice) => average(known(slice, (call) => call.durationMs))),
    latencyMs: each((slice) => average(known(slice, (call) => call.latency.avgMs))),
    p95Ms: each((slice) =>
      percentile(
        known(slice, (call) => call.latency.p95Ms),
        95,
      ),
    ),
  };
}

/** The calls by the slice of time in which they began; those before and after are left out. `span.to` is later than `span.from`. */
export function slicesOf(calls: readonly CallSummary[], span: { from: number; to: number }): CallSummary[][] {
  const widthMs = (span.to - span.from) / SLICES;
  const slices: CallSummary[][] = Array.from({ length: SLICES }, () => []);
  for (const call of calls) {
    const index = Math.floor((call.startedAt - span.from) / widthMs);
    slices[index === SLICES ? SLICES - 1 : index]?.push(call);
  }
  return slices;
}

function mostAtATime(calls: readonly CallSummary[], span: { from: number; to: number }): number {
  const steps = calls
    .filter((call) => call.startedAt < span.to && (call.endedAt ?? span.to) > span.from)
    .flatMap((call) => [
      { at: Math.max(call.startedAt, span.from), change: 1 },
      { at: call.endedAt ?? span.to, change: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.change - b.change);
  let [now, most] = [0, 0];
  for (const { change } of steps) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
