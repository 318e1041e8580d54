// When nothing in this process can run before the time moves.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { isAnyLoading } from './modules.js';
import { isUnderWay } from './network.js';
import { isAnyStoring } from './storage.js';
import { isAnyBusy } from './workers.js';

/** Turns of the event loop without anything under way: promises and streams hand on what has come. */
const QUIET_TURNS = 2;
/** Work for the disk that comes back by itself. That of `crypto` and `zlib` in the thread pool is not seen here. */
const REQUESTS = /Req/;
/** Turns that look without a pause for what a file, a thread or a database owes: most of it is there within microseconds. */
const EAGER_TURNS = 200;
/** Pause between the looks behind those: whoever owes it may need this processor. */
const NAP_MS = 1;
/** Nothing takes so long, on the busiest machine: what is waited for then does not come. */
const LONGEST_WAIT_MS = 60_000;

const requests = () => process.getActiveResourcesInfo().filter((name) => REQUESTS.test(name));

/** Resolves when nobody has anything to run, to read, to load, or to get from a file. @throws Error naming what does not end */
export async function untilQuiet(): Promise<void> {
  const startedAt = performance.now();
  let owedTurns = 0;
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; ) {
    await (owedTurns > EAGER_TURNS ? setTimeout(NAP_MS) : setImmediate());
    const isMoving = isUnderWay();
    const isQuiet = !isMoving && !isOwed() && (quietTurns + 1 < QUIET_TURNS || requests().length === 0);
    quietTurns = isQuiet ? quietTurns + 1 : 0;
    if (isQuiet) continue;
    owedTurns = isMoving ? 0 : owedTurns + 1;
    if (performance.now() - startedAt > LONGEST_WAIT_MS)
      throw new Error(`The virtual clock stood still for ${LONGEST_WAIT_MS / 1000} s: ${reasons()}.`);
  }
}

/** Whether others than this thread have something to do. */
function isOwed(): boolean {
  return isAnyBusy() || isAnyLoading() || isAnyStoring();
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
