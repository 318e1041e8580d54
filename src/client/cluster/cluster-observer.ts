// A process that shows the calls of a cluster and has none: no node knows it, so none counts with it. It hears what happens, asks the nodes for what it missed, and
// passes commands on to the one that has the call. It opens every connection itself, and needs no address.
import type { Clock, Timer } from '../../base/clock.js';
import { NotFoundError, OffhookError, RecordingError, RequestError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause } from '../../base/pause.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import { openCoordinator } from '../../cluster/open-coordinator.js';
import type { CallControls, ForgetOutcome } from '../../contract/call-command.js';
import type { CallEvent } from '../../contract/call-event.js';
import type { RecordingSource } from '../../dashboard/call-audio.js';
import { ClusterMetrics } from '../../observability/cluster-metrics.js';
import type { BrokerPlace } from '../../options/cluster.js';
import type { CallStore } from '../../stores/call-store.js';
import { controlsOver } from '../handover/remote-controls.js';
import { CallFinder } from './call-finder.js';
import { ClusterFacts } from './cluster-facts.js';
import { MissedFacts } from './missed-facts.js';
import { metricsOfNodes } from './node-metrics.js';
import { readElsewhere } from './recordings-elsewhere.js';
import { askNode, isUnreached, reachableNodes } from './requests.js';

const LOOK_MS = 1000;
/** What is shown first is whole, if the broker tells it in that time. */
const FIRST_MS = 5000;
const FIRST_LOOK_MS = 20;
/** A carrier is asked to delete its recording meanwhile. */
const FORGET_MS = 15_000;

export interface ClusterObserverParts {
  readonly broker: BrokerPlace;
  /** This process, for nodes that it asks. */
  readonly nodeId: string;
  readonly store: CallStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What a node has stated, in order. After a start, also what the store has. */
  hear(fact: CallEvent): void;
  /** Each second: this process has calls, as far as that can be known here. */
  alive(nodeId: string): void;
  /** That the broker is connected, or is not, whenever this changes. It is until then. */
  brokerIs(isThere: boolean): void;
}

export class ClusterObserver {
  readonly #parts: ClusterObserverParts;
  readonly #coordinator: Coordinator;
  readonly #facts: ClusterFacts;
  readonly #missed: MissedFacts;
  readonly #metrics: ClusterMetrics;
  /** Commands on the calls of all nodes. */
  readonly controls: CallControls;
  #timer: Timer | undefined;
  #isBrokerThere = true;
  #isClosed = false;

  /** Tells nothing before `start`. @throws ConfigError for a broker that will never do, and where its client is not installed */
  static async open(parts: ClusterObserverParts): Promise<ClusterObserver> {
    const { broker, nodeId, clock, logger } = parts;
    const metrics: ClusterMetrics = new ClusterMetrics(() => ({
      isBrokerThere: coordinator.isThere,
      nodes: coordinator.nodes().length,
      factsWaiting: 0,
      retries: 0,
      factsLateMs: observer.#facts.lateMs,
    }));
    const options = { ...broker, nodeId, address: '', clock, logger, meters: metrics };
    const coordinator = await openCoordinator(options);
    const observer: ClusterObserver = new ClusterObserver(parts, coordinator, metrics);
    try {
      await coordinator.observe();
    } catch (error) {
      await observer.close();
      throw error;
    }
    return observer;
  }

  private constructor(parts: ClusterObserverParts, coordinator: Coordinator, metrics: ClusterMetrics) {
    const { nodeId, clock, logger, hear } = parts;
    const store = () => parts.store;
    this.#parts = parts;
    this.#coordinator = coordinator;
    this.#metrics = metrics;
    this.#facts = new ClusterFacts({
      nodeId,
      clock,
      hear,
      between: (last, fact) => this.#missed.between(last, fact),
      missed: () => void this.#missed.catchUp(),
    });
    // Calls that no node has are ended by a node.
    const takeOver = async () => {};
    const placesOf = async () => [];
    const common = { nodeId, clock, logger, coordinator, store };
    this.#missed = new MissedFacts({ ...common, facts: this.#facts, placesOf, takeOver });
    const finder = new CallFinder({ nodeId, clock, store }, coordinator);
    this.controls = controlsOver(undefined, { isOwn: () => false, other: () => finder });
  }

  /** Resolves once it has told what the broker keeps, or some seconds later. Never rejects. */
  async start(): Promise<void> {
    const { clock } = this.#parts;
    this.#facts.start(this.#coordinator);
    const by = clock.now() + FIRST_MS;
    while (this.#coordinator.isReached && !this.#coordinator.hasHeardAll && clock.now() < by)
      await pause(clock, FIRST_LOOK_MS);
    await this.#look();
    this.#await();
  }

  /** That are alive, as far as it is known here. */
  get nodeCount(): number {
    return this.#coordinator.nodes().length;
  }

  /** False while the broker is not connected. */
  get isBrokerThere(): boolean {
    return this.#isBrokerThere;
  }

  /** Those of all nodes, each fetched from the one that has it. */
  readonly recordings: RecordingSource = {
    read: async (callId, file, server) => {
      if (server !== undefined) return readElsewhere({ callId, file, server }, this.#coordinator);
      const message = 'The call was recorded before its server was one of a cluster: ask that one for it.';
      throw new RecordingError('RECORDING_ABSENT', message);
    },
  };

  /** As `CallControls.forget`, by a node: preferably the one that has had the call. */
  async forget(callId: string): Promise<ForgetOutcome> {
    const record = await this.#parts.store.get(callId);
    const id = record?.callId ?? callId;
    const nodeIds = reachableNodes(this.#coordinator).map(({ nodeId }) => nodeId);
    const isFirst = (nodeId: string) => Number(nodeId === record?.nodeId);
    let isKnownNowhere = nodeIds.length > 0;
    for (const nodeId of nodeIds.toSorted((one, other) => isFirst(other) - isFirst(one))) {
      const request = { type: 'forget', callId: id, ask: {} } as const;
      try {
        return await askNode(this.#coordinator, nodeId, { request, timeoutMs: FORGET_MS });
      } catch (error) {
        if (isUnreached(error)) isKnownNowhere = false;
        else if (!OffhookError.isInstance(error) || error.code !== 'NOT_FOUND') throw error;
      }
    }
    if (isKnownNowhere) throw new NotFoundError('No server of the cluster has the call.');
    throw new RequestError('REQUEST_CONFLICT', 'No server of the cluster has deleted the call. Try again.');
  }

  /** What this process measures, in the text exposition format. */
  metrics(): string {
    return this.#metrics.metrics.map((metric) => metric.text()).join('');
  }

  /** What all nodes measure, in the same format. Never rejects. */
  nodeMetrics(): Promise<string> {
    return metricsOfNodes(this.#coordinator);
  }

  /** Idempotent, never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#missed.close();
    this.#facts.close();
    await this.#coordinator.close();
  }

  #await(): void {
    if (this.#isClosed) return;
    this.#timer = this.#parts.clock.after(LOOK_MS, () => void this.#look().then(() => this.#await()));
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { store, alive, brokerIs, logger } = this.#parts;
    const { isReached } = this.#coordinator;
    if (isReached !== this.#isBrokerThere) {
      this.#isBrokerThere = isReached;
      brokerIs(isReached);
    }
    try {
      // Without a broker nobody is known to be gone.
      const found = isReached ? this.#coordinator.nodes() : await store.active();
      for (const nodeId of new Set(found.map((each) => each.nodeId))) alive(nodeId);
    } catch (error) {
      logger.error(describeError(error), 'the active calls were not read');
    }
  }
}
