// What a leg is made from, how it ends, and what a test sees of it.
import type { PreparedStep } from '../caller-script.js';
import type { SimulatedLeg } from '../simulator.js';
import type { StreamEnd } from '../stream-end.js';
import type { CallEnd } from './events.js';
import type { LossReport } from './leg-streams.js';
import type { Delivery } from './webhook-sender.js';

export interface LegSettings {
  direction: 'inbound' | 'outbound';
  from: string;
  to: string;
  /** That of the leg it belongs to. @default a new one */
  callSessionId?: string;
  clientState?: string | undefined;
  /** Where its events go, in place of the application's URL. */
  webhookUrl?: string | undefined;
  /** The carrier ends the leg this long after the answer. */
  timeLimitMs?: number;
}

/** Who is on a leg. */
export interface Person {
  steps: readonly PreparedStep[];
  /** A machine begins when it answers, a person when the stream is there. */
  startsWith: 'answer' | 'stream';
}

/** How a leg ends: for the report, beside what the carrier says. */
export interface LegEnd extends CallEnd {
  by: StreamEnd['by'];
  how: StreamEnd['how'];
  abrupt?: boolean;
}

/** A call leg of carrier B, for assertions and for what happens on demand. */
export interface CarrierBLeg extends SimulatedLeg {
  readonly callLegId: string;
  readonly callSessionId: string;
  readonly from: string;
  readonly to: string;
  readonly clientState: string | null;
  readonly isAnswered: boolean;
  /** The leg that it is connected with. */
  readonly bridgedWith: CarrierBLeg | undefined;
  /** Cause of its end; null while it is up. */
  readonly hangupCause: string | null;
  /** The person hangs up now, also while it rings. */
  hangUp(): void;
  /** The person presses a key now. */
  press(digit: string): void;
  /** Cuts the media connection; the call stays up. @default 'failed' */
  dropStream(report?: LossReport): void;
  /** Sends any event of the leg. */
  emit(type: string, payload: Readonly<Record<string, unknown>>): Promise<Delivery>;
}
