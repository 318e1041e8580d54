// What one of several engines of a call is given of it, so that nothing that it names or uses is taken for another one's.
import type { LinePlayout } from '../../audio/playout.js';
import type { EndReason } from '../../contract/call-record.js';
import { suffixOf } from '../beginning.js';
import type { Payees, EngineContext, EngineFact, EngineFailure, Takeover, UsageFact } from '../engine.js';

export interface EngineScopeOptions {
  readonly context: EngineContext;
  /** Who is paid for what the engine uses, where it is not those that the call was told of. */
  readonly payees: Payees | undefined;
  /** Which engine of the call it is, counted from 1. */
  readonly number: number;
  readonly takeover: Takeover | undefined;
  readonly hasFallback: boolean;
  /** How long ago the caller finished what nobody has answered. */
  readonly unansweredMs: () => number | undefined;
  /** A fact of the engine. */
  readonly fact: (fact: EngineFact) => void;
  /** The engine gives audio to the line. */
  readonly spoken: () => void;
  /** What was not played of it is not. */
  readonly silenced: () => void;
  /** Undefined where there is nobody to hand the caller over to. */
  readonly handOff?: EngineContext['handOff'];
  readonly ends: (reason: EndReason, failure: EngineFailure | undefined) => void;
}

export class EngineScope {
  readonly #options: EngineScopeOptions;
  /** Behind the names of the first engine is nothing: a call that needs no second one is told as any other. */
  readonly #suffix: string;
  /** How long ago what the engine is given happened. */
  #agoMs = 0;

  constructor(options: EngineScopeOptions) {
    this.#options = options;
    this.#suffix = options.number === 1 ? '' : `.${options.number}`;
  }

  get context(): EngineContext {
    const { context, takeover, hasFallback, unansweredMs, handOff, ends } = this.#options;
    const { clock } = context;
    return {
      ...context,
      clock: {
        now: () => clock.now() - this.#agoMs,
        wallNow: () => clock.wallNow() - this.#agoMs,
        after: (delayMs, task) => clock.after(delayMs, task),
        looseEnds: clock.looseEnds,
      },
      takeover: takeover && this.#named(takeover),
      resumed: takeover === undefined ? context.resumed : undefined,
      hasFallback,
      handOff,
      unansweredMs: hasFallback ? unansweredMs : undefined,
      playout: this.#playout(context.playout),
      fact: (fact) => this.#state(fact),
      endCall: (reason, failure) => ends(reason, failure),
    };
  }

  /** To the engine it is `agoMs` earlier while `task` runs: it is given what happened then. */
  earlier(agoMs: number, task: () => void): void {
    this.#agoMs = agoMs;
    try {
      task();
    } finally {
      this.#agoMs = 0;
    }
  }

  /** The name by which the engine knows a mark; undefined for one of another engine. */
  markOf(name: string): string | undefined {
    if (this.#suffix === '') return name;
    return name.endsWith(this.#suffix) ? name.slice(0, -this.#suffix.length) : undefined;
  }

  #playout(playout: LinePlayout): LinePlayout {
    const { spoken, silenced } = this.#options;
    const suffix = this.#suffix;
    return {
      push(audio) {
        playout.push(audio);
        spoken();
      },
      mark: (name) => playout.mark(`${name}${suffix}`),
      clear() {
        const playedMs = playout.clear();
        silenced();
        return playedMs;
      },
      pause() {
        playout.pause();
        silenced();
      },
      resume() {
        playout.resume();
        spoken();
      },
      onNextFrameSent: (listener) => playout.onNextFrameSent(listener),
      get lineFormat() {
        return playout.lineFormat;
      },
      get pushedMs() {
        return playout.pushedMs;
      },
      get playedMs() {
        return playout.playedMs;
      },
    };
  }

  /** What it says in the transcript is its own. */
  #named(takeover: Takeover): Takeover {
    const { state } = takeover;
    const suffix = `${suffixOf(this.#options.context.resumed)}${this.#suffix}`;
    return { ...takeover, state: { ...state, turns: { ...state.turns, suffix } } };
  }

  #state(fact: EngineFact): void {
    const { fact: tell } = this.#options;
    tell(fact.type === 'usage.measured' ? paidTo(this.#options.payees, fact) : fact);
  }
}

/** What was used, with who is paid for it: where the call was told of others it does not go without saying. */
export function paidTo(payees: Payees | undefined, fact: UsageFact): UsageFact {
  const payee = fact.payee ?? payees?.[fact.stage];
  return payee === undefined || payee === 'application' ? fact : { ...fact, payee };
}
