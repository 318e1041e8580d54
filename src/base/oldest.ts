// Maps in which insertion order is age: who is the oldest.

/** A look at the map itself is taken so seldom: its cost is then that of nothing, and so is what an iterator holds on to. */
const LOOKS = 256;

/**
 * Finds the oldest entry of a map at once. A look at the map itself passes over the places of all that was deleted before its first entry,
 * which in a memory that always forgets its oldest are nearly as many as it holds. So one iterator goes on where it was; but it keeps every
 * table that the map has outgrown meanwhile, and another one takes its place after a while. Whoever sets an entry also looks for the oldest.
 */
export class Oldest<K, V extends object> {
  readonly #map: ReadonlyMap<K, V>;
  #rest: Iterator<[K, V]>;
  #first: [K, V] | undefined;
  #looks = 0;

  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
    this.#rest = map.entries();
  }

  /** Undefined where the map is empty. Entries must be objects of their own: one that is set again is young again. */
  find(): readonly [key: K, value: V] | undefined {
    this.#looks += 1;
    if (this.#looks > LOOKS) this.#begin();
    while (this.#first === undefined || this.#map.get(this.#first[0]) !== this.#first[1]) {
      const { done, value } = this.#rest.next();
      this.#first = done === true ? undefined : value;
      if (done !== true) continue;
      // At its end an iterator stays there, whatever comes.
      this.#begin();
      if (this.#map.size === 0) return undefined;
    }
    return this.#first;
  }

  #begin(): void {
    this.#rest = this.#map.entries();
    this.#first = undefined;
    this.#looks = 0;
  }
}
