// Finds another node for a call that rings here and has no place here: asks who takes calls, and has one of them take a place for it.
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import type { FoundRoom } from '../../server/incoming-calls.js';
import { askNode, askStandings, type NodeStanding } from './requests.js';

/** How long a webhook waits for that in all, in milliseconds. */
const FIND_MS = 300;
const STANDING_MS = 100;
/** What nodes have said of themselves holds for so long: while calls crowd in, each of them is asked once a second. */
const KNOWN_MS = 1000;
/** Nodes that are asked for a place for one call. */
const MAX_ASKED = 3;

export interface RoomFinderParts {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A node that takes calls, as far as it is known here. */
interface Candidate {
  readonly nodeId: string;
  readonly streamHost: string | null;
  /** Those that were sent there since it has said how many it has are among them. */
  calls: number;
}

export class RoomFinder {
  readonly #parts: RoomFinderParts;
  /** Those that take calls, and when they were asked, on the clock. */
  #known: { readonly at: number; readonly candidates: Promise<Set<Candidate>> } | undefined;

  constructor(parts: RoomFinderParts) {
    this.#parts = parts;
  }

  /** Undefined where every node is full. What the chosen one answers decides, so that no two send more there than it takes. Never rejects. */
  async find(callId: string): Promise<FoundRoom | undefined> {
    const { coordinator, clock, logger } = this.#parts;
    const until = clock.now() + FIND_MS;
    const candidates = await this.#candidates();
    for (const candidate of [...candidates].toSorted(compare).slice(0, MAX_ASKED)) {
      const timeoutMs = until - clock.now();
      if (timeoutMs <= 0) break;
      const { nodeId, streamHost } = candidate;
      candidate.calls += 1;
      const request = { type: 'take-call', callId, ask: {} } as const;
      const asked = askNode(coordinator, nodeId, { request, timeoutMs });
      const isTaken = await asked.then(
        (answer) => answer.isTaken,
        () => false,
      );
      if (!isTaken) {
        candidates.delete(candidate);
        continue;
      }
      logger.info({ callId, at: nodeId }, 'no room here: another node takes the call');
      return { streamHost: streamHost ?? undefined };
    }
    return undefined;
  }

  #candidates(): Promise<Set<Candidate>> {
    const { coordinator, clock } = this.#parts;
    if (this.#known === undefined || clock.now() - this.#known.at >= KNOWN_MS) {
      const candidates = askStandings(coordinator, STANDING_MS).then(toCandidates);
      this.#known = { at: clock.now(), candidates };
    }
    return this.#known.candidates;
  }
}

function toCandidates(standings: readonly ({ nodeId: string } & NodeStanding)[]): Set<Candidate> {
  const taking = standings.filter(({ want }) => want === null);
  return new Set(taking.map(({ nodeId, streamHost, calls }) => ({ nodeId, streamHost, calls })));
}

/** Those that can be named to the carrier come first, then those with fewer calls. */
function compare(one: Candidate, other: Candidate): number {
  const byHost = Number(one.streamHost === null) - Number(other.streamHost === null);
  return byHost || one.calls - other.calls;
}
