// The option `resume` of `phone.serve(...)`: what it means, its defaults and ranges. Documented here and nowhere else.
import { ConfigError } from '../base/errors.js';
import { checkNames, checkNumber, requireObject } from '../base/option-checks.js';

/** The option `resume` of `phone.serve(...)`: how a call goes on whose media stream, or server process, was lost. */
export interface ResumeOptions {
  /** How long carrier A waits after a lost stream before it asks for another one, in whole seconds, 0-10. It is the longest silence that a lost stream makes where the carrier's REST API cannot be reached. Carrier B is asked for a stream and never waits. @default 2 */
  holdSeconds?: number | undefined;
  /** What the caller hears first when another process takes up their call after a crash, at most 300 characters; empty for nothing. One text, or one per language: `{ en: 'I am back.', de: 'Da bin ich wieder.' }`. Callers who were cut off while they spoke are also asked to repeat it. @default a short sentence in the agent's language */
  message?: string | Readonly<Record<string, string>> | undefined;
}

export interface CheckedResumeOptions {
  readonly holdSeconds: number;
  /** One text, or one per language tag in lower case; undefined for the default. */
  readonly message: string | Readonly<Record<string, string>> | undefined;
}

const MAX_MESSAGE_CHARS = 300;

const HOLD = { min: 0, max: 10, whole: true, fallback: 2 };

/** @throws ConfigError */
export function checkResume(options: ResumeOptions = {}): CheckedResumeOptions {
  requireObject(options, 'resume');
  checkNames(options, ['holdSeconds', 'message'], 'resume');
  return {
    holdSeconds: checkNumber('resume.holdSeconds', options.holdSeconds, HOLD),
    message: checkMessage(options.message),
  };
}

/** The text for an agent that speaks `language`, a BCP 47 tag: Austrian German is German, too. Undefined where there is none. */
export function messageIn(language = 'en', message: CheckedResumeOptions['message']): string | undefined {
  if (typeof message !== 'object') return message;
  const tag = language.toLowerCase();
  return message[tag] ?? message[tag.split('-')[0] ?? tag];
}

function checkMessage(message: unknown): CheckedResumeOptions['message'] {
  if (message === undefined || isMessage(message)) return message;
  if (typeof message !== 'object' || message === null) throw invalid();
  const texts = Object.entries(message).map(([tag, text]) => {
    if (!isMessage(text) || !isLanguage(tag)) throw invalid();
    return [tag.toLowerCase(), text];
  });
  return Object.freeze({ __proto__: null, ...Object.fromEntries(texts) });
}

function isMessage(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_MESSAGE_CHARS;
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function invalid(): ConfigError {
  return new ConfigError(
    'CONFIG_INVALID',
    `resume.message must be a text of at most ${MAX_MESSAGE_CHARS} characters, or one per language, such as { en: 'I am back.' }.`,
  );
}
