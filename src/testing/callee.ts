// Who is reached by an outbound call or a transfer: how long it rings, and what is heard then.
import { ConfigError } from '../base/errors.js';
import { requireObject } from '../base/option-checks.js';
import type { CallerStep } from './caller-script.js';
import type { Callee } from './simulator.js';
import { checkScript } from './script-checks.js';
import { makeSpeechTones } from './tones.js';

const RATE_HZ = 8000;
const RING_MS = 500;
const GREETING_MS = 4000;
const SILENCE_MS = 5000;
/** A person without a script stays for as long as any carrier lets a call be. */
const STAY_MS = 4 * 3_600_000;
const FAX_STAY_MS = 30_000;

/** The beep of an answering machine. */
export const BEEP_MS = 400;

/** Who answers where nobody was named: a person who stays on the line and says nothing. */
export const SILENT_CALLEE: Callee = { type: 'human' };

export type AnsweringCallee = Extract<Callee, { type: 'human' | 'machine' | 'fax' }>;

function tone(frequencyHz: number, durationMs: number): Int16Array {
  const length = (durationMs * RATE_HZ) / 1000;
  return Int16Array.from({ length }, (_, index) =>
    Math.round(8000 * Math.sin((2 * Math.PI * frequencyHz * index) / RATE_HZ)),
  );
}

function play(samples: Int16Array): CallerStep {
  return { type: 'play', samples, sampleRateHz: RATE_HZ };
}

/** How long it rings before the callee answers. */
export function ringTimeOf(callee: AnsweringCallee): number {
  return callee.ringMs ?? RING_MS;
}

/** How long an answering machine speaks before its beep. */
export function greetingTimeOf(callee: Extract<Callee, { type: 'machine' }>): number {
  return callee.greetingMs ?? GREETING_MS;
}

/** What the callee does after answering. */
export function calleeScript(callee: AnsweringCallee): CallerStep[] {
  switch (callee.type) {
    case 'human':
      return [...(callee.script ?? [{ type: 'pause', durationMs: STAY_MS }])];
    case 'machine': {
      const silenceMs = callee.silenceMs ?? SILENCE_MS;
      return [
        play(makeSpeechTones(greetingTimeOf(callee))),
        ...(callee.beep === false ? [] : [play(tone(1000, BEEP_MS))]),
        { type: 'wait-for-agent', quietMs: silenceMs, timeoutMs: silenceMs },
        { type: 'hang-up' },
      ];
    }
    case 'fax':
      // The answer tone of a fax machine. Source: ITU-T T.30.
      return [play(tone(2100, 3000)), { type: 'pause', durationMs: FAX_STAY_MS }, { type: 'hang-up' }];
  }
}

const CALLEES: Readonly<Record<Callee['type'], true>> = {
  human: true,
  machine: true,
  fax: true,
  busy: true,
  'no-answer': true,
  unreachable: true,
};

/** @throws ConfigError for a callee that cannot be. `others`: types that only one carrier has. */
export function checkCallee(callee: Callee, others: readonly string[] = []): void {
  requireObject(callee, 'A callee');
  const types = [...Object.keys(CALLEES), ...others];
  if (!types.includes(callee.type)) {
    throw new ConfigError('CONFIG_INVALID', `The type of a callee must be one of: ${types.join(', ')}.`);
  }
  if (callee.type === 'human' && callee.script !== undefined) checkScript(callee.script);
  const times: (number | undefined)[] = [
    'ringMs' in callee ? callee.ringMs : undefined,
    ...(callee.type === 'machine' ? [callee.greetingMs, callee.silenceMs] : []),
  ];
  if (times.some((time) => time !== undefined && !(time >= 0 && time <= 3_600_000))) {
    throw new ConfigError('CONFIG_INVALID', 'Times of a callee must be 0 to 3,600,000 ms.');
  }
}
