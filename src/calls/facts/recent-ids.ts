// A memory of ids alone: there are many, so each takes its own bytes and a place in a set.
import type { Clock } from '../../base/clock.js';

/** Forgets by halves: what is not told again is remembered for `keepMs` at most, and for half as long at least. */
export class RecentIds {
  readonly #clock: Clock;
  readonly #options: { readonly keepMs: number; readonly maxIds: number };
  #young = new Set<string>();
  #old = new Set<string>();
  #turnsAt: number;

  constructor(clock: Clock, options: { keepMs: number; maxIds: number }) {
    this.#clock = clock;
    this.#options = options;
    this.#turnsAt = clock.now() + options.keepMs / 2;
  }

  add(id: string): void {
    this.#turnIfDue();
    if (this.#young.size >= this.#options.maxIds / 2 && !this.#young.has(id)) this.#turn();
    this.#young.add(flat(id));
  }

  has(id: string): boolean {
    this.#turnIfDue();
    return this.#young.has(id) || this.#old.has(id);
  }

  delete(id: string): void {
    this.#young.delete(id);
    this.#old.delete(id);
  }

  #turnIfDue(): void {
    const late = this.#clock.now() - this.#turnsAt;
    if (late < 0) return;
    this.#turn();
    if (late >= this.#options.keepMs / 2) this.#old.clear();
  }

  #turn(): void {
    this.#old = this.#young;
    this.#young = new Set();
    this.#turnsAt = this.#clock.now() + this.#options.keepMs / 2;
  }
}

/** A part of a text keeps the whole text in memory: the URL or the message that the id stood in. */
function flat(id: string): string {
  return JSON.parse(JSON.stringify(id)) as string;
}
