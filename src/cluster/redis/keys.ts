// Every key in the broker. What stands in braces is the hash tag: keys that one script changes together are on one server of a Redis Cluster.

export class RedisKeys {
  readonly #prefix: string;

  /** `name`: of the cluster. Clusters of other names do not meet. */
  constructor(name: string) {
    this.#prefix = `offhook:${name}:`;
  }

  /** Sorted set: nodes, by when their lease is over, on the broker's clock. */
  get leases(): string {
    return `${this.#prefix}{nodes}:leases`;
  }

  /** Hash: where each node is reached, sealed; and a version that changes with them. */
  get cards(): string {
    return `${this.#prefix}{nodes}:cards`;
  }

  /** String: `<term> <node>`. */
  ownerOf(callId: string): string {
    return `${this.#prefix}{${callId}}:owner`;
  }

  /** Sorted set: places that are taken, by when they are free again. `name`: says nothing. */
  pool(name: string): string {
    return `${this.#prefix}{pool ${name}}:places`;
  }

  /** Stream: what happened, sealed. */
  get facts(): string {
    return `${this.#prefix}{facts}:log`;
  }
}
