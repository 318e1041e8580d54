// Bodies of the dashboard's REST and SSE interface.
import type { CallRecord, CarrierId, HangUpState } from './call-record.js';

/** A record without transcript, turns and waveform, as lists show it. */
export type CallSummary = Omit<CallRecord, 'turns' | 'transcript' | 'envelope'>;

/** Body of `GET /api/dashboard/calls`, newest first. */
export interface CallsPage {
  calls: CallSummary[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  nextCursor: string | null;
  /** Number of matching calls on all pages. */
  total: number;
}

/** Body of `GET /api/dashboard/active`. */
export interface ActiveCalls {
  calls: CallRecord[];
}

/** Totals over the stored and the active calls. Averages leave out calls without a value. */
export interface Aggregates {
  /** Completed and active calls. */
  totalCalls: number;
  activeCalls: number;
  completedCalls: number;
  totalCost: number;
  costBreakdown: { stt: number; llm: number; tts: number; telephony: number };
  avgDurationMs: number | null;
  avgLatencyMs: number | null;
  /** Percentiles of the answered turns of all these calls. */
  p95LatencyMs: number | null;
  p99LatencyMs: number | null;
}

/** Where the calls of a server come in. */
export interface CallEntry {
  carrier: CarrierId;
  /** The voice URL to enter at the carrier; null while no public host is known. */
  voiceUrl: string | null;
  /** True if unsigned webhooks are refused. */
  isSigned: boolean;
}

/** First event of the SSE stream. */
export interface Snapshot {
  active: CallRecord[];
  /** The newest 50 ended calls. */
  recent: CallSummary[];
  aggregates: Aggregates;
  /** True if this process owns calls and accepts commands for them. */
  controls: boolean;
  /** True if the browser has a session, which `DELETE /dashboard` ends. */
  isSignedIn: boolean;
  /** Null if this process does not take calls itself. */
  entry: CallEntry | null;
  /** True if live calls can be listened in to. */
  canListen: boolean;
}

/** Answer to a hang-up. */
export interface HangUpAccepted {
  callId: string;
  /** State at the carrier, once it was asked. */
  hangUp: HangUpState;
}

/** Body of every error answer. */
export interface ErrorBody {
  error: { code: string; message: string };
}
