// Calls in the order of lists, kept in it: lists are read while frames wait, and a call comes or goes seldom.
import { byNewestStart, type CallPosition } from '../events/call-filter.js';

export class NewestFirst {
  readonly #places: CallPosition[] = [];

  /** Takes a call that is not here. */
  add({ startedAt, callId }: CallPosition): void {
    const place = { startedAt, callId };
    this.#places.splice(this.#indexOf(place), 0, place);
  }

  delete(place: CallPosition): void {
    const index = this.#indexOf(place);
    if (this.#places[index]?.callId === place.callId) this.#places.splice(index, 1);
  }

  *callIds(): Generator<string> {
    for (const { callId } of this.#places) yield callId;
  }

  /** Where the place stands, or would. */
  #indexOf(place: CallPosition): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#places[middle];
      if (other !== undefined && byNewestStart(other, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
