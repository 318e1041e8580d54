// What the facts of calls add to the metrics. Counters only rise: they count what happened, whatever the history still holds.
import type { CallEvent, CallEventOf } from '../contract/call-event.js';
import type { CallDirection, Cost, Turn, TurnLatency } from '../contract/call-record.js';
import { forgetOldest } from './bounded.js';
import { Counter, Histogram, type Metric } from './metric.js';

/** Calls that are remembered between two of their facts. */
const MAX_LIVE = 10_000;
/** Ended calls whose price may still be told. */
const MAX_ENDED = 1000;

const STAGES = {
  endpointingMs: 'endpointing',
  sttMs: 'stt',
  llmFirstTokenMs: 'llm_first_token',
  sentenceMs: 'sentence',
  ttsFirstByteMs: 'tts_first_byte',
  sendMs: 'send',
  totalMs: 'total',
  heardMs: 'heard',
} as const satisfies Record<keyof TurnLatency, string>;

const COMPONENTS = ['stt', 'llm', 'tts', 'telephony'] as const;
type Spent = Record<(typeof COMPONENTS)[number], number>;

interface LiveCall {
  direction: CallDirection | 'unknown';
  answeredAt: number | null;
  readonly spent: Spent;
}

const STAGE_SECONDS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10,
] as const;
const CALL_SECONDS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600] as const;

export class CallMetrics {
  readonly #live = new Map<string, LiveCall>();
  readonly #ended = new Map<string, Spent>();
  readonly #calls = new Counter({
    name: 'offhook_calls_total',
    help: 'Calls that have ended.',
    labels: ['direction', 'outcome', 'end_reason'],
  });
  readonly #durations = new Histogram({
    name: 'offhook_call_duration_seconds',
    help: 'Time from the answer to the end of calls that were answered.',
    buckets: CALL_SECONDS,
  });
  readonly #turns = new Counter({
    name: 'offhook_turns_total',
    help: 'Turns that are complete.',
    labels: ['interrupted'],
  });
  readonly #stages = new Histogram({
    name: 'offhook_turn_stage_seconds',
    help: 'Latency of turns by stage. The stages from endpointing to send add up to total, from the end of speech to the first frame sent; heard is the same up to the acknowledgement of the carrier.',
    labels: ['stage'],
    buckets: STAGE_SECONDS,
  });
  readonly #tools = new Counter({
    name: 'offhook_tool_calls_total',
    help: 'Tools that the model called.',
    labels: ['result'],
  });
  readonly #incidents = new Counter({
    name: 'offhook_incidents_total',
    help: 'Incidents of calls by code.',
    labels: ['code'],
  });
  readonly #spent = new Counter({
    name: 'offhook_spent_dollars_total',
    help: 'Known cost of calls in US dollars. An estimate that is corrected downwards later stays counted.',
    labels: ['component'],
  });

  get metrics(): readonly Metric[] {
    return [
      this.#calls,
      this.#durations,
      this.#turns,
      this.#stages,
      this.#tools,
      this.#incidents,
      this.#spent,
    ];
  }

  hear(event: CallEvent): void {
    switch (event.type) {
      case 'call.status':
      case 'call.started':
        this.#identified(event);
        return;
      case 'turn.completed':
        this.#turnCompleted(event.turn);
        return;
      case 'incident.noted':
        this.#incidents.add(1, { code: event.code });
        return;
      case 'provider.reconnected':
      case 'provider.replaced':
        this.#incidents.add(1, { code: event.type.replace('.', '-') });
        return;
      case 'cost.updated':
        this.#costUpdated(event.callId, event.cost);
        return;
      case 'call.ended':
        this.#callEnded(event);
        return;
      default:
    }
  }

  #identified(event: CallEventOf<'call.status'> | CallEventOf<'call.started'>): void {
    const isOver = this.#ended.has(event.callId);
    if (isOver) return;
    const call = this.#live.get(event.callId) ?? open();
    const isUp = event.type === 'call.started' || event.status === 'active';
    call.direction = event.direction;
    if (isUp) call.answeredAt ??= event.at;
    this.#live.set(event.callId, call);
    forgetOldest(this.#live, MAX_LIVE);
  }

  #turnCompleted({ interrupted, latency, toolCalls }: Turn): void {
    this.#turns.add(1, { interrupted: String(interrupted) });
    for (const [field, stage] of Object.entries(STAGES)) {
      const durationMs = latency[field as keyof TurnLatency];
      if (durationMs !== null) this.#stages.observe(durationMs / 1000, { stage });
    }
    for (const { error } of toolCalls) this.#tools.add(1, { result: error === null ? 'ok' : 'error' });
  }

  /** Costs are told as sums: what is new is what is above the highest sum so far. */
  #costUpdated(callId: string, cost: Cost): void {
    const spent = this.#live.get(callId)?.spent ?? this.#ended.get(callId);
    if (spent === undefined) return;
    for (const component of COMPONENTS) {
      const sum = cost[component] ?? 0;
      if (sum <= spent[component]) continue;
      this.#spent.add(sum - spent[component], { component });
      spent[component] = sum;
    }
  }

  #callEnded(event: CallEventOf<'call.ended'>): void {
    const { callId, outcome, endReason, at } = event;
    if (this.#ended.has(callId)) return;
    const { direction, answeredAt, spent } = this.#live.get(callId) ?? open();
    this.#calls.add(1, { direction, outcome, end_reason: endReason });
    if (answeredAt !== null) this.#durations.observe(Math.max(0, at - answeredAt) / 1000);
    this.#live.delete(callId);
    this.#ended.set(callId, spent);
    forgetOldest(this.#ended, MAX_ENDED);
  }
}

function open(): LiveCall {
  return { direction: 'unknown', answeredAt: null, spent: { stt: 0, llm: 0, tts: 0, telephony: 0 } };
}
