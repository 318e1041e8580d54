// What is said in a call with emulated vendors, and what all of them share while it goes on.
import type { FakeClock } from './fake-clock.js';

/** What the person asks, and what the agent says; the goodbye comes with the tool that ends the call. */
export const QUESTION = 'Which cakes do you have today?';
export const GREETING = 'Hello, this is the bakery, how can I help you?';
export const ANSWER = 'We have apple cake today. There is also a lemon tart. Both are fresh from the oven.';
export const GOODBYE = 'Thank you for your call, goodbye.';

/** All that the agent says when nothing goes wrong, turn by turn. */
export const AGENT_TURNS: readonly string[] = [GREETING, ANSWER, GOODBYE];

/** What the agent, or the carrier for it, says when something does. */
export const APOLOGY = /something went wrong/;

/** Callers ask whether anybody is there after some five seconds. */
export const LONGEST_WAIT_MS = 5000;

/** By this a model ends the call. */
export const END_CALL = [{ name: 'end_call', arguments: '{}' }];

export interface Scene {
  readonly clock: FakeClock;
  /** The next answer is the goodbye. */
  isLast: boolean;
  /** What a model before has said of it: the next one is asked for the rest. */
  said?: string | undefined;
  /** The next answer is the call of a tool. */
  isTool: boolean;
  /** Times that the tool was run. */
  toolRuns: number;
}

/** What a model says next. */
export function nextReply({ isLast, said = '' }: Scene) {
  const text = isLast ? GOODBYE : ANSWER;
  const rest = text.startsWith(said) ? text.slice(said.length) : text;
  return isLast ? { text: rest, toolCalls: END_CALL } : { text: rest };
}
