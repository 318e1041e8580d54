// Puts the facts of one call into their envelopes and publishes them. Only the owner of a call holds its stamp.
import type { Clock } from '../../base/clock.js';
import type { CallFact } from '../../contract/call-event.js';
import type { EventBus } from '../../events/bus.js';

/** Counts the facts of one call: `seq` from 1, `at` never before the fact that came before. */
export class FactStamp {
  readonly callId: string;
  readonly #nodeId: string;
  readonly #bus: EventBus;
  readonly #clock: Clock;
  #seq: number;
  #at: number;

  /** `last`: the last fact of a call that another process began. */
  constructor(
    callId: string,
    context: { nodeId: string; bus: EventBus; clock: Clock },
    last: { seq: number; at: number } = { seq: 0, at: 0 },
  ) {
    this.callId = callId;
    this.#nodeId = context.nodeId;
    this.#bus = context.bus;
    this.#clock = context.clock;
    this.#seq = last.seq;
    this.#at = last.at;
  }

  /** Never throws. */
  publish(fact: CallFact): void {
    this.#seq += 1;
    this.#at = Math.max(this.#at, this.#clock.wallNow());
    this.#bus.publish({ callId: this.callId, nodeId: this.#nodeId, seq: this.#seq, at: this.#at, ...fact });
  }
}
