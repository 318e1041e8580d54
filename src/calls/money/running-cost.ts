// The cost of one call while it runs, and what is still learnt of it afterwards: says what it is whenever that has changed.
import type { Clock, Timer } from '../../base/clock.js';
import type { Carrier } from '../../carriers/carrier.js';
import type { CallFact } from '../../contract/call-event.js';
import type { CallDirection, Cost } from '../../contract/call-record.js';
import type { EngineRecipe, UsageFact } from '../../engines/engine.js';
import { unknownCost } from '../../events/summarize.js';
import { CostMeter, type LineCost } from './cost-meter.js';
import { begunSeconds, LineMeter } from './line-meter.js';
import { addNanos, isCharge, toNanos } from './money.js';
import type { Pricing } from './pricing.js';

/** What is used between two turns is told after this time, in milliseconds. */
const TELL_AFTER_MS = 5000;

export interface RunningCostOptions {
  readonly pricing: Pricing;
  readonly carrier: Carrier;
  readonly clock: Clock;
  /** Tells the cost. */
  tell(fact: Extract<CallFact, { type: 'cost.updated' }>): void;
}

export class RunningCost {
  readonly #options: RunningCostOptions;
  readonly #meter: CostMeter;
  readonly #completedTurns = new Set<number>();
  #line: LineMeter | undefined;
  #stream: LineMeter | undefined;
  #answeredAt: number | undefined;
  #elapsedMs = 0;
  /** What the carrier says that it charges, in nano-dollars. */
  #charged: number | undefined;
  #hasOtherLeg = false;
  #told: Cost = unknownCost();
  #toldSeconds = 0;
  #isUseTold = true;
  #stepTimer: Timer | undefined;
  #tellTimer: Timer | undefined;
  #isOver = false;

  constructor(options: RunningCostOptions) {
    this.#options = options;
    this.#meter = new CostMeter(options.pricing);
  }

  get isChargeKnown(): boolean {
    return this.#charged !== undefined;
  }

  /** Who talks to the caller, and for what money. */
  pays({ payees, providers }: Pick<EngineRecipe, 'payees' | 'providers'>): void {
    const { engine, stt, llm, tts } = providers;
    const names = { stt, llm: engine ?? llm, tts };
    const named = Object.entries(names).flatMap(([stage, name]) =>
      name === null ? [] : [[stage, { name }]],
    );
    this.#meter.pays(payees ?? Object.fromEntries(named));
  }

  /** The call is answered: from the first time that this is said the line costs. */
  answered(direction: CallDirection): void {
    if (this.#isOver) return;
    if (this.#answeredAt === undefined) this.#openLine(direction);
    this.#update();
  }

  /** The call was answered so long ago, as its carrier says. */
  lasted(direction: CallDirection, durationMs: number): void {
    if (this.#isOver || this.#answeredAt !== undefined) return;
    this.#openLine(direction, durationMs);
    this.#update();
  }

  /** Use of a turn that is told as complete is told at once, all other with the next turn or after a while. */
  used(fact: UsageFact): void {
    this.#meter.add(fact);
    this.#isUseTold = false;
    const { turnIndex } = fact;
    if (turnIndex !== null && this.#completedTurns.has(turnIndex)) this.#update(turnIndex);
    else if (this.#isOver) this.#update();
    else
      this.#tellTimer ??= this.#options.clock.after(TELL_AFTER_MS, () => {
        this.#tellTimer = undefined;
        this.#update();
      });
  }

  /** A turn is over: tells the cost of the call and returns that of the turn. */
  completed(turnIndex: number): number | null {
    this.#completedTurns.add(turnIndex);
    this.#update();
    return this.#meter.turn(turnIndex);
  }

  /** True where the carrier bills another leg apart: then no figure of its own is all that there is to pay. */
  hasOtherLeg(isThere: boolean): void {
    this.#hasOtherLeg = isThere;
  }

  /**
   * The carrier's own figure takes the place of the estimate of all that it covers. The same figure again is no news, and one
   * that no call can cost is not taken.
   */
  charged(costUsd: number): void {
    const nanos = toNanos(costUsd);
    if (!isCharge(costUsd) || this.#charged === nanos) return;
    this.#charged = nanos;
    this.#update();
  }

  /** The call is over: tells what has not been told, and stops the clock. Time without a price is told by nothing else. */
  ended(): void {
    if (this.#lineCost().billedSeconds !== this.#toldSeconds) this.#isUseTold = false;
    this.#update();
    this.#isOver = true;
    this.#stepTimer?.cancel();
    this.#tellTimer?.cancel();
  }

  #openLine(direction: CallDirection, agoMs = 0): void {
    const { pricing, carrier, clock } = this.#options;
    this.#answeredAt = clock.now() - agoMs;
    const line = pricing.call(carrier, direction);
    const stream = pricing.call(carrier, 'stream');
    this.#line = line && new LineMeter(line);
    this.#stream = stream && new LineMeter(stream);
    this.#awaitStep();
  }

  #update(turnIndex?: number): void {
    const line = this.#lineCost();
    const cost = this.#meter.cost(line);
    if (this.#isUseTold && isSame(cost, this.#told)) return;
    this.#told = cost;
    this.#toldSeconds = line.billedSeconds;
    this.#isUseTold = true;
    const turn =
      turnIndex === undefined ? {} : { turn: { index: turnIndex, cost: this.#meter.turn(turnIndex) } };
    this.#options.tell({ type: 'cost.updated', cost, usage: this.#meter.usage(line), ...turn });
  }

  #lineCost(): LineCost {
    if (this.#answeredAt !== undefined && !this.#isOver)
      this.#elapsedMs = this.#options.clock.now() - this.#answeredAt;
    const leg = this.#charged ?? this.#line?.nanos(this.#elapsedMs) ?? null;
    const stream = this.#isStreamCharged ? 0 : (this.#stream?.nanos(this.#elapsedMs) ?? 0);
    return {
      nanos: leg === null ? null : addNanos(leg, stream),
      billedSeconds: this.#billedSeconds,
      isFinal: this.#charged !== undefined && stream === 0 && !this.#hasOtherLeg,
    };
  }

  /** Of a line without a price it is told beside what else was used. */
  get #billedSeconds(): number {
    if (this.#line !== undefined) return this.#line.billedSeconds(this.#elapsedMs);
    const isTold = this.#answeredAt !== undefined && this.#meter.hasUsage;
    return isTold ? begunSeconds(this.#elapsedMs) : 0;
  }

  /** The stream is part of the carrier's own figure. */
  get #isStreamCharged(): boolean {
    return this.#charged !== undefined && this.#options.carrier.supports.callCostCoversStream;
  }

  #awaitStep(): void {
    const meters = [this.#line, this.#stream].filter((meter) => meter !== undefined);
    const next = Math.min(...meters.map((meter) => meter.nextStepMs(this.#elapsedMs)));
    if (next === Number.POSITIVE_INFINITY || this.#isOver) return;
    // A moment later: the step begins behind its border.
    this.#stepTimer = this.#options.clock.after(next - this.#elapsedMs + 1, () => {
      this.#update();
      this.#awaitStep();
    });
  }
}

function isSame(a: Cost, b: Cost): boolean {
  const { stt, llm, tts, telephony, estimated } = a;
  return (
    b.stt === stt && b.llm === llm && b.tts === tts && b.telephony === telephony && b.estimated === estimated
  );
}
