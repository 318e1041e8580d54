// The only place that reads the process environment.

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
