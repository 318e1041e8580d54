// The only place that reads the process environment.

/** Value of an environment variable, or undefined when it is unset or empty. */
export function readEnv(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
