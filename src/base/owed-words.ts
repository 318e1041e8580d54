// Whether an answer says anything: one that does not leaves the caller with a dead line.
import { ProviderError } from './errors.js';
import { toSpeakable } from './speakable.js';

/** What a model is told, as the system, behind an answer that broke off elsewhere and of which it is to give the rest. */
export const GO_ON =
  'Your answer broke off at this point, and the caller has heard it so far. Go on where it stops: do not repeat any of it, and do not begin anew.';

/** What a model is told, as the system, where it is to answer the caller behind words that were not its own. */
export const STILL_OWED =
  'What you said last was to be said at once, and has answered nothing. Answer now what the caller said before it.';

/** True for an answer of a language model in which there is something to hear, beside thoughts and markup. */
export function saysSomething(answer: string): boolean {
  return hasWords(toSpeakable(answer));
}

/** True for a text that a voice can say something of. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** True where the caller waits for words. Tools that were called with some may need none behind them. */
export function owesWords(messages: readonly { readonly role: string; readonly content: string }[]): boolean {
  const last = messages.findLast(
    ({ role, content }) => role === 'user' || (role === 'assistant' && hasWords(content)),
  );
  return last?.role !== 'assistant';
}

/** The error of a provider that ended without what it owed. `source`: who, and what was not given, as a sentence without its end. */
export function gaveNothing(source: string): ProviderError {
  return new ProviderError(`${source}.`, { status: null, retryable: true });
}
