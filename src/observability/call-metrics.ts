// What the facts of calls add to the metrics. Counters only rise: they count what happened, whatever the history still holds.
import type { Clock } from '../base/clock.js';
import type { CallEvent, CallEventOf } from '../contract/call-event.js';
import type { CallDirection, CallRecord, Cost, ToolCall, TurnLatency } from '../contract/call-record.js';
import { forgetOldest } from './bounded.js';
import { Counter, Histogram, type Metric } from './metric.js';

/** Calls that are remembered between two of their facts. */
const MAX_LIVE = 10_000;
/** Ended calls whose price may still be told. */
const MAX_ENDED = 1000;
/** A carrier that has not told its own price of a call this long after the end, in milliseconds, does not tell it. */
const PRICE_DUE_MS = 12 * 60_000;

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

/** What is measured only rises. */
const MEASURED = ['stt', 'llm', 'tts'] as const;
type Spent = Record<(typeof MEASURED)[number] | 'telephony', number>;

interface CallMoney {
  /** What is counted of it. */
  readonly spent: Spent;
  /** What the line costs, as far as is known: an estimate may be corrected downwards, so it is counted once it is settled. */
  telephony: number;
  isSettled: boolean;
}

interface LiveCall {
  direction: CallDirection | 'unknown';
  answeredAt: number | null;
  readonly money: CallMoney;
  /** Tools whose turn is complete, and which are counted when it is known what became of them. */
  toolsLeft: number;
}

interface EndedCall {
  readonly money: CallMoney;
  /** On the clock's monotonic side. */
  readonly endedAt: number;
}

const STAGE_SECONDS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10,
] as const;
const CALL_SECONDS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600] as const;

export class CallMetrics {
  readonly #live = new Map<string, LiveCall>();
  /** The call that ended first comes first. */
  readonly #ended = new Map<string, EndedCall>();
  readonly #clock: Clock;
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
    help: 'Latency of turns by stage. The stages from endpointing to send add up to total, from the end of speech to the first frame sent; heard is the same up to the acknowledgment of the carrier.',
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
    help: 'Cost of calls in US dollars. That of telephony counts once the carrier has told its own price after the end of a call, or its estimate twelve minutes after it.',
    labels: ['component'],
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get metrics(): readonly Metric[] {
    const spent = {
      text: () => {
        this.#settleDue();
        return this.#spent.text();
      },
    };
    return [this.#calls, this.#durations, this.#turns, this.#stages, this.#tools, this.#incidents, spent];
  }

  hear(event: CallEvent): void {
    switch (event.type) {
      case 'call.status':
      case 'call.started':
        this.#identified(event);
        return;
      case 'turn.completed':
        this.#turnCompleted(event);
        return;
      case 'transcript.segment':
        if (event.tool !== undefined) this.#toolDone(event.callId, event.tool);
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

  /** A call that another process had: what it has used is counted there, but for the line. The function that it returns takes that back. */
  adopt({ callId, direction, answeredAt, cost }: CallRecord): () => void {
    const spent = { stt: cost.stt ?? 0, llm: cost.llm ?? 0, tts: cost.tts ?? 0, telephony: 0 };
    const money = { spent, telephony: cost.telephony ?? 0, isSettled: false };
    this.#live.set(callId, { direction, answeredAt, money, toolsLeft: 0 });
    forgetOldest(this.#live, MAX_LIVE);
    return () => void this.#live.delete(callId);
  }

  /** Another process has the call. */
  leave(callId: string): void {
    this.#live.delete(callId);
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

  #turnCompleted({ callId, turn }: CallEventOf<'turn.completed'>): void {
    const { interrupted, latency, toolCalls } = turn;
    this.#turns.add(1, { interrupted: String(interrupted) });
    for (const [field, stage] of Object.entries(STAGES)) {
      const durationMs = latency[field as keyof TurnLatency];
      if (durationMs !== null) this.#stages.observe(durationMs / 1000, { stage });
    }
    const call = this.#live.get(callId);
    for (const tool of toolCalls) {
      const isRunning = tool.durationMs === null && tool.error === null;
      if (call !== undefined && isRunning) call.toolsLeft += 1;
      else this.#countTool(tool);
    }
  }

  #toolDone(callId: string, tool: ToolCall): void {
    const call = this.#live.get(callId);
    if (call === undefined || call.toolsLeft === 0) return;
    call.toolsLeft -= 1;
    this.#countTool(tool);
  }

  #countTool({ error }: Pick<ToolCall, 'error'>): void {
    this.#tools.add(1, { result: error === null ? 'ok' : 'error' });
  }

  /** Costs are told as sums: what is new is what is above the highest sum so far. */
  #costUpdated(callId: string, cost: Cost): void {
    const ended = this.#ended.get(callId);
    const money = this.#live.get(callId)?.money ?? ended?.money;
    if (money === undefined) return;
    for (const component of MEASURED) this.#count(money, component, cost[component] ?? 0);
    const telephony = cost.telephony ?? 0;
    const isPrice = telephony !== money.telephony || !cost.estimated;
    money.telephony = telephony;
    if (ended !== undefined && (isPrice || money.isSettled)) this.#settle(money);
  }

  #callEnded(event: CallEventOf<'call.ended'>): void {
    const { callId, outcome, endReason, at, durationMs } = event;
    if (this.#ended.has(callId)) return;
    const { direction, answeredAt, money, toolsLeft } = this.#live.get(callId) ?? open();
    this.#calls.add(1, { direction, outcome, end_reason: endReason });
    const lastedMs = answeredAt === null ? durationMs : Math.max(0, at - answeredAt);
    if (lastedMs !== undefined) this.#durations.observe(lastedMs / 1000);
    // Nothing went wrong with them, as far as anybody knows.
    for (let left = toolsLeft; left > 0; left -= 1) this.#countTool({ error: null });
    this.#live.delete(callId);
    this.#ended.set(callId, { money, endedAt: this.#clock.now() });
    forgetOldest(this.#ended, MAX_ENDED, (call) => this.#settle(call.money));
  }

  #settleDue(): void {
    const due = this.#clock.now() - PRICE_DUE_MS;
    for (const { money, endedAt } of this.#ended.values()) {
      if (endedAt > due) return;
      this.#settle(money);
    }
  }

  #settle(money: CallMoney): void {
    money.isSettled = true;
    this.#count(money, 'telephony', money.telephony);
  }

  #count({ spent }: CallMoney, component: keyof Spent, sum: number): void {
    if (sum <= spent[component]) return;
    this.#spent.add(sum - spent[component], { component });
    spent[component] = sum;
  }
}

function open(): LiveCall {
  const spent = { stt: 0, llm: 0, tts: 0, telephony: 0 };
  const money = { spent, telephony: 0, isSettled: false };
  return { direction: 'unknown', answeredAt: null, money, toolsLeft: 0 };
}
