// What the end of a conversation means, and what the operator can do about it. The service's sentences may quote what was sent: only
// the names of settings are taken from them.
import { fatalFailure, toShownCode, transientFailure, type WireFailure } from '../../wire/failure.js';
import { closeFailure, type SocketClose } from '../../wire/vendor-socket.js';

/** The agent, or somebody at the service, has ended the conversation as it should be. Also for one that has lasted too long. */
export const CLOSED_AS_ASKED = 1000;
/** Something failed at the service: a language model, a voice, a time limit. */
const CLOSED_FOR_TROUBLE = 1002;
/** What was sent is not taken. */
const CLOSED_FOR_INPUT = 1008;
/** No such agent, or not for this key. */
const CLOSED_FOR_ACCESS = /^300\d$/;

/** Longest time that the agent's settings allow. */
export const TOO_LONG = 'max_duration_exceeded';

const OVERRIDES: readonly (readonly [RegExp, string])[] = [
  [/first[_ ]message/i, 'first message'],
  [/prompt/i, 'system prompt'],
  [/language/i, 'language'],
  [/voice/i, 'voice'],
];

/** `code`: what the error said that came before, '' when none did. */
export function readAgentClose(close: SocketClose, code: string): WireFailure {
  const shown = [String(close.code), ...toShownCode(code)].join(', ');
  if (close.code === CLOSED_FOR_INPUT) {
    if (code === 'override_error' || /override/i.test(close.reason))
      return fatalFailure(describeOverride(close.reason, shown));
    if (code.startsWith('missing_dynamic_variable') || /dynamic variable/i.test(close.reason))
      return fatalFailure(`misses a dynamic variable of the agent (${shown}): say it by dynamicVariables`);
  }
  if (close.code === CLOSED_FOR_TROUBLE || close.code === CLOSED_AS_ASKED)
    return transientFailure(`closed the connection (${shown})`);
  if (CLOSED_FOR_ACCESS.test(String(close.code)))
    return fatalFailure(`has no such agent, or one that needs an apiKey of its own workspace (${shown})`);
  return closeFailure(close);
}

function describeOverride(reason: string, shown: string): string {
  const named = OVERRIDES.find(([pattern]) => pattern.test(reason))?.[1];
  const what = named === undefined ? 'an override' : `the override of the ${named}`;
  return `refused ${what} (${shown}): allow it in the agent's security settings, or turn it off by overrides`;
}
