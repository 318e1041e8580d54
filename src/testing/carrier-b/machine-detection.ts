// Answering machine detection: which events a callee causes, and when.
import { greetingTimeOf } from '../callee.js';
import type { Leg } from './leg.js';
import type { CarrierBCallee, MachineDetection } from './options.js';
import { beepTimeOf } from './prepared-callee.js';

export const DETECTION_MODES = [
  'disabled',
  'premium',
  'detect',
  'detect_beep',
  'detect_words',
  'greeting_end',
] as const;
export type DetectionMode = (typeof DETECTION_MODES)[number];

/** When the detector knows, in milliseconds after the answer. */
const VERDICT_MS = { human: 1200, fax: 2000, machine: 2500, doubt: 3500 } as const;
/** How long after a greeting without a beep the detector still waits for one. */
const BEEP_WAIT_MS = 3000;
/** Mode `detect_words`: the end of the greeting is assumed this long after the verdict. */
const WORDS_WAIT_MS = 30_000;
/** The verdict, when it is told after the end of the greeting. */
const REVERSED_GAP_MS = 100;

interface Finding {
  atMs: number;
  result: string;
}

function findVerdict(callee: CarrierBCallee, how: MachineDetection): Finding {
  if (how === 'not-sure') return { atMs: VERDICT_MS.doubt, result: 'not_sure' };
  if (how === 'silence') return { atMs: VERDICT_MS.doubt, result: 'silence' };
  if (callee.type === 'machine') return { atMs: VERDICT_MS.machine, result: 'machine' };
  if (callee.type === 'fax') return { atMs: VERDICT_MS.fax, result: 'fax_detected' };
  return { atMs: VERDICT_MS.human, result: 'human_residence' };
}

/** The standard modes know fewer words. */
const STANDARD_RESULTS: Readonly<Record<string, string>> = {
  human_residence: 'human',
  fax_detected: 'machine',
  silence: 'not_sure',
};

function findGreetingEnd(callee: CarrierBCallee, mode: DetectionMode, verdict: Finding): Finding | undefined {
  if (callee.type !== 'machine' || verdict.result !== 'machine' || mode === 'detect') return undefined;
  const beepMs = beepTimeOf(callee);
  if (beepMs !== null) return { atMs: beepMs, result: 'beep_detected' };
  const silentMs = greetingTimeOf(callee) + BEEP_WAIT_MS;
  if (mode === 'premium') return { atMs: silentMs, result: 'no_beep_detected' };
  if (mode === 'detect_words') return { atMs: verdict.atMs + WORDS_WAIT_MS, result: 'ended' };
  return mode === 'greeting_end' ? { atMs: silentMs, result: 'ended' } : undefined;
}

/** Begins with the answer of the leg. A leg that ends before the verdict has none. */
export function detectMachine(
  leg: Leg,
  callee: CarrierBCallee,
  { mode, how }: { mode: DetectionMode; how: MachineDetection },
): void {
  if (mode === 'disabled') return;
  const premium = mode === 'premium';
  const name = premium ? 'call.machine.premium' : 'call.machine';
  const verdict = findVerdict(callee, how);
  const greeting = how === 'no-greeting' ? undefined : findGreetingEnd(callee, mode, verdict);
  const result = premium ? verdict.result : (STANDARD_RESULTS[verdict.result] ?? verdict.result);
  const tellVerdict = () => void leg.emit(`${name}.detection.ended`, { result });
  // A beep that is heard before the verdict makes one unnecessary.
  const isVerdictTold = greeting === undefined || !premium || greeting.atMs >= verdict.atMs;
  if (greeting === undefined) {
    leg.after(verdict.atMs, tellVerdict);
    return;
  }
  const greetingMs = isVerdictTold ? Math.max(greeting.atMs, verdict.atMs) : greeting.atMs;
  leg.after(greetingMs, () => void leg.emit(`${name}.greeting.ended`, { result: greeting.result }));
  if (isVerdictTold) {
    leg.after(how === 'reversed' ? greetingMs + REVERSED_GAP_MS : verdict.atMs, tellVerdict);
  }
}
