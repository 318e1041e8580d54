// The option `turnTaking` of an agent, who speaks when: what they mean, their defaults and ranges. Documented here and nowhere else.
import { checkBoolean, checkNames, checkNumber, requireObject } from '../base/option-checks.js';
import { DEFAULT_TURN_TAKING, type TurnTakingSettings } from '../engines/turn-taking.js';
import { checkPhrases, isEnglish } from './phrases.js';

/** The option `turnTaking` of `phone.agent(...)`. Milliseconds are whole numbers. */
export interface TurnTakingOptions {
  /** Silence after which the caller has finished, in milliseconds, 100-5000. A recogniser with `ownsTurnTaking` decides itself; then only `maxSilenceMs` counts. @default 500 */
  silenceMs?: number | undefined;
  /** The same after the end of a sentence, a short answer like "yes", or all the digits that the agent asked for, 100-5000. @default 300 */
  silenceAfterSentenceMs?: number | undefined;
  /** The same after words that something must follow, like "and" or "um", or in the middle of a number that the agent asked for, 100-10000. @default 1200 */
  silenceAfterOpenEndMs?: number | undefined;
  /** Silence that ends a turn in any case, 500-20000. @default 3000 */
  maxSilenceMs?: number | undefined;
  /** How long a voice must last to silence the agent, in milliseconds, 200-5000. What is said then decides: words interrupt the agent, after a sign of listening it goes on where it was. This counts only for a voice at most 5 dB quieter than the caller's loudest words of the last minute; a quieter one, and any before the caller's first words, silences the agent by its words alone. It takes 1.6 times as long where an echo or a late word is likely: at the start of the call (`carefulMs`), and in the first and last second of what the agent says. @default 500 */
  interruptAfterMs?: number | undefined;
  /** This many words interrupt the agent, 1-10. Signs of listening, like "mm-hm" or "okay", do not: a long one pauses the agent, which then goes on. "stop" and "wait" always do. @default 2 */
  interruptAfterWords?: number | undefined;
  /** How long after its start a call counts as new, in milliseconds, 0-30000: echo cancellers need some seconds. @default 3000 */
  carefulMs?: number | undefined;
  /** False lets the agent finish `firstMessage` whatever the caller says meanwhile; that is answered afterwards. @default true */
  interruptibleGreeting?: boolean | undefined;
  /** A sound silenced the agent and no words have come: after this silence it goes on with the sentence that was cut, or where it was while its model still writes, in milliseconds, 500-10000. For a minute, sounds that are no louder than such a one do not silence it. @default 2000 */
  resumeAfterMs?: number | undefined;
  /** Ignore words that are the agent's own, which the line brings back. @default true */
  echoGuard?: boolean | undefined;
  /** True when a key interrupts the agent, as callers know it from menus. False answers keys when the agent has finished. @default true */
  keysInterrupt?: boolean | undefined;
  /** Pause after which no further key belongs to the last ones, in milliseconds, 200-10000; `#` ends them at once. @default 1500 */
  keyPauseMs?: number | undefined;
  /** Short phrases for an answer that is slow to come, one in a turn at most; an empty list turns them off. @default "One moment." and "Let me see." for an agent whose `language` is English or not set, else none */
  fillers?: readonly string[] | undefined;
  /** How long after the end of the caller's speech a filler is due, in milliseconds, 500-10000. @default 1200 */
  fillerAfterMs?: number | undefined;
}

const FILLERS = ['One moment.', 'Let me see.'];

/** Ranges of the numbers, in milliseconds but for the words. */
const RANGES = {
  silenceMs: [100, 5000],
  silenceAfterSentenceMs: [100, 5000],
  silenceAfterOpenEndMs: [100, 10_000],
  maxSilenceMs: [500, 20_000],
  interruptAfterMs: [200, 5000],
  interruptAfterWords: [1, 10],
  carefulMs: [0, 30_000],
  resumeAfterMs: [500, 10_000],
  keyPauseMs: [200, 10_000],
  fillerAfterMs: [500, 10_000],
} as const;

const SWITCHES = ['interruptibleGreeting', 'echoGuard', 'keysInterrupt'] as const;
const TURN_TAKING_OPTIONS = [...Object.keys(RANGES), ...SWITCHES, 'fillers'];

/** The settings of an agent that speaks `language`. @throws ConfigError */
export function checkTurnTaking(
  options: TurnTakingOptions | undefined,
  language: string | undefined,
): TurnTakingSettings {
  const given = options === undefined ? {} : requireObject(options, 'turnTaking');
  checkNames(given, TURN_TAKING_OPTIONS, 'turnTaking');
  const number = (name: keyof typeof RANGES) => {
    const [min, max] = RANGES[name];
    const range = { min, max, whole: true, fallback: DEFAULT_TURN_TAKING[name] };
    return checkNumber(`turnTaking.${name}`, given[name], range);
  };
  const choice = (name: (typeof SWITCHES)[number]) =>
    checkBoolean(`turnTaking.${name}`, given[name], DEFAULT_TURN_TAKING[name]);
  const fillers = isEnglish(language) ? FILLERS : [];
  return {
    silenceMs: number('silenceMs'),
    silenceAfterSentenceMs: number('silenceAfterSentenceMs'),
    silenceAfterOpenEndMs: number('silenceAfterOpenEndMs'),
    maxSilenceMs: number('maxSilenceMs'),
    interruptAfterMs: number('interruptAfterMs'),
    interruptAfterWords: number('interruptAfterWords'),
    carefulMs: number('carefulMs'),
    interruptibleGreeting: choice('interruptibleGreeting'),
    resumeAfterMs: number('resumeAfterMs'),
    echoGuard: choice('echoGuard'),
    keysInterrupt: choice('keysInterrupt'),
    keyPauseMs: number('keyPauseMs'),
    fillers: checkPhrases('turnTaking.fillers', given.fillers) ?? fillers,
    fillerAfterMs: number('fillerAfterMs'),
  };
}
