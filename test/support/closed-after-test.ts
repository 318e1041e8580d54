// What a test opens, and need not close itself.
import { onTestFinished } from 'vitest';

/** Closes it when the test is over: what was opened last, first. */
export function closedAfterTest<Opened extends { close(): unknown }>(opened: Opened): Opened {
  onTestFinished(async () => {
    await opened.close();
  });
  return opened;
}
