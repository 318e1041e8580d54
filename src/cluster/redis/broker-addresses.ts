// Where the broker is asked: at the URL in `cluster.url`, and where that is a node of a Redis Cluster, also at the others, should that one be gone.

/** Where the keys are instead: `MOVED 3999 10.0.0.2:6379`. The host may be missing, and an IPv6 address stands without brackets. Source: Redis Cluster specification, MOVED redirection. */
const MOVED = /^MOVED \d+ (.*):(\d+)$/;
/** What a node says where it does not know the host of another one. Source: Redis, CLUSTER SLOTS. */
const UNKNOWN_HOST = '?';

const DEFAULT_PORT = '6379';

/** As a node answers CLUSTER SLOTS: ranges, each with its first and last slot, and then where each node is that has it, its master first. */
export type SlotRanges = readonly (readonly [
  first: number,
  last: number,
  ...(readonly [host: string | null, port: number])[],
])[];

export class BrokerAddresses {
  readonly #named: string;
  #urls: readonly string[];
  #wasReached = false;

  /** `url`: in `cluster.url`. */
  constructor(url: string) {
    const named = new URL(url);
    // As nodes name each other.
    if (named.port === '') named.port = DEFAULT_PORT;
    this.#named = named.href;
    this.#urls = [this.#named];
  }

  /** Host and port of `cluster.url`, for a log: not the user and password. */
  get host(): string {
    return new URL(this.#named).host;
  }

  /** True once the broker has been reached: so the scheme of `cluster.url` is right. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** In the order in which they are to be asked, as URLs. */
  all(): readonly string[] {
    return this.#urls;
  }

  /** A node of a Redis Cluster as a message names it; undefined for the one in `cluster.url`. */
  otherNode(url: string): string | undefined {
    return url === this.#named
      ? undefined
      : `The node ${new URL(url).host} of the Redis Cluster in cluster.url`;
  }

  /** The broker is reached at `url`. `others`: where it says that it has nodes. */
  reached(url: string, others: readonly string[]): void {
    this.#wasReached = true;
    // In their order: those that have failed stay behind.
    const known = this.#urls.filter((each) => each === this.#named || others.includes(each));
    this.#urls = [...new Set([url, ...known, ...others])];
  }

  /** The others come first from now on. */
  failed(url: string): void {
    if (!this.#urls.includes(url)) return;
    this.#urls = [...this.#urls.filter((each) => each !== url), url];
  }
}

/** Which node has the keys that the one at `url` was asked for, by what that said as it refused; undefined where it says nothing of that. */
export function movedTo(refusal: string, url: string): string | undefined {
  const [, host, port] = MOVED.exec(refusal) ?? [];
  return port === undefined ? undefined : besides(url, host, Number(port));
}

/** URLs of all nodes, by what the one at `url` says. */
export function nodesIn(ranges: SlotRanges, url: string): string[] {
  const nodes = ranges.flatMap(([, , ...each]) => each).map(([host, port]) => besides(url, host, port));
  return [...new Set(nodes)].filter((each) => each !== undefined);
}

/** The same user, password and TLS. A host that is not given is the one that was asked; undefined for one that is not known. */
function besides(url: string, host: string | null | undefined, port: number): string | undefined {
  if (host === UNKNOWN_HOST) return undefined;
  const other = new URL(url);
  if (host) other.hostname = host.includes(':') ? `[${host}]` : host;
  other.port = String(port);
  return other.href;
}
