// The cost of one call while it runs, and what is still learnt of it afterwards: says what it is whenever that has changed.
import type { Clock, Timer } from '../../base/clock.js';
import type { Carrier } from '../../carriers/carrier.js';
import type { CallFact } from '../../contract/call-event.js';
import type { CallDirection, CallRecord, Cost, Turn } from '../../contract/call-record.js';
import type { EngineRecipe, UsageFact } from '../../engines/engine.js';
import { unknownCost } from '../../events/summarize.js';
import { atLeast, CostMeter, type MeterState, meterStateOf } from './cost-meter.js';
import { type BillState, LineBill } from './line-bill.js';
import type { Pricing } from './pricing.js';

/** What is used between two turns is told after this time, in milliseconds. */
const TELL_AFTER_MS = 5000;

/** What a process that takes the call up goes on from. Plain JSON. */
export interface CostState {
  readonly meter: MeterState;
  readonly completedTurns: readonly number[];
  readonly bill: BillState;
}

/** A call that another process had. */
export interface CostBefore {
  readonly record: CallRecord;
  /** Undefined where it is lost: then the record tells. */
  readonly state: CostState | undefined;
  /** The process before has told all that it used. */
  readonly isComplete: boolean;
}

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
  readonly #bill: LineBill;
  readonly #completedTurns: Set<number>;
  #told: Cost = unknownCost();
  #toldSeconds = 0;
  #isUseTold: boolean;
  #tellTimer: Timer | undefined;
  #isOver = false;

  constructor(options: RunningCostOptions, before?: CostBefore) {
    this.#options = options;
    this.#meter = new CostMeter(options.pricing, before && meterStateBefore(before));
    const { pricing, carrier, clock } = options;
    const bill = before && { record: before.record, state: before.state?.bill };
    this.#bill = new LineBill({ pricing, carrier, clock, stepped: () => this.#update() }, bill);
    const turns = before?.record.turns.map(({ index }) => index) ?? [];
    this.#completedTurns = new Set([...(before?.state?.completedTurns ?? []), ...turns]);
    // What was used last may not have been told.
    this.#isUseTold = before === undefined;
  }

  get state(): CostState {
    return {
      meter: this.#meter.state,
      completedTurns: [...this.#completedTurns],
      bill: this.#bill.state,
    };
  }

  get isChargeKnown(): boolean {
    return this.#bill.isChargeKnown;
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
    this.#bill.answered(direction);
    this.#update();
  }

  /** The call was answered so long ago, as its carrier says. */
  lasted(direction: CallDirection, durationMs: number): void {
    if (this.#isOver || this.#bill.isOpen) return;
    this.#bill.answered(direction, durationMs);
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

  /** A turn is over: tells the cost of the call and returns that of the turn, with its tokens. */
  completed(turnIndex: number): Pick<Turn, 'cost' | 'tokens'> {
    this.#completedTurns.add(turnIndex);
    this.#update();
    return this.#meter.turn(turnIndex);
  }

  /** True where the carrier bills another leg apart: then no figure of its own is all that there is to pay. */
  hasOtherLeg(isThere: boolean): void {
    this.#bill.hasOtherLeg(isThere);
  }

  /**
   * The carrier's own figure takes the place of the estimate of all that it covers. The same figure again is no news, and one
   * that no call can cost is not taken.
   */
  charged(costUsd: number): void {
    if (this.#bill.charge(costUsd)) this.#update();
  }

  /** The call is over, since `agoMs`: tells what has not been told, and stops the clock. Time without a price is told by nothing else. */
  ended({ agoMs = 0 } = {}): void {
    this.#bill.shorten(agoMs);
    if (this.#line.billedSeconds !== this.#toldSeconds) this.#isUseTold = false;
    this.#update();
    this.#isOver = true;
    this.#bill.close();
    this.#tellTimer?.cancel();
  }

  get #line() {
    return this.#bill.cost({ hasUsage: this.#meter.hasUsage });
  }

  #update(turnIndex?: number): void {
    const line = this.#line;
    const cost = this.#meter.cost(line);
    if (this.#isUseTold && isSame(cost, this.#told)) return;
    this.#told = cost;
    this.#toldSeconds = line.billedSeconds;
    this.#isUseTold = true;
    const turn =
      turnIndex === undefined ? {} : { turn: { index: turnIndex, ...this.#meter.turn(turnIndex) } };
    this.#options.tell({ type: 'cost.updated', cost, usage: this.#meter.usage(line), ...turn });
  }
}

function meterStateBefore({ record, state, isComplete }: CostBefore): MeterState {
  const known = state === undefined ? meterStateOf(record) : atLeast(state.meter, record);
  return isComplete ? known : { ...known, turns: withUntold(known.turns, record), isGuess: true };
}

/** What the last turn has used may not have been told, unless its tokens were. */
function withUntold(turns: MeterState['turns'], record: CallRecord): MeterState['turns'] {
  const last = record.turnCount - 1;
  if (last < 0 || record.turns.some(({ index, tokens }) => index === last && tokens !== null)) return turns;
  const { nanos, isKnown } = turns.find(({ index }) => index === last) ?? { nanos: 0, isKnown: true };
  return [...turns.filter(({ index }) => index !== last), { index: last, nanos, isKnown, tokens: 'unknown' }];
}

function isSame(a: Cost, b: Cost): boolean {
  const { stt, llm, tts, telephony, estimated } = a;
  return (
    b.stt === stt && b.llm === llm && b.tts === tts && b.telephony === telephony && b.estimated === estimated
  );
}
