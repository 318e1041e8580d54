// What servers and the standalone dashboard say to each other. Any number of servers feed one dashboard.
import type { CallEvent } from './call-event.js';

/** A fact on its way to a dashboard. */
export type IngestEvent = CallEvent & {
  /** `seq` of the previous fact of the call that the dashboard needs; those between the two are left out. @default seq - 1 */
  after?: number;
  /** The term of that fact. @default that of this fact */
  afterTerm?: number;
};

/** Asks how much of a call the dashboard has. */
export interface IngestQuestion {
  callId: string;
  /** The process that the call began in. */
  nodeId: string;
  /** When it ended, epoch milliseconds; null while it is up. */
  endedAt: number | null;
}

/** Body of `POST /api/dashboard/ingest`. Without facts and questions it only says that the sender is alive. */
export interface IngestBatch {
  /** The sending process; a new ID at each start. Its calls count as up while it keeps sending. */
  nodeId: string;
  /** At most 500. */
  calls: IngestQuestion[];
  /** At most 5000, those of one call in order. */
  events: IngestEvent[];
}

/**
 * Why a fact was refused. `gap`: earlier facts are missing; send them first. The other reasons are final. `invalid`: it is not a fact.
 * `unknown-type`: a newer version sent it. `no-call`: the call is unknown, and the fact does not say who is talking. `limit`: the sender
 * has too many active calls.
 */
export type IngestRefusalReason = 'gap' | 'invalid' | 'unknown-type' | 'no-call' | 'limit';

export interface IngestRefusal {
  /** Index in `events` of the batch. */
  index: number;
  reason: IngestRefusalReason;
  /** The names of invalid fields, never their values. */
  message?: string;
}

/** How much of a call the dashboard has. */
export interface IngestPosition {
  callId: string;
  /** The process that the call began in. */
  nodeId: string;
  /** The term of the last fact that the dashboard has. A higher one than the sender's: another process has taken the call over. */
  term: number;
  /** The dashboard has every fact up to this `seq` of that term; 0 for an unknown call. */
  seq: number;
  /** True if that includes the end of the call. */
  ended: boolean;
  /** False if the call is older than the whole history: send nothing of it. */
  wanted: boolean;
}

/** Answer to a batch. A fact that is neither refused nor known was accepted. */
export interface IngestAnswer {
  /** A new ID at each start of the dashboard. After a change, earlier answers no longer hold. */
  dashboardId: string;
  accepted: number;
  /** Number of facts that were known already. */
  duplicates: number;
  refused: IngestRefusal[];
  /** One entry for each call in the batch. */
  calls: IngestPosition[];
}
