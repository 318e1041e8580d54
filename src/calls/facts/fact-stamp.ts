// Puts the facts of one call into their envelopes and publishes them. Only the owner of a call holds its stamp.
import type { Clock } from '../../base/clock.js';
import type { CallEvent, CallFact } from '../../contract/call-event.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { EventBus } from '../../events/bus.js';
import { originOf, termOf } from '../../events/reduce.js';

/** Counts the facts of one call: `seq` from 1, `at` never before the fact that came before. Whose call another process had begins a new term. */
export class FactStamp {
  readonly callId: string;
  readonly #nodeId: string;
  readonly #bus: EventBus;
  readonly #clock: Clock;
  #term: number;
  /** Undefined where the call began here. */
  readonly #originId: string | undefined;
  #seq: number;
  #at: number;
  #isClosed = false;
  /** Facts that are stated when it is known that they are for this process to state; undefined while each is at once. */
  #held: CallEvent[] | undefined;

  /** `record`: what is known of a call that was had before. `at`: when its last fact was stated, at the earliest. `term`: at least. */
  constructor(
    callId: string,
    context: { nodeId: string; bus: EventBus; clock: Clock },
    { record, at = 0, term = 1 }: { record?: CallRecord; at?: number; term?: number | undefined } = {},
  ) {
    this.callId = callId;
    this.#nodeId = context.nodeId;
    this.#bus = context.bus;
    this.#clock = context.clock;
    this.#term = Math.max(term, record === undefined ? 1 : termAfter(record, context.nodeId));
    const originId = record && originOf(record);
    this.#originId = originId === context.nodeId ? undefined : originId;
    this.#seq = record?.seq ?? 0;
    this.#at = at;
  }

  get term(): number {
    return this.#term;
  }

  /** What is stated from now on is, at least, in this term. */
  raise(term: number): void {
    this.#term = Math.max(this.#term, term);
  }

  /** Another process has the call, or it was deleted: it is not for this one to say more of it. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#held &&= [];
  }

  /** What follows is stamped, and stated with `release`. */
  hold(): void {
    this.#held ??= [];
  }

  /** Idempotent. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#bus.publish(event);
  }

  /** What is held is for another process to state, and all that would follow. False where nothing is held any more. */
  drop(): boolean {
    if (this.#held === undefined) return false;
    this.#held = undefined;
    this.close();
    return true;
  }

  /** `at`: when it was, where that is long ago. Never throws. */
  publish(fact: CallFact, at = this.#clock.wallNow()): void {
    if (this.#isClosed) return;
    this.#seq += 1;
    this.#at = Math.max(this.#at, at);
    // One literal: the objects are kept, and a spread in the middle would make each larger.
    const [callId, nodeId, term] = [this.callId, this.#nodeId, this.#term];
    const event = { callId, nodeId, term, seq: this.#seq, at: this.#at, ...fact };
    const whole = this.#originId === undefined ? event : { ...event, originId: this.#originId };
    if (this.#held === undefined) this.#bus.publish(whole);
    else this.#held.push(whole);
  }
}

/**
 * The term in which a process goes on with a call: one more than that of whoever had it. One that it has ended itself goes on in its own; one that is up
 * it has given to another process, of which nothing may have been heard.
 */
export function termAfter(record: CallRecord, nodeId: string): number {
  if (record.nodeId !== nodeId) return termOf(record) + 1;
  return record.status === 'completed' ? termOf(record) : termOf(record) + 2;
}
