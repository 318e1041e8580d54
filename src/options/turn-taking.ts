// The option `turnTaking` of an agent, who speaks when: what they mean, their defaults and ranges. Documented here and nowhere else.
import { checkBoolean, checkNames, checkNumber, requireObject } from '../base/option-checks.js';
import { waitingPhrasesFor } from '../engines/languages/set-phrases.js';
import { DEFAULT_TURN_TAKING, type TurnTakingSettings } from '../engines/turn-taking.js';
import type { ByLanguage } from './languages.js';
import { checkPhrases } from './phrases.js';

/** The option `turnTaking` of `phone.agent(...)`. Milliseconds are whole numbers. */
export interface TurnTakingOptions {
  /** Silence that ends the caller's turn, in milliseconds, 100-5000. With a recognizer that detects turns itself (`ownsTurnTaking`), only `maxSilenceMs` applies. @default 500 */
  silenceMs?: number | undefined;
  /** The same after a complete sentence, a short answer like "yes", or all requested digits, 100-5000. @default 300 */
  silenceAfterSentenceMs?: number | undefined;
  /** The same after words that call for more, like "and" or "um", or in the middle of a requested number, 100-10000. @default 1200 */
  silenceAfterOpenEndMs?: number | undefined;
  /** Silence that always ends the turn, in milliseconds, 500-20000. @default 3000 */
  maxSilenceMs?: number | undefined;
  /** How long the caller's voice must last to pause the agent, in milliseconds, 200-5000. The words then decide: an interruption, or a listening sign after which the agent goes on where it paused. Applies to voices at most 5 dB quieter than the caller's loudest words of the last minute; quieter voices, and any before the caller's first words, pause the agent by their words only. 1.6 times as long where echo or late words are likely: during `carefulMs`, and in the first and last second of the agent's speech. @default 500 */
  interruptAfterMs?: number | undefined;
  /** How many words interrupt the agent, 1-10. Listening signs such as "mm-hm" or "okay" do not interrupt; a long one pauses the agent, which then goes on. "stop" and "wait" always interrupt. @default 2 */
  interruptAfterWords?: number | undefined;
  /** How long a call counts as new, in milliseconds, 0-30000. Echo cancellers need a few seconds to adapt. @default 3000 */
  carefulMs?: number | undefined;
  /** Whether the caller can interrupt `firstMessage`. If false, the agent finishes the greeting, then answers what was said meanwhile. @default true */
  interruptibleGreeting?: boolean | undefined;
  /** If a sound paused the agent and no words follow, the silence after which it resumes the cut sentence (or, while its model still writes, the exact position), in milliseconds, 500-10000. For the next minute, sounds no louder than that one do not pause it. @default 2000 */
  resumeAfterMs?: number | undefined;
  /** Ignore the agent's own words when the line echoes them. @default true */
  echoGuard?: boolean | undefined;
  /** Whether a key press interrupts the agent, as in phone menus. If false, keys are answered when the agent has finished. @default true */
  keysInterrupt?: boolean | undefined;
  /** Pause that ends a sequence of keys, in milliseconds, 200-10000. `#` ends it at once. @default 1500 */
  keyPauseMs?: number | undefined;
  /** Short phrases for slow answers, at most one per turn. An empty list turns them off. @default "One moment." and "Let me see.", or the same in `language` (Dutch, French, German, Italian, Portuguese or Spanish), else none */
  fillers?: ByLanguage<readonly string[]> | undefined;
  /** How long after the end of the caller's speech a filler starts, in milliseconds, 500-10000. @default 1200 */
  fillerAfterMs?: number | undefined;
}

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
  const fillers = waitingPhrasesFor(language)?.fillers ?? [];
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
