// Calls in the order of lists, kept in it: lists are read while frames wait, and a call comes or goes seldom.
import { byNewestStart, type Position } from './call-cursor.js';

export class NewestFirst {
  readonly #places: Position[] = [];

  /** Takes a call that is not here. */
  add({ startedAt, callId }: Position): void {
    const place = { startedAt, callId };
    this.#places.splice(this.#indexOf(place), 0, place);
  }

  delete(place: Position): void {
    const index = this.#indexOf(place);
    if (this.#places[index]?.callId === place.callId) this.#places.splice(index, 1);
  }

  *callIds(): Generator<string> {
    for (const { callId } of this.#places) yield callId;
  }

  /** Where the place stands, or would. */
  #indexOf(place: Position): number {
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
