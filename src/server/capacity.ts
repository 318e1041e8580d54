// Whether there is room for one more call.
import type { CallDesk } from '../calls/call-desk.js';
import type { SharedPlaces } from '../calls/shared-places.js';
import type { Carrier } from '../carriers/carrier.js';

export interface CapacityOptions {
  readonly carrier: Pick<Carrier, 'verifies'>;
  readonly desk: CallDesk;
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls: number | undefined;
  isDraining(): boolean;
  /** Places that other processes have a part of. @default this one is alone */
  shared?(): SharedPlaces | undefined;
}

/** Why no further call is taken. */
export type Want = 'draining' | 'overloaded' | 'budget' | 'full';

export class Capacity {
  readonly #options: CapacityOptions;

  constructor(options: CapacityOptions) {
    this.#options = options;
  }

  /** True while a further call is turned away. `callId`: the call that asks, whose own place does not stand in its way. Others than this process may be full. */
  isFull(callId?: string): boolean {
    return this.#want(callId) !== undefined;
  }

  /** Undefined while a further call would be taken, as far as it is known here. */
  get want(): Want | undefined {
    return this.#want() ?? (this.#shared?.isFull === true ? 'full' : undefined);
  }

  /** True where there is room for a call that rings, which has a place from then on. A promise only where others share the places; it never rejects. `since`: as in `SharedPlaces`. */
  takesCall(callId: string, about?: { readonly since?: number | undefined }): boolean | Promise<boolean> {
    if (this.isFull(callId)) return false;
    const shared = this.#shared;
    if (shared === undefined) return true;
    // Nobody takes places by webhooks that anybody can send.
    if (!this.#options.carrier.verifies) return !shared.isFull;
    // This process may have begun to drain, or be overloaded, while it waited.
    return shared.take(callId, about).then((isTaken) => isTaken && !this.isFull(callId));
  }

  /**
   * True for a stream whose call has a place, or finds one now. That a webhook announced it counts only where webhooks are verified; one that was
   * picked up is no further call, and has only to find its place. A promise as `takesCall`.
   */
  takesStream(callId: string): boolean | Promise<boolean> {
    const { carrier, desk } = this.#options;
    if (carrier.verifies || desk.holdsPlace(callId)) return true;
    const isTaken = desk.isLive(callId) ? this.#hasPlace(callId) : !this.isFull(callId);
    return isTaken && (this.#shared?.take(callId) ?? true);
  }

  #want(callId?: string): Want | undefined {
    const { desk, isDraining } = this.#options;
    if (isDraining() || desk.isDraining) return 'draining';
    if (desk.isOverloaded) return 'overloaded';
    if (desk.isOverBudget) return 'budget';
    return this.#hasPlace(callId) ? undefined : 'full';
  }

  get #shared(): SharedPlaces | undefined {
    return this.#options.shared?.();
  }

  #hasPlace(callId: string | undefined): boolean {
    const { desk, maxCalls } = this.#options;
    if (maxCalls === undefined) return true;
    const own = callId !== undefined && desk.holdsPlace(callId) ? 1 : 0;
    return desk.takenPlaces - own < maxCalls;
  }
}
