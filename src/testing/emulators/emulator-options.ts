// Options of emulators by their names: one that is misspelt would be passed over, and the test would be of something else.
import { checkOptions } from '../../base/option-checks.js';
import type { EmulatorOptions } from './vendor-server.js';

const COMMON: Readonly<Record<keyof EmulatorOptions, true>> = {
  apiKey: true,
  clock: true,
  port: true,
  timeline: true,
  tls: true,
};

/** `own`: names that only this emulator has. `where`: its call. @throws ConfigError */
export function checkEmulatorOptions<T extends EmulatorOptions>(
  options: T,
  own: Readonly<Record<Exclude<keyof T, keyof EmulatorOptions>, true>>,
  where: string,
): void {
  const known = [...Object.keys(own), ...Object.keys(COMMON)];
  checkOptions(options, { known }, where);
}
