// Who is called, with their speech ready before it rings.
import { BEEP_MS, calleeScript, checkCallee, greetingTimeOf } from '../callee.js';
import { prepareScript, type OpenVoice, type PreparedStep } from '../caller-script.js';
import type { Callee } from '../simulator.js';
import type { CarrierBCallee } from './options.js';

/** A callee whose speech is ready. */
export interface PreparedCallee {
  callee: CarrierBCallee;
  steps: readonly PreparedStep[];
}

/** @throws ConfigError for a callee that cannot be, ProviderError when its voice fails. */
export async function prepareCallee(
  callee: CarrierBCallee,
  context: { openVoice: OpenVoice; signal: AbortSignal },
): Promise<PreparedCallee> {
  checkCallee(callee as Callee, ['rejects']);
  switch (callee.type) {
    case 'human':
    case 'machine':
    case 'fax':
      return { callee, steps: await prepareScript(calleeScript(callee), context) };
    default:
      return { callee, steps: [] };
  }
}

/** Where the beep of an answering machine is over, in milliseconds after the answer; null without one. */
export function beepTimeOf(callee: CarrierBCallee): number | null {
  return callee.type === 'machine' && callee.beep !== false ? greetingTimeOf(callee) + BEEP_MS : null;
}
