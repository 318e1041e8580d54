// What every call of the simulated carrier shares.
import type { Clock } from '../../base/clock.js';
import type { RawMessage } from './stream.js';
import type { WebhookSender } from './webhook-sender.js';

/** Messages that no carrier should send, made for one stream. */
export type StreamNoise = (stream: { streamSid: string; callSid: string; accountSid: string }) => {
  beforeStart: readonly RawMessage[];
  afterStart: readonly RawMessage[];
};

export interface Switchboard {
  readonly clock: Clock;
  readonly accountSid: string;
  readonly webhooks: WebhookSender;
  /** Origin of the REST API; part of recording URLs. */
  readonly apiUrl: string;
  readonly streamNoise: StreamNoise | undefined;
  /** Epoch milliseconds on the carrier's clock. */
  wallNow(): number;
}
