// Figures over turns and calls. Defined once, used by records, the API and the page.
import type { CallLatency, CallRecord, Cost, Turn, TurnLatency } from '../contract/call-record.js';
import type { Aggregates, CallSummary } from '../contract/dashboard-api.js';

const STAGES = [
  'endpointingMs',
  'sttMs',
  'llmFirstTokenMs',
  'sentenceMs',
  'ttsFirstByteMs',
  'sendMs',
  'totalMs',
  'heardMs',
] as const satisfies readonly (keyof TurnLatency)[];

/** A latency of which nothing is known. */
export function unknownLatency(): TurnLatency {
  return {
    endpointingMs: null,
    sttMs: null,
    llmFirstTokenMs: null,
    sentenceMs: null,
    ttsFirstByteMs: null,
    sendMs: null,
    totalMs: null,
    heardMs: null,
  };
}

/** A cost of which nothing is known. */
export function unknownCost(): Cost {
  return { stt: null, llm: null, tts: null, telephony: null, total: 0, currency: 'USD', estimated: true };
}

/** Arithmetic mean, null of nothing. */
export function average(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Nearest-rank percentile: the smallest value that at least `percent` of all do not exceed. Null of nothing. */
export function percentile(values: readonly number[], percent: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}

/** US dollars rounded to 6 decimals. */
export function roundMoney(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}

/** Latency of a call: over the turns that have the value, interrupted ones included, the greeting not. */
export function summarizeLatency(turns: readonly Turn[]): CallLatency {
  const totals = known(turns.map((turn) => turn.latency.totalMs));
  const stages = unknownLatency();
  for (const stage of STAGES)
    stages[stage] = rounded(average(known(turns.map((turn) => turn.latency[stage]))));
  return {
    avgMs: rounded(average(totals)),
    p50Ms: rounded(percentile(totals, 50)),
    p95Ms: rounded(percentile(totals, 95)),
    stages,
  };
}

/** Counters over records. P95 is over the turns of all calls. */
export function aggregate(records: readonly CallRecord[]): Aggregates {
  const completed = records.filter((record) => record.status === 'completed').length;
  const sum = (pick: (record: CallRecord) => number | null) =>
    roundMoney(records.reduce((total, record) => total + (pick(record) ?? 0), 0));
  const turnTotals = records.flatMap((record) => known(record.turns.map((turn) => turn.latency.totalMs)));
  return {
    totalCalls: records.length,
    activeCalls: records.length - completed,
    completedCalls: completed,
    totalCost: sum((record) => record.cost.total),
    costBreakdown: {
      stt: sum((record) => record.cost.stt),
      llm: sum((record) => record.cost.llm),
      tts: sum((record) => record.cost.tts),
      telephony: sum((record) => record.cost.telephony),
    },
    avgDurationMs: rounded(average(known(records.map((record) => record.durationMs)))),
    avgLatencyMs: rounded(average(known(records.map((record) => record.latency.avgMs)))),
    p95LatencyMs: rounded(percentile(turnTotals, 95)),
  };
}

/** A record as lists show it. */
export function toSummary(record: CallRecord): CallSummary {
  const { turns: _turns, transcript: _transcript, envelope: _envelope, ...summary } = record;
  return summary;
}
