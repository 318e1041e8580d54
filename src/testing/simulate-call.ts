// Calls a phone server once, as a carrier would, and reports what was heard. For more than one call there are the simulators.
import { checkOptions } from '../base/option-checks.js';
import { holdProcess } from '../base/process-hold.js';
import type { CallerStep } from './caller-script.js';
import {
  CALLING_CARRIER_OPTIONS,
  type CallingCarrierOptions,
  openCallingCarrier,
} from './calling-carrier.js';
import type { LineConditions } from './line-conditions.js';
import type { CallReport } from './report.js';

export interface SimulateCallOptions extends CallingCarrierOptions {
  /** Who calls. Also `anonymous` and other words that carriers use. @default '+15005550020' */
  from?: string | undefined;
  /** The called number. @default '+15005550010' */
  to?: string | undefined;
  /** What the caller does. */
  script: readonly CallerStep[];
  /** The caller hangs up after this time, 1,000 to 3,600,000. @default 120000 */
  maxDurationMs?: number | undefined;
  /** Path of a stereo WAV file to write: the caller left, the agent right as it was really played, 8 kHz. */
  recordTo?: string | undefined;
  /** What is wrong with the caller's line. @default nothing */
  line?: LineConditions | undefined;
  /** Calls the simulation off: the call ends at once, and the report says so. */
  signal?: AbortSignal | undefined;
}

const WHERE = 'simulateCall()';
const NAMES: Readonly<Record<keyof SimulateCallOptions, true>> = {
  ...CALLING_CARRIER_OPTIONS,
  from: true,
  to: true,
  script: true,
  maxDurationMs: true,
  recordTo: true,
  line: true,
  signal: true,
};

/**
 * Makes one call and resolves with its report when it is over, also when the server refuses it. Speech is synthesized
 * before the bell rings.
 * @throws ConfigError for options that cannot work, ProviderError when the caller's voice fails.
 */
export async function simulateCall(options: SimulateCallOptions): Promise<CallReport> {
  checkOptions(options, { known: Object.keys(NAMES), needed: ['url', 'script'] }, WHERE);
  const { from, to, script, maxDurationMs, recordTo, line, signal, ...access } = options;
  const carrier = await openCallingCarrier(access);
  // Neither the clock's timers nor the voice's thread keep a process alive; a call that is being made must.
  const release = holdProcess();
  try {
    return await carrier.call({
      script,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
      ...(recordTo === undefined ? {} : { recordTo }),
      ...(line === undefined ? {} : { line }),
      ...(signal === undefined ? {} : { signal }),
    });
  } finally {
    release();
    await carrier.close();
  }
}
