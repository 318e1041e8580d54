// What of a phone server feeds a dashboard: bus, store and forwarder. It can be killed, and its connection cut.
import { type Clock, systemClock } from '../../src/base/clock.js';
import { isOwnSocket, type SocketPlace } from '../../src/base/dashboard-socket.js';
import { silentLogger } from '../../src/base/log.js';
import { toSource } from '../../src/client/dashboard-feed.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { EventBus } from '../../src/events/bus.js';
import { Forwarder } from '../../src/events/forwarder/forwarder.js';
import { type DashboardLink, LinkError, linkToSocket } from '../../src/events/forwarder/link.js';
import type { CallStore } from '../../src/stores/call-store.js';

/** Time that runs faster. */
export function hurriedClock(factor: number): Clock {
  const start = performance.now();
  const wallStart = Date.now();
  const now = () => (performance.now() - start) * factor;
  return {
    now,
    wallNow: () => wallStart + now(),
    after(delayMs, task) {
      const timer = setTimeout(task, delayMs / factor);
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

export class FeedingServer {
  readonly store: CallStore;
  readonly forwarder: Forwarder;
  /** Calls of which the dashboard has said that it has their end. */
  readonly endedThere = new Set<string>();
  readonly #bus = new EventBus(silentLogger);
  readonly #link: DashboardLink;
  #isDead = false;
  /** What happens to the next batch. */
  trouble: 'none' | 'not sent' | 'not answered' = 'none';

  constructor(options: { nodeId: string; store: CallStore; socket: SocketPlace; clock: Clock }) {
    const { nodeId, store, socket, clock } = options;
    this.store = store;
    this.#bus.subscribeDurable((event) => store.append(event));
    this.#link = linkToSocket(socket.path, () => isOwnSocket(socket), systemClock);
    const link: DashboardLink = {
      isNamed: false,
      address: 'the socket of a test',
      close: () => this.#link.close(),
      send: (body) => this.#send(body),
    };
    this.forwarder = new Forwarder({
      bus: this.#bus,
      link,
      nodeId,
      clock,
      logger: silentLogger,
      source: toSource(store),
    });
  }

  publish(event: CallEvent): void {
    if (!this.#isDead) this.#bus.publish(event);
  }

  /** As kill -9 does: nothing is said or written any more, and what is under way is cut. */
  async kill(): Promise<void> {
    this.#isDead = true;
    this.#link.close();
    await this.store.close();
    await this.forwarder.close();
  }

  async #send(body: string) {
    const trouble = this.#isDead ? 'not sent' : this.trouble;
    this.trouble = 'none';
    if (trouble === 'not sent') throw new LinkError('unreachable');
    const answer = await this.#link.send(body);
    if (trouble === 'not answered' || this.#isDead) throw new LinkError('unreachable');
    for (const { callId, ended } of answer.calls) if (ended) this.endedThere.add(callId);
    return answer;
  }
}
