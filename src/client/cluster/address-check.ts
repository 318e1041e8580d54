// Whether nodes reach each other at their addresses, looked at once after this one has joined: a wrong address would else show only when a call needs it.
import type { Clock, Timer } from '../../base/clock.js';
import { describeError, type Logger } from '../../base/log.js';
import { pause } from '../../base/pause.js';
import { type ClusterNode, type Coordinator, LEASE_MS } from '../../cluster/coordinator.js';
import { askNode, isUnreached } from './requests.js';

/** This process listens by then, and the others know of it. */
const FIRST_MS = 2000;
/** Between two looks at whether the broker has told of the others, and between two tries: one that has just joined may not listen yet. */
const AGAIN_MS = 2000;
/** A node that is only busy answers within this. */
const ANSWER_MS = 2000;
const TRIES = 2;
const KNOWN_MS = 1500;
const LOOK_MS = 50;
/** What another node may take to ask this one. */
const REACH_MS = KNOWN_MS + TRIES * (ANSWER_MS + AGAIN_MS) + 1000;
/** Of the others, so many are asked. */
const MAX_ASKED = 3;
/** One that has died is listed no more by then. */
const GONE_MS = LEASE_MS + 2000;

export interface AddressCheckParts {
  /** Of this node. */
  readonly address: string;
  /** Undefined before this node is open. */
  coordinator(): Coordinator | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AddressCheck {
  readonly #parts: AddressCheckParts;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(parts: AddressCheckParts) {
    this.#parts = parts;
  }

  /** Once the broker has told of the others. */
  start(afterMs = FIRST_MS): void {
    this.#timer = this.#parts.clock.after(afterMs, () => {
      const coordinator = this.#parts.coordinator();
      if (coordinator?.isThere === true) void this.#check(coordinator);
      else this.start(AGAIN_MS);
    });
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  /** Why that node is not reached at its address; undefined where it is. Waits for one that has just joined. Never rejects. */
  async complaintOf(nodeId: string): Promise<string | undefined> {
    const { clock } = this.#parts;
    const coordinator = this.#parts.coordinator();
    if (coordinator === undefined) return undefined;
    const until = clock.now() + KNOWN_MS;
    while (!isListed(coordinator, nodeId) && clock.now() < until) await pause(clock, LOOK_MS);
    let complaint: string | undefined;
    const request = { type: 'who-has', callId: null, ask: { callIds: [] } } as const;
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (tries > 0) await pause(clock, AGAIN_MS);
      const asked = askNode(coordinator, nodeId, { request, timeoutMs: ANSWER_MS });
      complaint = await asked.then(() => undefined, toComplaint);
      if (complaint === undefined) break;
    }
    return complaint;
  }

  async #check(coordinator: Coordinator): Promise<void> {
    const { address, logger } = this.#parts;
    const others = coordinator.nodes().filter(({ nodeId }) => nodeId !== coordinator.nodeId);
    const told = await Promise.all(others.slice(0, MAX_ASKED).map((node) => this.#askOne(coordinator, node)));
    const answers = told.filter((because) => because !== undefined);
    // Where no other one can tell, it asks itself.
    const because =
      answers.length === 0
        ? await this.complaintOf(coordinator.nodeId)
        : answers.find((answer) => answer !== null);
    if (because == null || this.#isClosed) return;
    logger.warn(
      { code: 'CLUSTER_FAILED', address, because },
      'this server is not reached at its cluster.address: mend that, or what is between the servers. Calls go on, and may be lost where one server has to ask another',
    );
  }

  /** As `reach` answers; undefined for a node that cannot be asked, or knows no such message. */
  async #askOne(
    coordinator: Coordinator,
    { nodeId, address }: ClusterNode,
  ): Promise<string | null | undefined> {
    const { clock, logger } = this.#parts;
    const request = { type: 'reach', callId: null, ask: {} } as const;
    try {
      return (await askNode(coordinator, nodeId, { request, timeoutMs: REACH_MS })).because;
    } catch (error) {
      if (!isUnreached(error)) return undefined;
    }
    await pause(clock, GONE_MS);
    const because = isListed(coordinator, nodeId) ? await this.complaintOf(nodeId) : undefined;
    if (because !== undefined && isListed(coordinator, nodeId) && !this.#isClosed)
      logger.warn(
        { code: 'CLUSTER_FAILED', address, because },
        'another server is not reached at its cluster.address: mend that there, or what is between the servers. Calls go on, and may be lost where one server has to ask another',
      );
    return undefined;
  }
}

function isListed(coordinator: Coordinator, nodeId: string): boolean {
  return coordinator.nodes().some((node) => node.nodeId === nodeId);
}

/** Undefined for what a node has answered. */
function toComplaint(error: unknown): string | undefined {
  if (!isUnreached(error)) return undefined;
  const { message = 'It did not answer.' } = describeError(error);
  const { cause } = error as Error;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message;
}
