// Who has answered: the verdict that follows from the callee, at the time at which the carrier would have it.
import { BEEP_MS, greetingTimeOf, type AnsweringCallee } from '../callee.js';
import { pause } from '../../base/pause.js';
import type { Leg } from './leg.js';
import type { Callback } from './markup-verbs.js';
import type { Parameters } from './parameters.js';
import type { Switchboard } from './switchboard.js';

/** The carrier needs about four seconds; a test does not want to. */
const HUMAN_MS = 1000;
const FAX_MS = 1000;
const MACHINE_MS = 1500;

export interface DetectionSettings {
  readonly mode: 'Enable' | 'DetectMessageEnd';
  readonly timeoutSeconds: number;
  /** Silence after the greeting that counts as its end. */
  readonly speechEndMs: number;
  /** Undefined holds the instructions back until the verdict. */
  readonly callback: Callback | undefined;
}

export interface Verdict {
  readonly answeredBy: string;
  readonly afterMs: number;
}

function verdictOf(callee: AnsweringCallee, settings: DetectionSettings): Verdict {
  if (callee.type === 'human') return { answeredBy: 'human', afterMs: HUMAN_MS };
  if (callee.type === 'fax') return { answeredBy: 'fax', afterMs: FAX_MS };
  if (settings.mode === 'Enable') return { answeredBy: 'machine_start', afterMs: MACHINE_MS };
  const greetingMs = greetingTimeOf(callee);
  const end =
    callee.beep === false
      ? { answeredBy: 'machine_end_silence', afterMs: greetingMs + settings.speechEndMs }
      : { answeredBy: 'machine_end_beep', afterMs: greetingMs + BEEP_MS };
  const timeoutMs = settings.timeoutSeconds * 1000;
  return end.afterMs > timeoutMs ? { answeredBy: 'machine_end_other', afterMs: timeoutMs } : end;
}

/** Resolves with the verdict on an answered call, `unknown` when it ends before. Reports it where that was asked for. */
export async function detectMachine(
  leg: Leg,
  input: { callee: AnsweringCallee; settings: DetectionSettings },
  switchboard: Switchboard,
): Promise<Verdict> {
  const { callee, settings } = input;
  const planned = verdictOf(callee, settings);
  await pause(switchboard.clock, planned.afterMs, leg.signal);
  const verdict = leg.isOver ? { answeredBy: 'unknown', afterMs: Math.round(leg.durationMs) } : planned;
  leg.answeredBy = verdict.answeredBy;
  if (settings.callback !== undefined) {
    const parameters: Parameters = [
      ['AccountSid', leg.facts.accountSid],
      ['CallSid', leg.carrierCallId],
      ...verdictParameters(verdict),
    ];
    await switchboard.webhooks.report(leg, { ...settings.callback, parameters });
  }
  return verdict;
}

export function verdictParameters(verdict: Verdict): Parameters {
  return [
    ['AnsweredBy', verdict.answeredBy],
    ['MachineDetectionDuration', String(verdict.afterMs)],
  ];
}
