// When nothing in this process can run before the time moves.
import { isAnyLoading } from './modules.js';
import { isUnderWay } from './network.js';
import { isAnyStoring } from './storage.js';
import { isAnyBusy } from './workers.js';

/** Turns of the event loop without anything under way: promises and streams hand on what has come. */
const QUIET_TURNS = 2;
/** Work for the disk that comes back by itself. That of `crypto` and `zlib` in the thread pool is not seen here. */
const REQUESTS = /Req/;
/** Nothing takes so long, on the busiest machine: what is waited for then does not come. */
const LONGEST_WAIT_MS = 60_000;

const requests = () => process.getActiveResourcesInfo().filter((name) => REQUESTS.test(name));

/** Resolves when nobody has anything to run, to read, to load, or to get from a file. @throws Error naming what does not end */
export async function untilQuiet(): Promise<void> {
  const startedAt = performance.now();
  for (let turns = 0; turns < QUIET_TURNS; ) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    turns = isUnderWay() || isAnyBusy() || isAnyLoading() || isAnyStoring() ? 0 : turns + 1;
    if (turns === QUIET_TURNS && requests().length > 0) turns = 0;
    if (turns === 0 && performance.now() - startedAt > LONGEST_WAIT_MS)
      throw new Error(`The virtual clock stood still for ${LONGEST_WAIT_MS / 1000} s: ${reasons()}.`);
  }
}

function reasons(): string {
  return [
    isUnderWay() && 'a message is under way',
    isAnyBusy() && 'a thread owes an answer',
    isAnyLoading() && 'a module is loaded',
    isAnyStoring() && 'a database owes an answer',
    ...requests(),
  ]
    .filter(Boolean)
    .join(', ');
}
