// Bodies of the dashboard's REST and SSE interface.
import type { CallRecord, CarrierId, HangUpState } from './call-record.js';

/** A record without transcript, turns and envelope, as lists show it. */
export type CallSummary = Omit<CallRecord, 'turns' | 'transcript' | 'envelope'>;

/** Body of `GET /api/dashboard/calls`, newest first. */
export interface CallsPage {
  calls: CallSummary[];
  /** Give it back as `cursor` for the next page; null on the last one. */
  nextCursor: string | null;
  /** Calls that match, over all pages. */
  total: number;
}

/** Body of `GET /api/dashboard/active`. */
export interface ActiveCalls {
  calls: CallRecord[];
}

/** Counters over what the ring holds and the active calls. Averages are over the calls that have a value. */
export interface Aggregates {
  /** Completed and active. */
  totalCalls: number;
  activeCalls: number;
  completedCalls: number;
  totalCost: number;
  costBreakdown: { stt: number; llm: number; tts: number; telephony: number };
  avgDurationMs: number | null;
  avgLatencyMs: number | null;
  /** Percentiles are over the answered turns of all these calls. */
  p95LatencyMs: number | null;
  p99LatencyMs: number | null;
}

/** Where the calls of a server come in. */
export interface CallEntry {
  carrier: CarrierId;
  /** The voice URL that the carrier is to be given; null while no public host is known. */
  voiceUrl: string | null;
  /** True when webhooks are taken from who signs them alone. */
  isSigned: boolean;
}

/** First event of the SSE stream. */
export interface Snapshot {
  active: CallRecord[];
  /** The newest 50 ended calls. */
  recent: CallSummary[];
  aggregates: Aggregates;
  /** True when this process owns calls and takes commands for them. */
  controls: boolean;
  /** True for a browser whose session can be ended, with `DELETE /dashboard`. */
  isSignedIn: boolean;
  /** Null when this process takes no calls itself. */
  entry: CallEntry | null;
}

/** Answer to a hang-up. */
export interface HangUpAccepted {
  callId: string;
  /** How it stands at the carrier, once that was asked. */
  hangUp: HangUpState;
}

/** Body of every error answer. */
export interface ErrorBody {
  error: { code: string; message: string };
}
