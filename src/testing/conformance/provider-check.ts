// What the suites of the providers share: named checks, each with a provider of its own.
import { systemClock } from '../../base/clock.js';
import { heldTimer } from '../../base/process-hold.js';

/** One thing that a provider must do. `run` rejects when it does not. */
export interface ProviderCheck {
  readonly name: string;
  run(): Promise<void>;
}

/** What a check works on. It is closed after it. */
export interface ProviderSetup {
  /** Cuts every connection. Left out where there is none. */
  readonly breakConnections?: () => void;
  readonly close: () => void | Promise<void>;
}

/** Makes a check of `body`, which gets what `create` makes. */
export function providerCheck<T extends ProviderSetup>(
  name: string,
  create: () => T | Promise<T>,
  body: (setup: T) => Promise<void>,
): ProviderCheck {
  return {
    name,
    async run() {
      const setup = await create();
      try {
        await body(setup);
      } finally {
        await setup.close();
      }
    },
  };
}

const PATIENCE_MS = 5000;
const LOOK_EVERY_MS = 5;

/** Waits until `condition` holds. @throws Error that says what was waited for, after five seconds. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    if (condition()) return;
    await wait(LOOK_EVERY_MS);
  }
  throw new Error(`There was no ${what} within ${PATIENCE_MS / 1000} s.`);
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => heldTimer(systemClock, ms, resolve));
}
