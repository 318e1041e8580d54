// A source that is read in a loop may never wait for anything: then no timer, and no other call, ever had its turn.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many items are read in a row, between two turns of the event loop at the latest. */
const ITEMS = 64;

/** One per loop. Costs an ordinary stream one turn in every 64 items. */
export class EventLoopTurns {
  #items = 0;

  /** To be awaited where it is a promise, for each item that is read. */
  next(): Promise<void> | undefined {
    this.#items += 1;
    return this.#items % ITEMS === 0 ? nextTurn() : undefined;
  }
}
