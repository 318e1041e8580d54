// What all legs of one simulated carrier share.
import type { Clock } from '../../base/clock.js';
import type {
  ByteOrder,
  CarrierBDisturbances,
  DigitsRoute,
  MachineDetection,
  StreamCodecName,
} from './options.js';
import type { WebhookSender } from './webhook-sender.js';

/** The Call Control Application by its names on the wire. */
export interface Application {
  record_type: 'call_control_application';
  id: string;
  application_name: string;
  active: boolean;
  webhook_event_url: string;
  webhook_event_failover_url: string | null;
  webhook_api_version: '1' | '2';
  webhook_timeout_secs: number | null;
  first_command_timeout: boolean;
  first_command_timeout_secs: number;
  call_cost_in_webhooks: boolean;
  dtmf_type: string;
}

export interface Exchange {
  readonly clock: Clock;
  readonly userId: string;
  /** Origin of the server under test: what is dialed. */
  readonly target: URL;
  readonly sender: WebhookSender;
  readonly application: Application;
  readonly grant: readonly StreamCodecName[];
  readonly l16ByteOrder: ByteOrder;
  readonly l16SampleRateHz: number;
  readonly digits: DigitsRoute;
  readonly machineDetection: MachineDetection;
  readonly earlySocket: boolean;
  readonly secondStream: 'replaces' | 'refused';
  readonly bridgedLegs: 'both' | 'caller' | 'target';
  /** Its REST API: the origin once it listens, and how many requests came with another key. */
  readonly api: { url: string; strangers: number };
  readonly disturbances: CarrierBDisturbances;
  /** True once for each stream that shall go wrong in this way. */
  takeStreamFault(kind: 'failedStreams' | 'closedBeforeStart'): boolean;
}
