// The last facts of the event stream, numbered, for readers that come back and for the seam behind a snapshot.
import type { CallEvent } from '../contract/call-event.js';

/** A fact with its place in the stream and its text on the wire. */
export interface StampedEvent {
  readonly counter: number;
  readonly event: CallEvent;
  /** Serialized on first use. */
  readonly text: string;
}

class Stamped implements StampedEvent {
  readonly #id: string;
  #text: string | null = null;

  constructor(
    readonly counter: number,
    readonly event: CallEvent,
    id: string,
  ) {
    this.#id = id;
  }

  get text(): string {
    this.#text ??= `id: ${this.#id}\nevent: ${this.event.type}\ndata: ${JSON.stringify(this.event)}\n\n`;
    return this.#text;
  }
}

/** Bounded ring. Ids are `<epoch>-<counter>`; the epoch tells the numbers of one process from those of another. */
export class ReplayRing {
  readonly #epoch: string;
  readonly size: number;
  readonly #events: StampedEvent[] = [];
  #counter = 0;

  constructor(epoch: string, size: number) {
    this.#epoch = epoch;
    this.size = size;
  }

  push(event: CallEvent): StampedEvent {
    this.#counter += 1;
    const stamped = new Stamped(this.#counter, event, this.#id(this.#counter));
    this.#events.push(stamped);
    if (this.#events.length > this.size) this.#events.shift();
    return stamped;
  }

  /** Everything behind `id`, in order; null when the id is not of this ring or the ring does not reach back to it. */
  after(id: string): readonly StampedEvent[] | null {
    const [, epoch, digits] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
    const counter = Number(digits);
    if (epoch !== this.#epoch || counter > this.#counter) return null;
    const oldest = this.#counter - this.#events.length;
    return counter < oldest ? null : this.#events.slice(counter - oldest);
  }

  /**
   * The facts that are not part of a snapshot, in order: newer than what the snapshot knows of their call (`known`, the
   * sequence number by call), or of a live call that the store has not written yet.
   */
  newerThan(known: ReadonlyMap<string, number>): readonly StampedEvent[] {
    const over = new Set<string>();
    for (const { event } of this.#events) if (event.type === 'call.ended') over.add(event.callId);
    return this.#events.filter(({ event }) => {
      const seq = known.get(event.callId);
      return seq === undefined ? !over.has(event.callId) : event.seq > seq;
    });
  }

  /** The id to resume from so that `first` comes next; without one, the id of the newest fact. */
  idBefore(first: StampedEvent | undefined): string {
    return this.#id(first === undefined ? this.#counter : first.counter - 1);
  }

  #id(counter: number): string {
    return `${this.#epoch}-${counter}`;
  }
}
