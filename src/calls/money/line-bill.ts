// What the line of one call costs: estimated from the answer on, until the carrier tells its own figure.
import type { Clock, Timer } from '../../base/clock.js';
import type { Carrier } from '../../carriers/carrier.js';
import type { CallDirection, CallRecord } from '../../contract/call-record.js';
import type { LineCost } from './cost-meter.js';
import { begunSeconds, LineMeter, type LinePrice } from './line-meter.js';
import { addNanos, isCharge, toNanos } from './money.js';
import type { Pricing } from './pricing.js';

/** What a process that takes the call up goes on from. Plain JSON. */
export interface BillState {
  /** Null while the call is not answered. */
  readonly answer: AnswerState | null;
  /** What the carrier says that it charges, in nano-dollars; null while it has not. */
  readonly charged: number | null;
}

interface AnswerState {
  /** Epoch milliseconds: the monotonic clock of another process means nothing. */
  readonly at: number;
  readonly elapsedMs: number;
  readonly direction: CallDirection;
  /** Null without a price. */
  readonly call: LinePrice | null;
  readonly stream: LinePrice | null;
}

export interface LineBillOptions {
  readonly pricing: Pricing;
  readonly carrier: Carrier;
  readonly clock: Clock;
  /** The next step has begun. */
  stepped(): void;
}

/** Where the line begins to cost. */
interface Answer {
  readonly agoMs: number;
  readonly direction: CallDirection;
  /** Prices that it has had so far. */
  readonly prices?: Pick<AnswerState, 'call' | 'stream'> | undefined;
}

const NOTHING = { nanos: 0, seconds: 0 };

export class LineBill {
  readonly #options: LineBillOptions;
  #call: LineMeter | undefined;
  #stream: LineMeter | undefined;
  #direction: CallDirection = 'inbound';
  #answeredAt: number | undefined;
  #elapsedMs = 0;
  /** Told by the process before, whatever it comes to by the prices of this one. */
  readonly #least: typeof NOTHING;
  #charged: number | undefined;
  #hasOtherLeg = false;
  #stepTimer: Timer | undefined;
  #isOver = false;

  /** `before`: the bill of a call that another process had. Where its state is lost, the record tells. */
  constructor(options: LineBillOptions, before?: { record: CallRecord; state: BillState | undefined }) {
    this.#options = options;
    if (before === undefined) {
      this.#least = NOTHING;
      return;
    }
    const { record, state } = before;
    const { telephony, estimated } = record.cost;
    this.#least = { nanos: toNanos(telephony ?? 0), seconds: record.usage?.telephonySeconds ?? 0 };
    // Only the carrier's own figure is no estimate.
    const told = estimated || telephony === null ? undefined : toNanos(telephony);
    this.#charged = state === undefined ? told : (state.charged ?? undefined);
    const answer = state?.answer ?? undefined;
    const since = answer?.at ?? record.answeredAt;
    if (since === null) return;
    // A system clock that was set back takes nothing back.
    const agoMs = Math.max(answer?.elapsedMs ?? 0, options.clock.wallNow() - since);
    this.#open({ agoMs, direction: answer?.direction ?? record.direction, prices: answer });
  }

  get state(): BillState {
    return { answer: this.#answer, charged: this.#charged ?? null };
  }

  get isChargeKnown(): boolean {
    return this.#charged !== undefined;
  }

  get isOpen(): boolean {
    return this.#answeredAt !== undefined;
  }

  /** The call was answered so long ago. The first time counts. */
  answered(direction: CallDirection, agoMs = 0): void {
    if (!this.isOpen) this.#open({ agoMs, direction });
  }

  /** True where the carrier bills another leg apart: then no figure of its own is all that there is to pay. */
  hasOtherLeg(isThere: boolean): void {
    this.#hasOtherLeg = isThere;
  }

  /** Takes the carrier's own figure, in US dollars. False where it is no news, or none that a call can cost. */
  charge(costUsd: number): boolean {
    const nanos = toNanos(costUsd);
    if (!isCharge(costUsd) || this.#charged === nanos) return false;
    this.#charged = nanos;
    return true;
  }

  /** So far. `hasUsage`: of a line without a price, its time is told beside what else was used. */
  cost({ hasUsage }: { hasUsage: boolean }): LineCost {
    if (this.#answeredAt !== undefined && !this.#isOver)
      this.#elapsedMs = this.#options.clock.now() - this.#answeredAt;
    const leg = this.#charged ?? this.#call?.nanos(this.#elapsedMs) ?? null;
    const stream = this.#isStreamCharged ? 0 : (this.#stream?.nanos(this.#elapsedMs) ?? 0);
    const nanos = leg === null ? null : addNanos(leg, stream);
    const least = this.isChargeKnown ? 0 : this.#least.nanos;
    return {
      nanos: least === 0 ? nanos : Math.max(least, nanos ?? 0),
      billedSeconds: this.#billedSeconds(hasUsage),
      isFinal: this.isChargeKnown && stream === 0 && !this.#hasOtherLeg,
    };
  }

  /** The line was up for so much less than it seems. */
  shorten(byMs: number): void {
    if (this.#answeredAt !== undefined) this.#answeredAt += byMs;
  }

  /** The call is over: its time stands still. */
  close(): void {
    this.#isOver = true;
    this.#stepTimer?.cancel();
  }

  #open({ agoMs, direction, prices }: Answer): void {
    const { pricing, carrier, clock } = this.#options;
    this.#direction = direction;
    this.#answeredAt = clock.now() - agoMs;
    this.#elapsedMs = agoMs;
    const call = prices?.call ?? pricing.call(carrier, direction);
    const stream = prices?.stream ?? pricing.call(carrier, 'stream');
    this.#call = call && new LineMeter(call);
    this.#stream = stream && new LineMeter(stream);
    this.#awaitStep();
  }

  get #answer(): AnswerState | null {
    if (this.#answeredAt === undefined) return null;
    const { clock } = this.#options;
    const agoMs = clock.now() - this.#answeredAt;
    return {
      at: clock.wallNow() - Math.round(agoMs),
      elapsedMs: this.#isOver ? this.#elapsedMs : agoMs,
      direction: this.#direction,
      call: this.#call?.price ?? null,
      stream: this.#stream?.price ?? null,
    };
  }

  #billedSeconds(hasUsage: boolean): number {
    const begun = this.isOpen && hasUsage ? begunSeconds(this.#elapsedMs) : 0;
    return Math.max(this.#least.seconds, this.#call?.billedSeconds(this.#elapsedMs) ?? begun);
  }

  /** The stream is part of the carrier's own figure. */
  get #isStreamCharged(): boolean {
    return this.isChargeKnown && this.#options.carrier.supports.callCostCoversStream;
  }

  #awaitStep(): void {
    const meters = [this.#call, this.#stream].filter((meter) => meter !== undefined);
    const next = Math.min(...meters.map((meter) => meter.nextStepMs(this.#elapsedMs)));
    if (next === Number.POSITIVE_INFINITY || this.#isOver) return;
    // A moment later: the step begins behind its border.
    this.#stepTimer = this.#options.clock.after(next - this.#elapsedMs + 1, () => {
      this.#options.stepped();
      this.#awaitStep();
    });
  }
}
