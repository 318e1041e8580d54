// Whether there is room for one more call, and which calls hold a place before their stream is there.
import type { Clock } from '../base/clock.js';
import type { CallDesk } from '../calls/call-desk.js';
import type { Carrier } from '../carriers/carrier.js';
import { PromisedCalls } from './promised-calls.js';

export interface CapacityOptions {
  readonly carrier: Pick<Carrier, 'verifies'>;
  readonly desk: CallDesk;
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls: number | undefined;
  isDraining(): boolean;
  readonly clock: Clock;
}

export class Capacity {
  readonly #options: CapacityOptions;
  readonly #promises: PromisedCalls;

  constructor(options: CapacityOptions) {
    this.#options = options;
    this.#promises = new PromisedCalls(options.clock);
  }

  /** Calls that were told to open a stream, and may still do so. */
  get promised(): number {
    const { desk } = this.#options;
    return this.#promises.count((id) => desk.isLive(id) || desk.hasEnded(id));
  }

  /** True while a further call is turned away. `callId`: the call that asks, whose own place does not stand in its way. */
  isFull(callId?: string): boolean {
    const { desk, maxCalls, isDraining } = this.#options;
    if (isDraining() || desk.isDraining || desk.isOverBudget || desk.isOverloaded) return true;
    // Without a limit nothing is counted: a flood of calls would be counted anew with each of them.
    if (maxCalls === undefined) return false;
    const isSettled = (id: string) => id === callId || desk.isLive(id) || desk.hasEnded(id);
    return desk.takenPlaces + this.#promises.count(isSettled) >= maxCalls;
  }

  /** The call was told to open a stream, and has a place until then. A webhook that anybody may have sent takes none. */
  promise(callId: string): void {
    if (this.#options.carrier.verifies) this.#promises.add(callId);
  }

  /** True for a stream whose call has a place, or finds one now. That a webhook announced it counts only where webhooks are verified. */
  takesStream(callId: string): boolean {
    const { carrier, desk } = this.#options;
    return carrier.verifies || desk.holdsPlace(callId) || !this.isFull(callId);
  }
}
