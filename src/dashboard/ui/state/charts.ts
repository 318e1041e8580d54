// Ended calls over time, as the charts show them. Pure: no browser, no clock.
import type { EndReason, TurnLatency } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { average, unknownLatency } from '../../../events/summarize.js';
import { slicesOf } from './trends.js';
import { isTrouble } from './trouble.js';

const COMPONENTS = ['stt', 'llm', 'tts', 'telephony'] as const;

/** What began in one slice of time. */
export interface Slice {
  /** Epoch milliseconds. */
  from: number;
  /** US dollars, as far as they are known. */
  costs: Readonly<Record<(typeof COMPONENTS)[number], number>>;
  /** Mean over the calls that have one; the stages add up to the total, or leave a rest. */
  latency: TurnLatency;
  calls: number;
  /** Of these. */
  failed: number;
}

export interface Charts {
  from: number;
  to: number;
  slices: readonly Slice[];
  calls: number;
  failed: number;
  /** The most frequent first. */
  ends: readonly { reason: EndReason; count: number }[];
}

/** Null where no call began in the span, or where there is no time in it. */
export function chartsOf(calls: readonly CallSummary[], span: { from: number; to: number }): Charts | null {
  if (!(span.to > span.from)) return null;
  const groups = slicesOf(calls, span);
  const inside = groups.flat();
  if (inside.length === 0) return null;
  const widthMs = (span.to - span.from) / groups.length;
  const counts = new Map<EndReason, number>();
  for (const { endReason } of inside)
    if (endReason !== null) counts.set(endReason, (counts.get(endReason) ?? 0) + 1);
  return {
    ...span,
    slices: groups.map((group, index) => ({
      from: span.from + index * widthMs,
      costs: costsOf(group),
      latency: meanLatency(group),
      calls: group.length,
      failed: group.filter(isTrouble).length,
    })),
    calls: inside.length,
    failed: inside.filter(isTrouble).length,
    ends: [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
  };
}

function costsOf(calls: readonly CallSummary[]): Slice['costs'] {
  const sums = { stt: 0, llm: 0, tts: 0, telephony: 0 };
  for (const { cost } of calls) for (const part of COMPONENTS) sums[part] += cost[part] ?? 0;
  return sums;
}

/** A stage that some of the calls do not have took no time there. */
function meanLatency(calls: readonly CallSummary[]): TurnLatency {
  const answered = calls.filter(({ latency }) => latency.avgMs !== null).map(({ latency }) => latency);
  const mean = unknownLatency();
  for (const stage of Object.keys(mean) as (keyof TurnLatency)[]) {
    const values = answered.map(({ stages }) => stages[stage]);
    if (values.some((value) => value !== null)) mean[stage] = average(values.map((value) => value ?? 0));
  }
  mean.totalMs = average(answered.map(({ avgMs }) => avgMs ?? 0));
  return mean;
}

/** The top of an axis: a round number at or above `value`, which is not negative. */
export function axisTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 3, 5].find((each) => each * power >= value * (1 - 1e-9)) ?? 10;
  return step * power;
}
