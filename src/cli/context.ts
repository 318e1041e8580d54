// What every command is given, and what it may throw.

/** Where a command writes, and what ends it. */
export interface CliContext {
  out(text: string): void;
  error(text: string): void;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
}

/** A command line that cannot be followed: exit code 2. */
export class UsageError extends Error {}
