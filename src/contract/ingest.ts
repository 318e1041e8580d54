// What servers and the standalone dashboard say to each other. Any number of servers feed one dashboard.
import type { CallEvent } from './call-event.js';

/** A fact on its way. */
export type IngestEvent = CallEvent & {
  /** `seq` of the call's fact before this one: what lies between the two is not needed. @default seq - 1 */
  after?: number;
};

/** Asks what the dashboard has of a call. */
export interface IngestQuestion {
  callId: string;
  /** The process that owns or owned the call. */
  nodeId: string;
  /** When it ended, epoch milliseconds; null while it is up. */
  endedAt: number | null;
}

/** Body of `POST /api/dashboard/ingest`. An empty one is a sign of life. */
export interface IngestBatch {
  /** The process that sends, new with each start. Its calls count as up for as long as it is heard from. */
  nodeId: string;
  /** At most 500. */
  calls: IngestQuestion[];
  /** In order for each call. At most 5000. */
  events: IngestEvent[];
}

/**
 * Why a fact was not taken. `gap`: facts before it are missing here, send them first. The others will never be taken: `invalid` is no
 * fact, `unknown-type` comes from a newer version, `no-call` says nothing of who talks to whom and its call is not here, for `limit` the
 * sender has too much here that is active.
 */
export type IngestRefusalReason = 'gap' | 'invalid' | 'unknown-type' | 'no-call' | 'limit';

export interface IngestRefusal {
  /** Place in `events` of the batch. */
  index: number;
  reason: IngestRefusalReason;
  /** What is wrong with an invalid fact: names of fields, never a value. */
  message?: string;
}

/** How far the dashboard is with a call. */
export interface IngestPosition {
  callId: string;
  nodeId: string;
  /** Everything up to this fact is here; 0 of an unknown call. */
  seq: number;
  /** True when the end of the call is among it. */
  ended: boolean;
  /** False for a call that ended before everything that the history still holds: nothing of it need be sent. */
  wanted: boolean;
}

/** Answer to a batch. Facts that are neither refused nor known already are taken. */
export interface IngestAnswer {
  /** New with each start of the dashboard: what an earlier one said of its calls holds no longer. */
  dashboardId: string;
  accepted: number;
  /** Known already. */
  duplicates: number;
  refused: IngestRefusal[];
  /** One for each call that the batch names. */
  calls: IngestPosition[];
}
