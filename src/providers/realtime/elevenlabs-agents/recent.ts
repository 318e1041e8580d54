// What the agent has said in the last seconds, by the numbers of its events: an interruption names the last one that counts, and may be
// told behind newer ones, which are then told anew.
import type { Clock, Timer } from '../../../base/clock.js';

export interface SaidPiece {
  /** Rises within a conversation. */
  readonly eventId: number;
  readonly bytes: number;
  /** How long it sounds; 0 for words. */
  readonly durationMs: number;
  /** Tells it as if it came now. */
  readonly again: () => void;
}

/** An interruption is not later than this. */
const KEPT_MS = 3000;
/** More than a minute of the telephone's format. */
const KEPT_BYTES = 512 * 1024;

/** How much later than it could be something is heard: it waits for a frame, for what is on the way, and for the network. */
const LATER_MS = 500;
/** Pieces that are played one after the other: more than a minute of 100 ms chunks. */
const KEPT_ENDS = 1024;

/** One conversation's. */
export class ElevenLabsAgentsRecent {
  readonly #clock: Clock;
  #pieces: (SaidPiece & { readonly at: number })[] = [];
  #bytes = 0;
  /** When what was told has been heard, by events. */
  #ends: { readonly eventId: number; readonly until: number }[] = [];
  #lastId = Number.NEGATIVE_INFINITY;
  /** The last event that is not kept any more. */
  #droppedId = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(piece: SaidPiece): void {
    const now = this.#clock.now();
    const { eventId, bytes, durationMs } = piece;
    this.#pieces.push({ ...piece, at: now });
    this.#bytes += bytes;
    this.#lastId = Math.max(this.#lastId, eventId);
    const until = Math.max(now, this.#ends.at(-1)?.until ?? now) + durationMs;
    if (durationMs > 0) this.#ends.push({ eventId, until });
    if (this.#ends.length > KEPT_ENDS) this.#ends.shift();
    while (this.#bytes > KEPT_BYTES) this.#drop();
    this.#timer ??= this.#clock.after(KEPT_MS, () => this.#forgetOld());
  }

  /** Something came behind that event. */
  hasBehind(eventId: number): boolean {
    return this.#lastId > eventId;
  }

  /**
   * What is told anew when all up to that event is interrupted. Undefined where nothing is to be interrupted: that was heard to its end,
   * or what came behind is not known any more.
   */
  behind(eventId: number): readonly SaidPiece[] | undefined {
    if (!this.hasBehind(eventId)) return [];
    const now = this.#clock.now();
    const sounds = this.#ends.some((end) => end.eventId <= eventId && end.until + LATER_MS > now);
    if (!sounds || this.#droppedId > eventId) return undefined;
    return this.#pieces.filter((piece) => piece.eventId > eventId);
  }

  /** Nothing of it is heard any more. Idempotent. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#pieces = [];
    this.#bytes = 0;
    this.#ends = [];
    this.#lastId = this.#droppedId = Number.NEGATIVE_INFINITY;
  }

  #forgetOld(): void {
    const since = this.#clock.now() - KEPT_MS;
    while ((this.#pieces[0]?.at ?? Number.POSITIVE_INFINITY) <= since) this.#drop();
    const [oldest] = this.#pieces;
    this.#timer =
      oldest === undefined ? undefined : this.#clock.after(oldest.at - since, () => this.#forgetOld());
  }

  #drop(): void {
    const piece = this.#pieces.shift();
    if (piece === undefined) return;
    this.#bytes -= piece.bytes;
    this.#droppedId = Math.max(this.#droppedId, piece.eventId);
  }
}
