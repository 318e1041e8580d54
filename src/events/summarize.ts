// Figures over turns and calls. Defined once, used by records, the API and the page.
import type { CallLatency, CallRecord, Cost, Turn, TurnLatency } from '../contract/call-record.js';
import type { Aggregates, CallSummary } from '../contract/dashboard-api.js';
import { Distribution } from './distribution.js';

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
  return nearestRank(
    [...values].sort((a, b) => a - b),
    percent,
  );
}

function nearestRank(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}

/** US dollars rounded to 6 decimals. */
export function roundMoney(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}

/** Latency of a call, over its answered turns: see `CallLatency`. One pass and one sort: it is asked for after every turn. */
export function summarizeLatency(turns: readonly Turn[]): CallLatency {
  const totals: number[] = [];
  const means = STAGES.map(() => new Mean());
  for (const { latency } of turns) {
    if (latency.totalMs === null) continue;
    totals.push(latency.totalMs);
    for (const [index, stage] of STAGES.entries()) means[index]?.count(latency[stage], 1);
  }
  totals.sort((a, b) => a - b);
  const stages = unknownLatency();
  for (const [index, stage] of STAGES.entries()) stages[stage] = rounded(means[index]?.value ?? null);
  return {
    avgMs: stages.totalMs,
    p50Ms: rounded(nearestRank(totals, 50)),
    p95Ms: rounded(nearestRank(totals, 95)),
    p99Ms: rounded(nearestRank(totals, 99)),
    stages,
  };
}

const COMPONENTS = ['stt', 'llm', 'tts', 'telephony', 'total'] as const;
const MICROS = 1e6;

/** Counters over records that come, change and go: each change costs what it changes, however many calls there are. */
export class Tally {
  #calls = 0;
  #completed = 0;
  readonly #durations = new Mean();
  readonly #latencies = new Mean();
  /** Millionths of a dollar: whole numbers, which add up without drift. */
  readonly #micros = { stt: 0, llm: 0, tts: 0, telephony: 0, total: 0 };
  /** Of the answered turns, in milliseconds. */
  readonly #totals = new Distribution();

  /** Counts `after` in the place of `before`; undefined is no call. */
  replace(before: CallRecord | undefined, after: CallRecord | undefined): void {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
    if (before?.turns !== after?.turns) this.#replaceTurns(before?.turns ?? [], after?.turns ?? []);
  }

  result(): Aggregates {
    const { total, ...components } = this.#micros;
    return {
      totalCalls: this.#calls,
      activeCalls: this.#calls - this.#completed,
      completedCalls: this.#completed,
      totalCost: total / MICROS,
      costBreakdown: {
        stt: components.stt / MICROS,
        llm: components.llm / MICROS,
        tts: components.tts / MICROS,
        telephony: components.telephony / MICROS,
      },
      avgDurationMs: rounded(this.#durations.value),
      avgLatencyMs: rounded(this.#latencies.value),
      p95LatencyMs: rounded(this.#totals.percentile(95)),
      p99LatencyMs: rounded(this.#totals.percentile(99)),
    };
  }

  #count(record: CallRecord, sign: 1 | -1): void {
    this.#calls += sign;
    if (record.status === 'completed') this.#completed += sign;
    this.#durations.count(record.durationMs, sign);
    this.#latencies.count(record.latency.avgMs, sign);
    for (const component of COMPONENTS)
      this.#micros[component] += sign * Math.round((record.cost[component] ?? 0) * MICROS);
  }

  #replaceTurns(before: readonly Turn[], after: readonly Turn[]): void {
    for (let index = 0; index < before.length || index < after.length; index += 1) {
      const was = before[index]?.latency.totalMs ?? null;
      const is = after[index]?.latency.totalMs ?? null;
      if (was === is) continue;
      if (was !== null) this.#totals.delete(was);
      if (is !== null) this.#totals.add(is);
    }
  }
}

class Mean {
  #sum = 0;
  #count = 0;

  count(value: number | null, sign: 1 | -1): void {
    if (value === null) return;
    this.#sum += sign * value;
    this.#count += sign;
  }

  get value(): number | null {
    return this.#count === 0 ? null : this.#sum / this.#count;
  }
}

/** Counters over records. */
export function aggregate(records: readonly CallRecord[]): Aggregates {
  const tally = new Tally();
  for (const record of records) tally.replace(undefined, record);
  return tally.result();
}

/** A record as lists show it. */
export function toSummary(record: CallRecord): CallSummary {
  const { turns: _turns, transcript: _transcript, envelope: _envelope, ...summary } = record;
  return summary;
}
