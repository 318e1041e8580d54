// The option `idle` of an agent: what it means, its defaults and ranges. Documented here and nowhere else.
import { checkNames, checkNumber, checkText, requireObject } from '../base/option-checks.js';
import type { IdleSettings } from '../engines/turn-taking.js';
import type { ByLanguage } from './languages.js';
import { checkPhrases, isEnglish } from './phrases.js';

/** The option `idle` of `phone.agent(...)`: what happens when the caller says nothing. */
export interface IdleOptions {
  /** Silence after the agent has spoken before each prompt, in seconds, 3-600. @default 12 */
  afterSeconds?: number | undefined;
  /** Prompts, in order, at most 10. @default "Are you still there?" and "Hello? Can you hear me?" */
  prompts?: ByLanguage<readonly string[]> | undefined;
  /** What the agent says before it hangs up when no prompt was answered. @default "I cannot hear you, so I will hang up now. Goodbye." */
  goodbye?: ByLanguage<string> | undefined;
}

const IDLE = {
  afterSeconds: 12,
  prompts: ['Are you still there?', 'Hello? Can you hear me?'],
  goodbye: 'I cannot hear you, so I will hang up now. Goodbye.',
};

const IDLE_OPTIONS = ['afterSeconds', 'prompts', 'goodbye'];

/**
 * Undefined when the agent waits for its caller without end. `isOneOfSeveral`: in `language`, and in others; what offhook would say by itself is
 * English. @throws ConfigError
 */
export function checkIdle(
  options: IdleOptions | false | undefined,
  language: string | undefined,
  { isOneOfSeveral = false } = {},
): IdleSettings | undefined {
  if (options === false || (options === undefined && !isEnglish(language))) return undefined;
  const given = options === undefined ? {} : requireObject(options, 'idle');
  checkNames(given, IDLE_OPTIONS, 'idle');
  const range = { min: 3, max: 600, fallback: IDLE.afterSeconds };
  const afterMs = checkNumber('idle.afterSeconds', given.afterSeconds, range) * 1000;
  const prompts = checkPhrases('idle.prompts', given.prompts);
  const goodbye = checkText('idle.goodbye', given.goodbye);
  const lacksWords = prompts === undefined || goodbye === undefined;
  if (isOneOfSeveral && !isEnglish(language) && lacksWords) return undefined;
  return { afterMs, prompts: prompts ?? IDLE.prompts, goodbye: goodbye ?? IDLE.goodbye };
}
