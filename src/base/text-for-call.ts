// Texts that come into a live call from outside: words for the agent to say, and what its model is to know.
import type { SayOptions } from '../contract/call-command.js';
import { RequestError } from './errors.js';
import { hasWords } from './owed-words.js';
import { toSpeakable } from './speakable.js';

/** Some four minutes of speech. */
export const MAX_TEXT_CHARS = 4000;

/** Nothing that a voice, a model or a terminal could take for anything but text. */
const NO_TEXT = /[\p{Cc}\p{Cs}]+/gu;

/** Words for the agent's voice, in one line and without markup. @throws RequestError for what cannot be said */
export function toSpokenText(text: unknown): string {
  const spoken = toSpeakable(toInformation(text));
  if (hasWords(spoken)) return spoken;
  throw new RequestError('REQUEST_INVALID', 'text has nothing in it that can be said: give it words.');
}

/** What a model is to know. @throws RequestError for what is no text, empty or too long */
export function toInformation(text: unknown): string {
  const plain = typeof text === 'string' ? text.replace(NO_TEXT, ' ').trim() : '';
  if (plain !== '' && plain.length <= MAX_TEXT_CHARS) return plain;
  throw new RequestError('REQUEST_INVALID', `text must be a string of 1 to ${MAX_TEXT_CHARS} characters.`);
}

const SAY_OPTIONS = ['interrupt', 'interruptible'] as const;

/** @throws RequestError */
export function checkSayOptions(options: unknown): SayOptions {
  if (typeof options !== 'object' || options === null)
    throw new RequestError('REQUEST_INVALID', `The options are an object of ${SAY_OPTIONS.join(' and ')}.`);
  for (const [name, value] of Object.entries(options)) {
    const isKnown = SAY_OPTIONS.some((known) => known === name);
    if (!isKnown || (value !== undefined && typeof value !== 'boolean'))
      throw new RequestError(
        'REQUEST_INVALID',
        `${isKnown ? `${name} must be true or false` : `There is no option "${name.slice(0, 40)}"`}. Options are ${SAY_OPTIONS.join(' and ')}.`,
      );
  }
  return options;
}
