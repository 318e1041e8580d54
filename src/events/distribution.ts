// How often each value occurs, kept in ascending order: a percentile is asked for while frames wait, and a value comes or goes seldom.

export class Distribution {
  readonly #values: number[] = [];
  /** Of the value at the same place, never 0. */
  readonly #counts: number[] = [];
  #total = 0;

  add(value: number): void {
    this.#total += 1;
    const index = this.#indexOf(value);
    if (this.#values[index] === value) {
      this.#counts[index] = (this.#counts[index] ?? 0) + 1;
      return;
    }
    this.#values.splice(index, 0, value);
    this.#counts.splice(index, 0, 1);
  }

  /** Takes away one that was added. */
  delete(value: number): void {
    const index = this.#indexOf(value);
    if (this.#values[index] !== value) return;
    this.#total -= 1;
    const left = (this.#counts[index] ?? 0) - 1;
    if (left > 0) {
      this.#counts[index] = left;
      return;
    }
    this.#values.splice(index, 1);
    this.#counts.splice(index, 1);
  }

  /** Nearest rank, as `percentile` of all values. Null of nothing. */
  percentile(percent: number): number | null {
    const rank = (percent / 100) * this.#total;
    let passed = 0;
    for (const [index, value] of this.#values.entries()) {
      passed += this.#counts[index] ?? 0;
      if (passed >= rank) return value;
    }
    return null;
  }

  /** Where the value stands, or would. */
  #indexOf(value: number): number {
    let [low, high] = [0, this.#values.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#values[middle] ?? value) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
