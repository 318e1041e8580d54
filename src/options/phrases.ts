// What an agent says of its own accord, as options give it.
import { ConfigError } from '../base/errors.js';

/** A phrase that is said while one waits, or to a silent caller, is a short one. */
const MAX_PHRASE_CHARS = 300;
const MAX_PHRASES = 10;

function isPhrase(phrase: unknown): phrase is string {
  return typeof phrase === 'string' && phrase.trim() !== '' && phrase.length <= MAX_PHRASE_CHARS;
}

/** The phrase, or nothing. @throws ConfigError */
export function checkPhrase(name: string, phrase: unknown): string | undefined {
  if (phrase === undefined || isPhrase(phrase)) return phrase;
  throw new ConfigError(
    'CONFIG_INVALID',
    `${name} must be a non-empty string of at most ${MAX_PHRASE_CHARS} characters, or left out.`,
  );
}

/** The list, frozen, or nothing. @throws ConfigError */
export function checkPhrases(name: string, phrases: unknown): readonly string[] | undefined {
  if (phrases === undefined) return undefined;
  if (Array.isArray(phrases) && phrases.length <= MAX_PHRASES && phrases.every(isPhrase)) {
    return Object.freeze([...phrases]);
  }
  throw new ConfigError(
    'CONFIG_INVALID',
    `${name} must be a list of at most ${MAX_PHRASES} texts, none of them empty or longer than ${MAX_PHRASE_CHARS} characters.`,
  );
}
