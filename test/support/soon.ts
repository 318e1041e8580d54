import { vi } from 'vitest';

/** Looks again every two milliseconds until `check` does not throw. */
export const soon = <T>(check: () => T) => vi.waitFor(check, { interval: 2, timeout: 30_000 });
