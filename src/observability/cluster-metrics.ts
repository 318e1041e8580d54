// What a node of a cluster measures of the broker and of the other nodes.
import type { ClusterMeters } from '../base/meters.js';
import { Counter, Gauge, Histogram, type Metric } from './metric.js';

const ANSWER_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2] as const;

/** How a node stands with the others. */
export interface ClusterStanding {
  readonly isBrokerThere: boolean;
  /** Nodes that are alive, this one among them. */
  readonly nodes: number;
  /** Facts that the broker does not have yet. */
  readonly factsWaiting: number;
  /** How often facts could not be told to it. Only rises. */
  readonly retries: number;
  /** How far behind the others this node is, in milliseconds: how old their last fact was as it came, or since when it has not heard everything; 0 where nothing is late. */
  readonly factsLateMs: number;
}

export class ClusterMetrics implements ClusterMeters {
  readonly metrics: readonly Metric[];
  readonly #answers = new Histogram({
    name: 'offhook_cluster_broker_answer_seconds',
    help: 'In a cluster: how long the broker took to answer.',
    buckets: ANSWER_SECONDS,
  });
  readonly #errors = new Counter({
    name: 'offhook_cluster_errors_total',
    help: 'In a cluster: questions that were refused or not answered in time, by who was asked (broker, node). Questions to a broker that is known to be away are not counted.',
    labels: ['asked'],
  });

  constructor(standing: () => ClusterStanding) {
    this.metrics = [
      new Gauge({
        name: 'offhook_cluster_broker_up',
        help: 'In a cluster: 1 while the broker answers within 100 ms, else 0. Calls go on without it.',
        read: () => Number(standing().isBrokerThere),
      }),
      new Gauge({
        name: 'offhook_cluster_nodes',
        help: 'In a cluster: servers that are alive as far as this one knows, itself included.',
        read: () => standing().nodes,
      }),
      new Gauge({
        name: 'offhook_cluster_facts_waiting',
        help: 'In a cluster: facts of this server that the broker does not have yet.',
        read: () => standing().factsWaiting,
      }),
      new Gauge({
        name: 'offhook_cluster_facts_late_seconds',
        help: 'In a cluster: how far this server is behind the others: how old their last fact was as it came here, or for how long it has not heard them; 0 if it has heard everything.',
        read: () => standing().factsLateMs / 1000,
      }),
      new Gauge({
        name: 'offhook_cluster_retries_total',
        help: 'In a cluster: how often this server could not tell the broker its facts, because that was away or had lost what it had, and tried again.',
        type: 'counter',
        read: () => standing().retries,
      }),
      this.#answers,
      this.#errors,
    ];
    // There before the first error, so that a rate sees it.
    for (const asked of ['broker', 'node']) this.#errors.add(0, { asked });
  }

  brokerAnswered(tookMs: number): void {
    this.#answers.observe(tookMs / 1000);
  }

  askFailed(asked: 'broker' | 'node'): void {
    this.#errors.add(1, { asked });
  }
}
