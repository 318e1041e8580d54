// A call that goes from one engine to the next: what the first one leaves, and how the second one begins with it.
import type { Clock } from '../base/clock.js';
import type { ChatMessage, ModelToolCall } from '../providers/language-model.js';
import type { Conversation, Step } from './conversation.js';
import type { Goodbye, Takeover } from './engine.js';
import { toErrorText } from './tools/tool-result.js';
import { ToolRun } from './tools/tool-run.js';

/** What is known of a call as its engine leaves it. */
export interface Leaving {
  readonly clock: Clock;
  readonly conversation: Conversation;
  readonly turnIndex: number;
  /** A turn has begun in which nothing was said or done so far. */
  readonly isTurnOpen: boolean;
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

const GIVEN_UP = 'The tool was given up.';

export function toTakeover(leaving: Leaving): Takeover {
  const { clock, conversation, turnIndex, isTurnOpen, goodbye, tools } = leaving;
  const history = conversation.history();
  const runs = conversation.unsettled([]);
  const msSince = (times: readonly (number | undefined)[]) => {
    const known = times.filter((at) => at !== undefined);
    return known.length === 0 ? undefined : clock.now() - Math.min(...known);
  };
  return {
    history,
    turnIndex,
    isTurnOpen,
    owes: owed(history, leaving),
    goodbye,
    tools: tools && { runs, close: () => tools.close() },
    unheardMs: msSince(leaving.unheardSince),
    waitedMs: msSince(leaving.waitingSince) ?? 0,
  };
}

/** What an engine has to say before anything else. */
export function owesAtStart(takeover: Takeover | undefined, firstMessage: string): Takeover['owes'] {
  return takeover?.owes ?? (firstMessage === '' ? 'nothing' : 'greeting');
}

/** The steps of which a `Conversation` makes the history that was taken over. Tools that run go on in them. */
export function toSteps(takeover: Takeover | undefined, clock: Clock): Step[] {
  const { history = [], tools } = takeover ?? {};
  const results = new Map(
    history.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.content]] : [])),
  );
  const toRun = (call: ModelToolCall): ToolRun => {
    const running = tools?.runs.find((run) => run.call.id === call.id && !results.has(call.id));
    if (running !== undefined) return running;
    const run = new ToolRun(call, { clock, endsCall: false });
    run.settle({ text: results.get(call.id) ?? toErrorText(GIVEN_UP), error: null });
    return run;
  };
  return history.flatMap((message): Step[] => {
    if (message.role === 'tool' || message.role === 'system') return [];
    if (message.role === 'assistant' && message.toolCalls !== undefined)
      return [{ role: 'tools', text: message.content, runs: message.toolCalls.map(toRun) }];
    return [{ role: message.role, text: message.content }];
  });
}

function owed(history: readonly ChatMessage[], leaving: Leaving): Takeover['owes'] {
  const { hasGreeting, isCutOff, goodbye, isUnheard = false } = leaving;
  if (goodbye !== undefined) return 'goodbye';
  const last = history.at(-1);
  if (last === undefined) return hasGreeting ? 'greeting' : 'nothing';
  const isUnanswered = last.role !== 'assistant' || last.toolCalls !== undefined;
  return isUnanswered || (isCutOff && !isUnheard) ? 'answer' : 'nothing';
}
