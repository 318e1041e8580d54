// Connections over HTTP that are kept for the next request. They belong to no call, and to no server: idle ones are spares of the process.
import type { Agent, request as requestOf } from 'node:http';
import { keepSpares } from './spares.js';

/** How to ask, and over which connections. */
export interface Transport {
  readonly request: typeof requestOf;
  readonly agent: Agent;
}

/** One object for each purpose, for the whole process. Idle connections do not keep the process alive. */
export class KeptConnections {
  readonly #keepMs: number;
  readonly #transports = new Map<string, Promise<Transport>>();
  readonly #agents = new Set<Agent>();

  /** Idle connections live for `keepMs` milliseconds. */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
    keepSpares(() => this.#closeIdle());
  }

  /** Loaded when it is first needed: who makes no such request does not wait for it. `protocol` is that of a URL. */
  transport(protocol: string): Promise<Transport> {
    const known = this.#transports.get(protocol);
    if (known !== undefined) return known;
    const loading = this.#load(protocol);
    this.#transports.set(protocol, loading);
    return loading;
  }

  async #load(protocol: string): Promise<Transport> {
    const { Agent, request } = protocol === 'https:' ? await import('node:https') : await import('node:http');
    const agent = new Agent({ keepAlive: true, timeout: this.#keepMs });
    this.#agents.add(agent);
    return { request, agent };
  }

  #closeIdle(): void {
    for (const { freeSockets } of this.#agents)
      for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
