// The only place that reads the process environment, and adds to it what a file of settings has.
import { parseEnv } from 'node:util';

/** Value of an environment variable, or undefined when it is unset or empty. */
export function readEnv(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}

/** Value of the first of these variables that is set and not empty. */
export function readFirstEnv(names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = readEnv(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Adds the variables of a text like that of a `.env` file. Those that are set already keep their values, as with `process.loadEnvFile`. */
export function addToEnv(text: string): void {
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
