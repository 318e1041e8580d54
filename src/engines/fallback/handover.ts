// A call that goes from one engine to the next: what the first one leaves, and what the second one has to say before anything else.
import type { Clock } from '../../base/clock.js';
import type { ChatMessage } from '../../providers/language-model.js';
import type { Goodbye, Takeover } from '../engine.js';
import type { TurnBook } from '../turn-book.js';

/** What is known of a call as its engine leaves it. */
export interface Leaving {
  readonly clock: Clock;
  /** What was said and done, given up by the engine. */
  readonly turns: Pick<TurnBook, 'value' | 'running' | 'history'>;
  /** There is something to say before anything else. */
  readonly hasGreeting: boolean;
  /** The agent owed something, or was in the middle of it. */
  readonly isCutOff: boolean;
  /** Undefined where the call was to go on. */
  readonly goodbye: Goodbye | undefined;
  /** What the caller said last has no text: what they are to be answered is heard again. */
  readonly isUnheard?: boolean | undefined;
  /** Since when nobody hears the caller, or what they say has no text, on the clock: the earliest counts. */
  readonly unheardSince: readonly (number | undefined)[];
  /** Since when the caller waits, or a part of the engine was of no use to them, on the clock: the earliest counts. */
  readonly waitingSince: readonly (number | undefined)[];
  /** What the running tools are closed with. */
  readonly tools: { close(): void } | undefined;
}

export function toTakeover(leaving: Leaving): Takeover {
  const { clock, turns, goodbye, tools } = leaving;
  const msSince = (times: readonly (number | undefined)[]) => {
    const known = times.filter((at) => at !== undefined);
    return known.length === 0 ? undefined : clock.now() - Math.min(...known);
  };
  return {
    turns: turns.value,
    owes: owed(turns.history(), leaving),
    goodbye,
    tools: tools && { runs: turns.running, close: () => tools.close() },
    unheardMs: msSince(leaving.unheardSince),
    waitedMs: msSince(leaving.waitingSince) ?? 0,
  };
}

/** What an engine has to say before anything else. */
export function owesAtStart(takeover: Takeover | undefined, firstMessage: string): Takeover['owes'] {
  return takeover?.owes ?? (firstMessage === '' ? 'nothing' : 'greeting');
}

function owed(history: readonly ChatMessage[], leaving: Leaving): Takeover['owes'] {
  const { hasGreeting, isCutOff, goodbye, isUnheard = false } = leaving;
  if (goodbye !== undefined) return 'goodbye';
  const last = history.at(-1);
  if (last === undefined) return hasGreeting ? 'greeting' : 'nothing';
  const isUnanswered = last.role !== 'assistant' || last.toolCalls !== undefined;
  return isUnanswered || (isCutOff && !isUnheard) ? 'answer' : 'nothing';
}
