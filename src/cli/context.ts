// What every command is given, and what it may throw.

/** Where a command writes, and what ends it. */
export interface CliContext {
  out(text: string): void;
  error(text: string): void;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** Asks on the terminal, and rejects with a StoppedError when nobody answers any more. Absent where there is no terminal. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

/** A command line that cannot be followed: exit code 2. */
export class UsageError extends Error {}

/** The user has ended the command before it was done: exit code 1. */
export class StoppedError extends Error {}
