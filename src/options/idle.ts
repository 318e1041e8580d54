// The option `idle` of an agent: what it means, its defaults and ranges. Documented here and nowhere else.
import { checkNames, checkNumber, checkText, requireObject } from '../base/option-checks.js';
import { waitingPhrasesFor } from '../engines/languages/set-phrases.js';
import type { IdleSettings } from '../engines/turn-taking.js';
import type { ByLanguage } from './languages.js';
import { checkPhrases } from './phrases.js';

/** The option `idle` of `phone.agent(...)`: what happens when the caller says nothing. */
export interface IdleOptions {
  /** Silence after the agent has spoken before each prompt, in seconds, 3-600. @default 12 */
  afterSeconds?: number | undefined;
  /** Prompts, in order, at most 10. @default "Are you still there?" and "Hello? Can you hear me?", or the same in `language` (Dutch, French, German, Italian, Portuguese or Spanish) */
  prompts?: ByLanguage<readonly string[]> | undefined;
  /** What the agent says before it hangs up when no prompt was answered. @default "I cannot hear you, so I will hang up now. Goodbye.", or the same in `language` */
  goodbye?: ByLanguage<string> | undefined;
}

const AFTER_SECONDS = 12;

const IDLE_OPTIONS = ['afterSeconds', 'prompts', 'goodbye'];

/**
 * Undefined when the agent waits for its caller without end. `isOneOfSeveral`: in `language`, and in others: it says nothing in
 * English to whoever speaks another one. @throws ConfigError
 */
export function checkIdle(
  options: IdleOptions | false | undefined,
  language: string | undefined,
  { isOneOfSeveral = false } = {},
): IdleSettings | undefined {
  const own = waitingPhrasesFor(language);
  if (options === false || (options === undefined && own === undefined)) return undefined;
  const given = options === undefined ? {} : requireObject(options, 'idle');
  checkNames(given, IDLE_OPTIONS, 'idle');
  const range = { min: 3, max: 600, fallback: AFTER_SECONDS };
  const afterMs = checkNumber('idle.afterSeconds', given.afterSeconds, range) * 1000;
  const prompts = checkPhrases('idle.prompts', given.prompts);
  const goodbye = checkText('idle.goodbye', given.goodbye);
  const words = own ?? (isOneOfSeveral ? undefined : waitingPhrasesFor('en'));
  const said = { prompts: prompts ?? words?.prompts, goodbye: goodbye ?? words?.goodbye };
  if (said.prompts === undefined || said.goodbye === undefined) return undefined;
  return { afterMs, prompts: said.prompts, goodbye: said.goodbye };
}
