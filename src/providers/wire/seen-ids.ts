// What has come already, by its id: a message that comes twice acts once.
import { forgetOldest } from './bounds.js';

/** Ids that are remembered: a repetition comes sooner than this many others. */
const KEPT_IDS = 512;

export class SeenIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Returns true the first time. What has no id ('') is new every time. */
  add(id: string): boolean {
    if (id === '') return true;
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    forgetOldest(this.#ids, KEPT_IDS);
    return true;
  }

  /** Another connection counts anew. */
  clear(): void {
    this.#ids.clear();
  }
}
