// The limits of a server that hold for all nodes together: its calls, and the streams of an address. What has a place is heard from the facts.
import { neighborhoodOf } from '../base/network-address.js';
import type { CallEvents } from '../contract/call-event.js';
import { ClusterPlaces, type ClusterPlacesParts, type PlacePool } from './cluster-places.js';

export interface ClusterLimitsParts extends ClusterPlacesParts {
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls: number | undefined;
  /** Streams at a time, by address. */
  readonly maxStreamsPerIp: number;
  /** What happens in the calls of this node. */
  readonly events: CallEvents;
  /** True for a call that counts toward `maxCalls` here. */
  holdsPlace(callId: string): boolean;
  /** True for a call that another node may have, or take up, and that is not known to be over. */
  isElsewhere(callId: string): boolean;
}

export class ClusterLimits {
  /** Undefined without `maxCalls`. */
  readonly calls: PlacePool | undefined;
  readonly streams: { acquire(address: string, callId: string): Promise<(() => void) | undefined> };
  readonly #places: ClusterPlaces;
  readonly #unsubscribe: () => void;

  constructor({ maxCalls, maxStreamsPerIp, events, holdsPlace, isElsewhere, ...parts }: ClusterLimitsParts) {
    const places = new ClusterPlaces(parts);
    this.#places = places;
    const { nodeId } = parts.coordinator;
    const calls =
      maxCalls === undefined
        ? undefined
        : places.pool({ name: 'calls', limit: maxCalls, holds: holdsPlace, isWatched: true });
    this.calls = calls;
    this.#unsubscribe = events.subscribe((event) => {
      if (event.nodeId !== nodeId) return;
      const { callId, type } = event;
      if (type === 'call.ended') calls?.giveBack(callId);
      else if ((type === 'call.status' || type === 'call.started') && holdsPlace(callId)) calls?.keep(callId);
    });
    /** Streams of a call here, by pool and call: where a new one comes before the old one is closed, they have one place. */
    const open = new Map<string, number>();
    this.streams = {
      async acquire(address, callId) {
        const name = `streams ${neighborhoodOf(address)}`;
        const pool = places.pool({ name, limit: maxStreamsPerIp });
        const key = `${name} ${callId}`;
        open.set(key, (open.get(key) ?? 0) + 1);
        let isOpen = true;
        const release = () => {
          if (!isOpen) return;
          isOpen = false;
          const left = (open.get(key) ?? 1) - 1;
          if (left > 0) {
            open.set(key, left);
            return;
          }
          open.delete(key);
          if (isElsewhere(callId)) pool.handOn(callId);
          else pool.giveBack(callId);
        };
        if (await pool.take(callId)) return release;
        release();
        return undefined;
      },
    };
  }

  /** The broker has lost what it had. */
  tellAgain(): void {
    this.#places.tellAgain();
  }

  /** As in `ClusterPlaces`. */
  stoodStill(): void {
    this.#places.stoodStill();
  }

  /** Before the coordinator. Idempotent. */
  close(): void {
    this.#unsubscribe();
    this.#places.close();
  }
}
