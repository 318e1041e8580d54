// The last facts of the event stream, numbered, for readers that come back and for the seam behind a snapshot.
import type { CallEvent, FactPlace } from '../contract/call-event.js';
import { isNewer } from '../events/reduce.js';

/** A fact with its place in the stream, as it goes over the wire. */
export interface StampedEvent {
  readonly counter: number;
  readonly callId: string;
  readonly term: number;
  readonly seq: number;
  readonly endsCall: boolean;
  readonly bytes: Uint8Array;
}

/** What a ring holds at most. Its newest fact stays, however large it is. */
export interface RingBounds {
  readonly events: number;
  readonly bytes: number;
}

const NOTHING = new Uint8Array(0);

/** Bounded ring. Ids are `<epoch>-<counter>`; the epoch tells the numbers of one process from those of another. */
export class ReplayRing {
  readonly #epoch: string;
  readonly #bounds: RingBounds;
  readonly #events: StampedEvent[] = [];
  #bytes = 0;
  #counter = 0;

  constructor(epoch: string, bounds: RingBounds) {
    this.#epoch = epoch;
    this.#bounds = bounds;
  }

  /** The number of the newest fact; 0 before the first. */
  get newest(): number {
    return this.#counter;
  }

  /** A fact that deletes its call takes the others of it away: their numbers stay, and what they said is gone. */
  push(event: CallEvent): void {
    if (event.type === 'call.forgotten') this.#blank(event.callId);
    this.#counter += 1;
    const text = `id: ${this.idOf(this.#counter)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    const bytes = Buffer.from(text, 'utf8');
    const { callId, term, seq, type } = event;
    const endsCall = type === 'call.ended';
    this.#events.push({ counter: this.#counter, callId, term, seq, endsCall, bytes });
    this.#bytes += bytes.length;
    while (this.#events.length > 1 && this.#isOver()) this.#bytes -= this.#events.shift()?.bytes.length ?? 0;
  }

  /** The number that `id` stands for; null when the id is not of this ring or the ring does not reach back to it. */
  positionOf(id: string): number | null {
    const [, epoch, digits] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
    const counter = Number(digits);
    return epoch === this.#epoch && counter <= this.#counter && this.after(counter) !== null ? counter : null;
  }

  /** Everything behind a number, in order; null when the ring does not reach back to it. */
  after(counter: number): readonly StampedEvent[] | null {
    const oldest = this.#counter - this.#events.length;
    return counter < oldest ? null : this.#events.slice(counter - oldest);
  }

  /**
   * The facts that are not part of a snapshot, in order: newer than what the snapshot knows of their call (`known`, the
   * last fact by call), or of a live call that the store has not written yet.
   */
  newerThan(known: ReadonlyMap<string, FactPlace>): readonly StampedEvent[] {
    const over = new Set<string>();
    for (const { endsCall, callId } of this.#events) if (endsCall) over.add(callId);
    return this.#events.filter((event) => {
      const last = known.get(event.callId);
      return last === undefined ? !over.has(event.callId) : isNewer(event, last);
    });
  }

  #blank(callId: string): void {
    for (const [index, event] of this.#events.entries()) {
      if (event.callId !== callId) continue;
      this.#bytes -= event.bytes.length;
      this.#events[index] = { ...event, bytes: NOTHING };
    }
  }

  idOf(counter: number): string {
    return `${this.#epoch}-${counter}`;
  }

  #isOver(): boolean {
    return this.#events.length > this.#bounds.events || this.#bytes > this.#bounds.bytes;
  }
}
