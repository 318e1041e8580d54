// The contract of a carrier simulator: a carrier's whole side of the wire on loopback, for one phone server.
import type { Clock } from '../base/clock.js';
import type { SimulatedCarrier } from '../contract/call-record.js';
import type { CallerStep, OpenVoice } from './caller-script.js';
import type { LineConditions } from './line-conditions.js';
import type { CallReport } from './report.js';

/** What a simulated carrier does wrong, or differently, on demand. Everything is off by default. */
export interface Disturbances {
  /** Each webhook is delivered this many times more, with the same delivery id. */
  duplicates?: number;
  /** Webhooks of one call that do not want an answer leave in a random order. A number seeds the order. */
  shuffle?: number;
  /** Seconds that the carrier's clock is ahead of the real one; negative is behind. */
  clockSkewSeconds?: number;
  /** The first requests to the REST API with this purpose fail with this HTTP status; 0 cuts the connection unanswered. */
  restFailures?: { purpose: RestPurpose; status: number; times: number }[];
  /** Requests to the REST API with this purpose are carried out, and their answer is lost. */
  lostAnswers?: RestPurpose[];
  /** Every answer of the REST API is held back for this time, in milliseconds. */
  restDelayMs?: number;
  /** The carrier takes this long to open a media stream that it was told to open, in milliseconds. */
  streamDelayMs?: number;
  /** Pause between two attempts to deliver a webhook, in milliseconds. @default 0: all within one moment */
  retryPauseMs?: number;
}

/** What a request to a carrier's REST API is for. */
export type RestPurpose =
  | 'dial'
  | 'answer'
  | 'reject'
  | 'start-stream'
  | 'stop-stream'
  | 'hang-up'
  | 'transfer'
  | 'send-digits'
  | 'speak'
  | 'record'
  | 'look-up'
  | 'number';

/** Who is called by an outbound call, or by a transfer, and what happens. */
export type Callee =
  /** Answers after `ringMs` (500) and talks by a script. Without one stays on the line and says nothing. */
  | { type: 'human'; ringMs?: number; script?: readonly CallerStep[] }
  /** A machine answers, plays its greeting (4000 ms), beeps (true), and records until `silenceMs` (5000) without sound. */
  | { type: 'machine'; ringMs?: number; greetingMs?: number; beep?: boolean; silenceMs?: number }
  | { type: 'fax'; ringMs?: number }
  | { type: 'busy' }
  /** Rings until the carrier gives up, or for `ringMs`. */
  | { type: 'no-answer'; ringMs?: number }
  | { type: 'unreachable' };

/** An inbound call to the phone server. */
export interface InboundCall {
  /** @default '+15005550020' */
  from?: string;
  /** @default '+15005550010' */
  to?: string;
  script: readonly CallerStep[];
  /** The caller hangs up after this time, 1,000 to 3,600,000. @default 120000 */
  maxDurationMs?: number;
  /** Path of a stereo WAV file to write: the person left, with what the line adds, the agent right as it was really played, 8 kHz. */
  recordTo?: string;
  /** What is wrong with the caller's line. @default nothing */
  line?: LineConditions;
  /** Whom a transfer of this call reaches. @default a human who answers and says nothing */
  transferTo?: Callee;
  signal?: AbortSignal;
}

/** One request of the phone server to the REST API, for assertions. */
export interface SeenRequest {
  readonly purpose: RestPurpose;
  readonly method: string;
  readonly path: string;
  /** Body fields; repeated form fields are a list. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly status: number;
}

/** One webhook that was delivered, for assertions. */
export interface SentWebhook {
  readonly path: string;
  readonly body: string;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
}

/** A call as the carrier saw it. */
export interface SimulatedLeg {
  readonly carrierCallId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly isOver: boolean;
  /** Text that was spoken with the carrier's own voice. */
  readonly spoken: readonly string[];
  /** Keys that were sent by command. */
  readonly sentDigits: readonly string[];
  readonly isRecorded: boolean;
  /** What the phone server did that the carrier would have refused or ignored. Empty when all was in order. */
  readonly violations: readonly string[];
  /** Reports of its streams so far, in order; the last one is complete when the leg is over. */
  readonly reports: readonly CallReport[];
  /** Breaks the connection of its media stream, as a network does; the leg stays up. */
  dropStream(): void;
}

export interface SimulatorOptions {
  /** Address of the phone server, for example `http://127.0.0.1:8000`. Its host is dialed, for webhooks and streams. */
  url: string;
  /** Public host of the phone server, as the carrier knows it; part of what is signed. @default the host of `url` */
  webhookHost?: string;
  /** Whom outbound calls reach, by number; the entry `*` is for all others. @default a human who answers and says nothing */
  callees?: Readonly<Record<string, Callee>>;
  disturbances?: Disturbances;
  /** Port of 127.0.0.1 for its REST API. @default a free one */
  port?: number;
  /** Speaks the `say` steps. @default the embedded voice */
  openVoice?: OpenVoice;
  clock?: Clock;
}

/** A carrier on loopback. */
export interface CarrierSimulator {
  readonly carrier: SimulatedCarrier;
  /** Origin of its REST API: the `baseUrl` of the carrier object under test. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  readonly webhooks: readonly SentWebhook[];
  readonly legs: readonly SimulatedLeg[];
  /** Calls the phone server and resolves with the report when the call is over, also when it is refused. */
  call(call: InboundCall): Promise<CallReport>;
  /** Changes what happens from now on. */
  disturb(disturbances: Disturbances): void;
  /** Resolves when no leg is up and every webhook has been delivered. */
  settled(): Promise<void>;
  /** Cuts every leg, closes the REST API. Idempotent. */
  close(): Promise<void>;
}
