// What all calls of a server have in common, and what a session may ask of its keeper.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { Carrier } from '../carriers/carrier.js';
import type { CallDirection } from '../contract/call-record.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { EventBus } from '../events/bus.js';
import type { TranscoderBackend } from '../transcoder/backend.js';
import type { CallLedger } from './call-ledger.js';
import type { Farewell } from './farewell.js';

/** What `CallDirectory` is made of. */
export interface CallEnvironment {
  readonly carrier: Carrier;
  readonly backend: TranscoderBackend;
  /** Makes the engine of every call that brings no recipe of its own. */
  readonly recipe: EngineRecipe;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
  /** A call is ended this long after its first stream came up. */
  readonly maxCallMs: number;
  /**
   * Host under which the carrier reaches this server, with a port if it has one; undefined when only a webhook can tell. Calls
   * that ring bring it themselves, outbound calls need it.
   */
  publicHost(): string | undefined;
  /** E.164: shown to the number that a caller is handed over to, when the call itself does not name ours. */
  readonly ownNumber: string;
  /** BCP 47 tag of the agent's language, for texts that the carrier's own voice speaks. */
  readonly language: string | undefined;
  /** Records every call, where the carrier can. */
  readonly recording: boolean;
}

/** What is left of a call that is over. */
export interface CallRemains {
  readonly callId: string;
  readonly carrierCallId: string | null;
  readonly direction: CallDirection;
  /** Takes the facts that come later. */
  readonly ledger: CallLedger;
  /** What is still asked of the carrier; undefined when there is nothing to ask. */
  readonly farewell: Farewell | undefined;
}

/** Who keeps the sessions. */
export interface SessionOwner {
  /** Books the carrier's id for the session. False when another live call has it. */
  claim(carrierCallId: string): boolean;
  /** The session is over. */
  ended(remains: CallRemains): void;
  /** The carrier's id of a call that is over became known. */
  identified(callId: string, carrierCallId: string): void;
}
