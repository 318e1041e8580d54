// Sends the calls of a server to a standalone dashboard: the one that was named, or that of the same user.
import { type Clock, systemClock } from '../base/clock.js';
import { dashboardSocket, isOwnSocket } from '../base/dashboard-socket.js';
import type { Logger } from '../base/log.js';
import type { EventBus } from '../events/bus.js';
import { originOf } from '../events/reduce.js';
import type { FactSource } from '../events/forwarder/archive.js';
import { Forwarder } from '../events/forwarder/forwarder.js';
import { type DashboardLink, linkToSocket, linkToUrl } from '../events/forwarder/link.js';
import type { DashboardFeed } from '../options/dashboard-feed.js';
import type { CallPage, CallStore } from '../stores/call-store.js';

const PAGE_SIZE = 500;

export interface DashboardFeedParts {
  readonly bus: EventBus;
  readonly store: CallStore;
  /** This process. */
  readonly nodeId: string;
  readonly logger: Logger;
  /** @default the system's */
  readonly clock?: Clock | undefined;
}

/** Starts forwarding; undefined where none is wanted. */
export function feedDashboard(feed: DashboardFeed, parts: DashboardFeedParts): Forwarder | undefined {
  if (feed.kind === 'off') return undefined;
  const { bus, store, nodeId, logger, clock = systemClock } = parts;
  const link = feed.kind === 'named' ? linkToUrl(feed.url, feed.token, clock) : linkToOwnDashboard(clock);
  return new Forwarder({ bus, link, nodeId, logger, clock, source: toSource(store) });
}

function linkToOwnDashboard(clock: Clock): DashboardLink {
  const place = dashboardSocket();
  return linkToSocket(place.path, () => isOwnSocket(place), clock);
}

/** The facts that a store kept, where it keeps them. */
export function toSource(store: CallStore): FactSource | undefined {
  if (store.events === undefined) return undefined;
  return {
    events: async (callId) => store.events?.(callId),
    async *calls() {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const query = cursor === undefined ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor };
        const page: CallPage = await store.list(query);
        yield page.calls.map((record) => {
          const { callId, term, seq, endedAt } = record;
          return { callId, nodeId: originOf(record), term, seq, endedAt };
        });
        cursor = page.nextCursor;
      }
      const forgotten = (await store.forgotten?.()) ?? [];
      for (let start = 0; start < forgotten.length; start += PAGE_SIZE)
        yield forgotten.slice(start, start + PAGE_SIZE).map((event) => {
          const { callId, term, seq, at } = event;
          return { callId, nodeId: originOf(event), term, seq, endedAt: at, isForgotten: true };
        });
    },
  };
}
