// The calls that a store kept from before: what a dashboard lacks of them is played again, one call after the other.
import type { CallEvent } from '../../contract/call-event.js';
import type { IngestPosition, IngestQuestion } from '../../contract/ingest.js';
import { isNewer, termOf } from '../reduce.js';
import { callKey } from './call-log.js';

/** A call of a store. */
export type StoredCall = IngestQuestion & {
  /** The place of its last fact. */
  term: number;
  seq: number;
  /** It was deleted: who has nothing of it needs no word of it. @default false */
  isForgotten?: boolean;
};

/** Where facts come from that are not held any more. */
export interface FactSource {
  /** The calls that the store holds, page by page of at most 500. */
  calls(): AsyncIterator<readonly StoredCall[]>;
  /** Undefined for a call that is not there any more. */
  events(callId: string): Promise<readonly CallEvent[] | undefined>;
}

export class Archive {
  readonly #source: FactSource;
  #pages: AsyncIterator<readonly StoredCall[]> | undefined;
  /** Asked about, not answered yet. */
  #asked: readonly StoredCall[] = [];
  readonly #missing: { call: StoredCall; position: IngestPosition }[] = [];

  constructor(source: FactSource) {
    this.#source = source;
  }

  /** True while there may be calls that the dashboard lacks. */
  get isBusy(): boolean {
    return this.#pages !== undefined || this.#missing.length > 0;
  }

  /** A dashboard that nothing is known of. */
  start(): void {
    this.#pages = this.#source.calls();
    this.#asked = [];
    this.#missing.length = 0;
  }

  /** The next calls to ask about: those of the last question again as long as it has no answer. None while some are to be played. */
  async questions(isHeld: (call: StoredCall) => boolean): Promise<readonly StoredCall[]> {
    if (this.#pages === undefined || this.#missing.length > 0) return [];
    if (this.#asked.length > 0) return this.#asked;
    const page = await this.#pages.next();
    if (page.done === true) this.#pages = undefined;
    else this.#asked = page.value.filter((call) => !isHeld(call));
    return this.#asked;
  }

  /** What the dashboard has of the calls that were asked about. */
  learn(positions: ReadonlyMap<string, IngestPosition>): void {
    for (const call of this.#asked) {
      const position = positions.get(callKey(call));
      if (position === undefined || !position.wanted) continue;
      // Whoever has taken the call over tells of it.
      if (termOf(position) > termOf(call)) continue;
      if (call.isForgotten === true && position.seq === 0) continue;
      const lacksEnd = call.endedAt !== null && !position.ended;
      if (lacksEnd || isNewer(call, position)) this.#missing.push({ call, position });
    }
    this.#asked = [];
  }

  /** The next call to play, with its facts. */
  async next(): Promise<{ events: readonly CallEvent[]; position: IngestPosition } | undefined> {
    const first = this.#missing.shift();
    if (first === undefined) return undefined;
    const events = await this.#source.events(first.call.callId);
    return { events: events ?? [], position: first.position };
  }
}
