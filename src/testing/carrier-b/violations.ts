// What a phone server did that the carrier would have refused or ignored: each kind once, and counted.
import type { Violation } from '../stream-end.js';

/** Kinds that are kept; a server that floods is only counted on. */
const MAX_KINDS = 100;

export class ViolationList {
  readonly list: Violation[] = [];
  readonly #nowMs: () => number;

  /** `nowMs` dates the entries. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get sentences(): string[] {
    return this.list.map(({ sentence }) => sentence);
  }

  add(sentence: string): void {
    const known = this.list.find((violation) => violation.sentence === sentence);
    if (known !== undefined) known.count += 1;
    else if (this.list.length < MAX_KINDS) {
      this.list.push({ atMs: Math.max(0, Math.round(this.#nowMs())), sentence, count: 1 });
    }
  }
}
