// The options of `phone.drain(...)`. Documented here and nowhere else.
import { checkNames, checkNumber, requireObject } from '../base/option-checks.js';

/** Options of `phone.drain(...)`. */
export interface DrainOptions {
  /** How long calls that are up may go on, or take to go to other servers of a cluster, in seconds, 0-86400. Those that are left are hung up. @default 30 */
  timeoutSeconds?: number | undefined;
}

const DEFAULT_SECONDS = 30;

/** Returns milliseconds. @throws ConfigError */
export function checkDrainOptions(options: DrainOptions = {}): number {
  requireObject(options, 'drain()');
  checkNames(options, ['timeoutSeconds'], 'drain()');
  const { timeoutSeconds } = options;
  return (
    checkNumber('timeoutSeconds', timeoutSeconds, { min: 0, max: 86_400, fallback: DEFAULT_SECONDS }) * 1000
  );
}
