// A call that goes from one engine to the next: what the first one leaves.
import type { Clock } from '../../base/clock.js';
import { type Leaving as LeavingState, leftBy } from '../../conversation/state.js';
import type { Takeover } from '../engine.js';
import type { TurnBook } from '../turn-book.js';

/** What is known of a call as its engine leaves it. */
export interface Leaving extends LeavingState {
  readonly clock: Clock;
  /** What was said and done, given up by the engine. */
  readonly turns: Pick<TurnBook, 'value' | 'running'>;
  /** Since when nobody hears the caller, or what they say has no text, on the clock: the earliest counts. */
  readonly unheardSince: readonly (number | undefined)[];
  /** Since when the caller waits, or a part of the engine was of no use to them, on the clock: the earliest counts. */
  readonly waitingSince: readonly (number | undefined)[];
  /** What the running tools are closed with. */
  readonly tools: { close(): void } | undefined;
}

export function toTakeover(leaving: Leaving): Takeover {
  const { clock, turns, tools } = leaving;
  const msSince = (times: readonly (number | undefined)[]) => {
    const known = times.filter((at) => at !== undefined);
    return known.length === 0 ? undefined : clock.now() - Math.min(...known);
  };
  return {
    state: leftBy({ turns: turns.value }, leaving),
    tools: tools && { runs: turns.running, close: () => tools.close() },
    unheardMs: msSince(leaving.unheardSince),
    waitedMs: msSince(leaving.waitingSince) ?? 0,
  };
}
