// What one call has ready before its stream comes: begun once its webhook is answered, handed to its engine, or closed when nothing comes.
import type { Timer } from '../../base/clock.js';
import { describeError, withFields } from '../../base/log.js';
import type { EngineRecipe, Preparation, PreparationContext, UsageFact } from '../../engines/engine.js';
import type { CallEnvironment } from '../call-environment.js';
import type { CallLedger } from '../facts/call-ledger.js';
import { callClock } from '../call-clock.js';

/** A call that was answered has its stream by then, or will have none. */
const ANSWERED_MS = 15_000;

/** Who talks to whom, as far as an agent is told. */
export type PreparedParties = Pick<PreparationContext, 'callId' | 'caller' | 'callee' | 'direction'>;

export interface PreparedCallOptions {
  readonly call: PreparedParties;
  readonly recipe: EngineRecipe;
  readonly environment: Pick<CallEnvironment, 'carrier' | 'clock' | 'logger' | 'meters'>;
  /** How long it may ring before it is answered, in milliseconds; undefined when that has happened. */
  readonly ringMs: number | undefined;
  /** It does not wait any more. Once. */
  readonly over: () => void;
}

export class PreparedCall {
  readonly #options: PreparedCallOptions;
  readonly #spent: UsageFact[] = [];
  #preparation: Preparation | undefined;
  #timer: Timer;
  #isAnswered: boolean;
  #state: 'waiting' | 'taken' | 'closed' = 'waiting';
  /** Where errors of its timers go: as long as there is no call, it is the preparation that is given up. */
  #fail: (error: unknown) => void = (error) => this.#giveUp(error);

  constructor(options: PreparedCallOptions) {
    this.#options = options;
    this.#isAnswered = options.ringMs === undefined;
    // Whoever waits for the answer to a webhook does not wait for this.
    this.#timer = options.environment.clock.after(0, () => this.#begin());
  }

  /** Somebody is on the line: the stream is next. Idempotent. */
  answered(): void {
    if (this.#isAnswered || this.#state !== 'waiting') return;
    this.#isAnswered = true;
    const preparation = this.#preparation;
    if (preparation === undefined) return;
    this.#limit(ANSWERED_MS);
    this.#attempt(() => preparation.answered?.());
  }

  /** What the engine of this call is made of; undefined when it is another call, or too late. `failed` hears its errors from now on. */
  take(call: PreparedParties, failed: (error: unknown) => void): Preparation | undefined {
    const known = this.#options.call;
    const isSame = (['callId', 'caller', 'callee', 'direction'] as const).every(
      (fact) => call[fact] === known[fact],
    );
    const preparation = this.#preparation;
    if (!isSame || preparation === undefined || this.#state !== 'waiting') {
      this.close();
      return undefined;
    }
    this.#leave('taken');
    this.#fail = failed;
    return preparation;
  }

  /** Closes what no engine has taken. Idempotent. */
  close(): void {
    if (this.#state !== 'waiting') return;
    const preparation = this.#preparation;
    this.#leave('closed');
    try {
      preparation?.close();
    } catch (error) {
      this.#note(error);
    }
  }

  /** Closes it, and books what was used and no engine will state. `isCharged`: the ledger knows who charges. Idempotent. */
  book(ledger: Pick<CallLedger, 'pays' | 'take'>, { isCharged }: { isCharged: boolean }): void {
    this.close();
    const spent = this.#spent.splice(0);
    if (spent.length === 0) return;
    if (!isCharged) ledger.pays(this.#options.recipe);
    for (const fact of spent) ledger.take(fact);
  }

  #begin(): void {
    const { call, recipe, environment, ringMs = ANSWERED_MS } = this.#options;
    const { callId, caller, callee, direction } = call;
    const { carrier, clock, logger, meters } = environment;
    this.#limit(this.#isAnswered ? ANSWERED_MS : ringMs);
    const run = (task: () => void) => this.#attempt(task);
    this.#attempt(() => {
      this.#preparation = recipe.prepare?.({
        callId,
        caller,
        callee,
        direction,
        clock: callClock(clock, run),
        logger: withFields(logger, { callId }),
        meters,
        line: carrier.usualLine,
        spent: (fact) => void this.#spent.push(fact),
      });
      if (this.#isAnswered) this.#preparation?.answered?.();
    });
  }

  #limit(delayMs: number): void {
    this.#timer.cancel();
    this.#timer = this.#options.environment.clock.after(delayMs, () => this.close());
  }

  #leave(state: 'taken' | 'closed'): void {
    const { call, environment, over } = this.#options;
    this.#state = state;
    this.#timer.cancel();
    // Whoever remembers the call for longer keeps no audio of it.
    this.#preparation = undefined;
    over();
    environment.logger.debug({ callId: call.callId, state }, 'the preparation of a call ended');
  }

  #attempt(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#fail(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#note(error);
    this.close();
  }

  #note(error: unknown): void {
    const { call, environment } = this.#options;
    environment.logger.debug(
      { callId: call.callId, ...describeError(error) },
      'a call could not be prepared',
    );
  }
}
