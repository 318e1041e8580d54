// Puts the pieces of a stream back in order: the carrier numbers them and does not promise to send them so.
import { toWholeNumber } from './fields.js';

/** Early pieces that are held at most. With the third one, 40 to 60 ms of audio after the gap, the missing piece is given up. */
const WINDOW = 3;
/** Pieces in a row that all seem late: then the numbering has begun anew, and not a second more is lost to it. */
const RENUMBERED = 50;

/** The order of one stream. Holds fewer than `WINDOW` pieces. */
export class ChunkOrder {
  /** The number that comes next; undefined before the first. */
  #next: number | undefined;
  #late = 0;
  readonly #held = new Map<number, Uint8Array>();

  /**
   * Takes the next piece that arrived. Returns what is in order now, which may be several pieces in one; undefined while the piece
   * waits for an earlier one, and for a piece that is late or repeated. One without a number passes.
   */
  receive(chunk: unknown, piece: Uint8Array): Uint8Array | undefined {
    const number = toWholeNumber(chunk);
    if (number === undefined) return piece;
    if (this.#next === undefined || number === this.#next) return this.#release(number, piece);
    if (number < this.#next) return this.#tooLate(number, piece);
    if (!this.#held.has(number)) this.#held.set(number, piece);
    if (this.#held.size < WINDOW) return undefined;
    const first = Math.min(...this.#held.keys());
    const held = this.#held.get(first) ?? piece;
    this.#held.delete(first);
    return this.#release(first, held);
  }

  #tooLate(number: number, piece: Uint8Array): Uint8Array | undefined {
    this.#late += 1;
    if (this.#late < RENUMBERED) return undefined;
    this.#held.clear();
    return this.#release(number, piece);
  }

  /** The piece, and every held one that follows it without a gap. */
  #release(number: number, piece: Uint8Array): Uint8Array {
    this.#late = 0;
    let next = number + 1;
    const ready = [piece];
    for (let held = this.#held.get(next); held !== undefined; held = this.#held.get(next)) {
      ready.push(held);
      this.#held.delete(next);
      next += 1;
    }
    this.#next = next;
    return ready.length === 1 ? piece : Buffer.concat(ready);
  }
}
