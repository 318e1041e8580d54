// Whether there is room for one more call.
import type { CallDesk } from '../calls/call-desk.js';
import type { Carrier } from '../carriers/carrier.js';

export interface CapacityOptions {
  readonly carrier: Pick<Carrier, 'verifies'>;
  readonly desk: CallDesk;
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls: number | undefined;
  isDraining(): boolean;
}

export class Capacity {
  readonly #options: CapacityOptions;

  constructor(options: CapacityOptions) {
    this.#options = options;
  }

  /** True while a further call is turned away. `callId`: the call that asks, whose own place does not stand in its way. */
  isFull(callId?: string): boolean {
    const { desk, isDraining } = this.#options;
    if (isDraining() || desk.isDraining || desk.isOverBudget || desk.isOverloaded) return true;
    return !this.#hasPlace(callId);
  }

  /**
   * True for a stream whose call has a place, or finds one now. That a webhook announced it counts only where webhooks are verified; one that was
   * picked up is no further call, and has only to find its place.
   */
  takesStream(callId: string): boolean {
    const { carrier, desk } = this.#options;
    if (carrier.verifies || desk.holdsPlace(callId)) return true;
    return desk.isLive(callId) ? this.#hasPlace(callId) : !this.isFull(callId);
  }

  #hasPlace(callId: string | undefined): boolean {
    const { desk, maxCalls } = this.#options;
    if (maxCalls === undefined) return true;
    const own = callId !== undefined && desk.holdsPlace(callId) ? 1 : 0;
    return desk.takenPlaces - own < maxCalls;
  }
}
