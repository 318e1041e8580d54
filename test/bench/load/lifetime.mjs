// No process of the bench outlives it for long, whatever becomes of the one that began it.

export const LIFETIME_MS = 120_000;

/** Called by each process that would not end by itself. */
export function boundLifetime() {
  process.once('SIGTERM', () => process.exit(0));
  setTimeout(() => process.exit(1), LIFETIME_MS).unref();
}
