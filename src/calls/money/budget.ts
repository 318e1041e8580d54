// The brake on money: hears what calls cost, warns, has a call ended that is over its limit, and says when no new one may begin.
import type { Clock } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { CallRecord, Cost } from '../../contract/call-record.js';
import { Spending, type Window } from './spending.js';
import { TimedMap } from '../facts/timed-map.js';

/** Limits in US dollars. */
export interface BudgetLimits {
  readonly perCall?: number | undefined;
  readonly perHour?: number | undefined;
  readonly perDay?: number | undefined;
}

export interface BudgetEvents {
  /** A call has used this share of its budget. Once. */
  near(callId: string): void;
  /** A call has used all of it. With every further cost of the call again. */
  over(callId: string): void;
}

/** Code of the incident that tells of a call near its limit. */
export const BUDGET_NEAR = 'budget-near';

const NEAR = 0.8;
const MINUTE_MS = 60_000;
/** Minutes that the cost of a resumed call is spread over: a day. */
const MAX_PARTS = 24 * 60;
const MICROS = 1e6;
/** Calls that are over and whose price may still be corrected: the carrier's own may come minutes after the end. */
const MEMORY = { keepMs: 25 * 60 * 60_000, maxEntries: 1000 };
const WINDOW_NAMES: readonly Window[] = ['perHour', 'perDay'];

/** What is to be known of a call that is over. */
export interface PaidCall extends Pick<CallRecord, 'callId' | 'startedAt' | 'endedAt'> {
  readonly cost: Pick<Cost, 'total'>;
}

interface CallSpending {
  readonly micros: number;
  /** When it last cost more, on the clock's monotonic side: what a carrier takes back is taken from there. */
  readonly spentAt: number;
  readonly isNear: boolean;
}

export class Budget {
  readonly #limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: BudgetEvents;
  readonly #spending: Spending;
  readonly #live = new Map<string, CallSpending>();
  readonly #ended: TimedMap<string, CallSpending>;
  readonly #warned = new Set<Window>();
  /** What others may have spent meanwhile that nobody hears of. */
  #assumed: Spending | undefined;
  #unheard: () => number = () => 0;

  constructor(limits: BudgetLimits, options: { clock: Clock; logger: Logger; events: BudgetEvents }) {
    const { clock, logger, events } = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#logger = logger;
    this.#events = events;
    this.#spending = new Spending(clock);
    this.#ended = new TimedMap(clock, MEMORY);
  }

  /** The window whose limit is reached, so that no new call may begin; undefined while there is none. */
  get exhausted(): Window | undefined {
    return WINDOW_NAMES.find((window) => this.#share(window) >= 1);
  }

  /** To be given every fact. */
  hear(event: CallEvent): void {
    if (event.type === 'call.status' || event.type === 'call.started') this.#begin(event.callId);
    else if (event.type === 'call.ended') this.#settle(event.callId);
    else if (event.type === 'cost.updated') this.#charge(event.callId, event.cost);
  }

  /**
   * From now on the limits of an hour and a day hold for several processes together, and `hearElsewhere` is given what the others state. `unheard`: how many
   * others there are of which nothing is heard at present. They are taken to spend as this one does, so that each has its share of what is left.
   */
  shareWith(unheard: () => number): void {
    this.#unheard = unheard;
  }

  /**
   * To be given every fact of other processes that share the budget: those of a call in order, and it does no harm to hear them again. `agoMs`: how long ago it
   * was told, by a clock that the processes share. What was spent counts in the hour of that, because their own clocks may differ. @default by the date of the fact
   */
  hearElsewhere(event: CallEvent, { agoMs }: { agoMs?: number | undefined } = {}): void {
    if (event.type === 'cost.updated') {
      const spentAgoMs = Math.max(0, agoMs ?? this.#clock.wallNow() - event.at);
      this.#charge(event.callId, event.cost, { agoMs: spentAgoMs, isElsewhere: true });
    } else this.hear(event);
  }

  /** A call that ended too long ago is left as it was counted: what is new of its cost is not known any more. */
  #charge(callId: string, cost: Cost, { agoMs = 0, isElsewhere = false } = {}): void {
    const ended = this.#ended.get(callId);
    const before = ended ?? this.#live.get(callId);
    if (before === undefined) return;
    const now = this.#clock.now();
    const micros = Math.round(cost.total * MICROS);
    const spentAt = micros > before.micros ? now - agoMs : before.spentAt;
    this.#spending.add(micros - before.micros, { agoMs: now - spentAt });
    if (!isElsewhere) this.#assume(micros - before.micros);
    const share = shareOf(micros, this.#limits.perCall);
    const after = { micros, spentAt, isNear: before.isNear || share >= NEAR };
    if (ended === undefined) this.#live.set(callId, after);
    else this.#ended.set(callId, after);
    if (share >= NEAR && !before.isNear) this.#events.near(callId);
    if (share >= 1) this.#events.over(callId);
    for (const window of WINDOW_NAMES) this.#warn(window);
  }

  /** Calls that ended before this process heard of them count from their end on. One that is known is left alone. */
  recall(records: readonly PaidCall[]): void {
    for (const { cost, endedAt, startedAt, callId } of records) {
      if (this.#live.has(callId) || this.#ended.get(callId) !== undefined) continue;
      const micros = Math.round(cost.total * MICROS);
      const agoMs = Math.max(0, this.#clock.wallNow() - (endedAt ?? startedAt));
      this.#ended.set(callId, { micros, spentAt: this.#clock.now() - agoMs, isNear: true });
      this.#spending.add(micros, { agoMs });
    }
    for (const window of WINDOW_NAMES) this.#warn(window);
  }

  /** Takes what a store holds of the last day. Never rejects: without it the budget begins anew. */
  async recallFrom(history: (since: number) => Promise<readonly CallRecord[]>): Promise<void> {
    try {
      this.recall(await history(this.#clock.wallNow() - 24 * 60 * 60_000));
    } catch (error) {
      this.#logger.warn(
        describeError(error),
        'the budget starts at zero: the store could not list earlier calls',
      );
    }
  }

  /**
   * A call that another process began and this one goes on with, before its first fact here. What it has used counts as spent evenly from
   * its answer on: nobody knows when it was.
   */
  resume({ callId, cost, answeredAt, incidents }: CallRecord): void {
    if (this.#live.has(callId) || this.#ended.get(callId) !== undefined) return;
    const micros = Math.round(cost.total * MICROS);
    const [now, wallNow] = [this.#clock.now(), this.#clock.wallNow()];
    const minutes = Math.ceil((wallNow - (answeredAt ?? wallNow)) / MINUTE_MS);
    const parts = Math.min(Math.max(1, minutes), MAX_PARTS);
    let counted = 0;
    for (let part = 0; part < parts; part += 1) {
      // Whole micro-dollars, whose sum is all of it.
      const until = Math.floor((micros * (part + 1)) / parts);
      this.#spending.add(until - counted, { agoMs: part * MINUTE_MS });
      counted = until;
    }
    const isNear = incidents.some(({ code }) => code === BUDGET_NEAR);
    this.#live.set(callId, { micros, spentAt: now, isNear });
    for (const window of WINDOW_NAMES) this.#warn(window);
  }

  #begin(callId: string): void {
    if (this.#live.has(callId) || this.#ended.get(callId) !== undefined) return;
    this.#live.set(callId, { micros: 0, spentAt: this.#clock.now(), isNear: false });
  }

  /** The end of a call that another process began is told before `recall` knows what it cost. */
  #settle(callId: string): void {
    const spent = this.#live.get(callId);
    if (spent === undefined) return;
    this.#live.delete(callId);
    this.#ended.set(callId, spent);
  }

  #share(window: Window): number {
    const assumed = this.#unheard() > 0 ? (this.#assumed?.within(window) ?? 0) : 0;
    return shareOf(this.#spending.within(window) + assumed, this.#limits[window]);
  }

  /** What others have spent meanwhile is heard as soon as they are. */
  #assume(micros: number): void {
    const unheard = this.#unheard();
    if (unheard === 0) {
      this.#assumed = undefined;
      return;
    }
    this.#assumed ??= new Spending(this.#clock);
    this.#assumed.add(micros * unheard);
  }

  /** Once each time that the window fills up. */
  #warn(window: Window): void {
    const isNear = this.#share(window) >= NEAR;
    if (isNear && !this.#warned.has(window))
      this.#logger.warn(
        { budget: window, limitUsd: this.#limits[window] },
        'most of the budget is used: new calls are refused once all of it is',
      );
    if (isNear) this.#warned.add(window);
    else this.#warned.delete(window);
  }
}

/** How much of a limit in US dollars is used. */
function shareOf(micros: number, limitUsd: number | undefined): number {
  return limitUsd === undefined ? 0 : micros / Math.round(limitUsd * MICROS);
}
