// Every key in the broker. What stands in braces is the hash tag: all keys of a cluster have the same one, so that a Redis Cluster keeps them on one of its shards.
// There they are lost together or not at all, one script changes several, and one epoch tells whether any is lost. More shards would not help a cluster,
// since each of its nodes reads every fact.
import type { ClusterSeal } from '../seal.js';

export class RedisKeys {
  readonly #prefix: string;

  /** `name`: of the cluster. Clusters of another name, or another secret, do not meet, and may be on other shards. */
  constructor(name: string, seal: ClusterSeal) {
    this.#prefix = `offhook:${name}:{${seal.nameFor(`keys of ${name}`)}}:`;
  }

  /** Sorted set: nodes, by when their lease is over, on the broker's clock. */
  get leases(): string {
    return `${this.#prefix}nodes:leases`;
  }

  /** Hash: where each node is reached, sealed; and a version that changes with them. */
  get cards(): string {
    return `${this.#prefix}nodes:cards`;
  }

  /** String: `<term> <node>`. */
  ownerOf(callId: string): string {
    return `${this.#prefix}${callId}:owner`;
  }

  /** Hash: `term`, and the `state` by which another node goes on with the call, sealed; the `node` that has kept it, and `since` when the call is like that, by its clock. */
  stateOf(callId: string): string {
    return `${this.#prefix}${callId}:state`;
  }

  /** Sorted set: places that are taken, by when they are free again. `name`: says nothing. */
  pool(name: string): string {
    return `${this.#prefix}pool ${name}:places`;
  }

  /** Stream: what happened, sealed. */
  get facts(): string {
    return `${this.#prefix}facts:log`;
  }

  /** String: since when the log is there. Another one where the broker has lost it. */
  get factsEpoch(): string {
    return `${this.#prefix}facts:epoch`;
  }
}
