// When nothing in this process can run before the time moves.
import { isAnyLoading } from './modules.js';
import { isUnderWay } from './network.js';
import { isAnyBusy } from './workers.js';

/** Turns of the event loop without anything under way: promises and streams hand on what has come. */
const QUIET_TURNS = 2;
/** Work for the disk that comes back by itself. That of native modules and of `crypto` and `zlib` in the thread pool is not seen here. */
const REQUESTS = /Req/;

/** Resolves when nobody has anything to run, to read, to load, or to get from a file. */
export async function untilQuiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; ) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    turns = isUnderWay() || isAnyBusy() || isAnyLoading() ? 0 : turns + 1;
    if (turns === QUIET_TURNS && process.getActiveResourcesInfo().some((name) => REQUESTS.test(name)))
      turns = 0;
  }
}
