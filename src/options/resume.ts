// The option `resume` of `phone.serve(...)`: what it means, its defaults and ranges. Documented here and nowhere else.
import { checkNames, checkNumber, requireObject } from '../base/option-checks.js';

/** The option `resume` of `phone.serve(...)`: how a call goes on whose media stream was lost. */
export interface ResumeOptions {
  /** How long carrier A waits after a lost stream before it asks for another one, in whole seconds, 0-10. It is the longest silence that a lost stream makes where the carrier's REST API cannot be reached. Carrier B is asked for a stream and never waits. @default 2 */
  holdSeconds?: number | undefined;
}

const HOLD = { min: 0, max: 10, whole: true, fallback: 2 };

/** @throws ConfigError */
export function checkResume(options: ResumeOptions = {}): { readonly holdSeconds: number } {
  requireObject(options, 'resume');
  checkNames(options, ['holdSeconds'], 'resume');
  return { holdSeconds: checkNumber('resume.holdSeconds', options.holdSeconds, HOLD) };
}
