// What all calls of a server have in common.
import type { Clock, SharedTime } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import type { Carrier } from '../carriers/carrier.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { CallEvents } from '../contract/call-event.js';
import type { EventBus } from '../events/bus.js';
import type { TranscoderBackend } from '../transcoder/backend.js';
import type { WaitingCall } from './call-desk.js';
import type { ChooseCall, ChosenAgent } from './choice/call-choice.js';
import type { BudgetLimits } from './money/budget.js';
import type { PrivacyPolicy } from './privacy/private-facts.js';
import type { Pricing } from './money/pricing.js';
import type { CallRecordings } from './recording/call-recordings.js';
import type { SharedPlaces } from './shared-places.js';

/** Who else may have a call. */
export interface OtherProcesses {
  /** In which this process has told them that it has the call; undefined for one of which it has not. */
  claimedTerm(callId: string): number | undefined;
  /** True while another process may have taken a call, and this one not have heard it. */
  mayHaveTaken(): boolean;
  /** Resolves once it is known whether another process has the call, as far as that can be known: it is let go by then where one has. Never rejects. */
  asked(callId: string): Promise<void>;
  /** Whether another process has a call that this one has ended in `term`, once that is known, as far as it can be. Never rejects. */
  haveTaken(callId: string, term: number): Promise<boolean>;
}

/** What `CallDirectory` is made of. */
export interface CallEnvironment {
  readonly carrier: Carrier;
  readonly backend: TranscoderBackend;
  /** Makes the engine of every call that brings no recipe of its own. Another one from one call to the next, where the application changes its agent. */
  readonly recipe: EngineRecipe;
  /** The recipe of an agent by its name, for a call that another process has given to it; undefined for one that is not known here. */
  readonly recipeNamed?: ((agent: string) => EngineRecipe | undefined) | undefined;
  /** The agent that takes an inbound call without a decision; undefined for a call that `choose` decides on. @default none */
  readonly agentOf?: ((call: WaitingCall) => ChosenAgent | undefined) | undefined;
  /** Decides on inbound calls. @default `recipe` answers every one */
  readonly choose?: ChooseCall | undefined;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** Of the processes that have calls together. @default the clock's */
  readonly sharedTime?: (() => SharedTime | undefined) | undefined;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly nodeId: string;
  /** Tells what happens in calls that other processes have. @default there are none */
  readonly elsewhere?: CallEvents | undefined;
  /** Another process has the call from now on, and this one states nothing more of it. */
  left?(callId: string): void;
  /** Processes that may take calls of this one without its knowledge. @default there are none */
  readonly others?: OtherProcesses | undefined;
  /** To be asked before anything is done for a stream: a process that stood still lets its calls go in it, because others may have them. @default nobody else can */
  readonly noticeStall?: (() => void) | undefined;
  /** A call is ended this long after its first stream came up. */
  readonly maxCallMs: number;
  /**
   * Host under which the carrier reaches this server, with a port if it has one; undefined when only a webhook can tell. Calls
   * that ring bring it themselves, outbound calls need it.
   */
  publicHost(): string | undefined;
  /** E.164: shown to the number that a caller is handed over to, when the call itself does not name ours. */
  readonly ownNumber: string;
  /** True while records outlive this process, so that the next one finds what is pending in them. */
  isRecordKept(): boolean;
  /** What things cost. */
  readonly pricing: Pricing;
  /** How much calls may cost; undefined for no limit. */
  readonly budget?: BudgetLimits | undefined;
  /** Calls at a time; undefined for no limit. */
  readonly maxCalls?: number | undefined;
  /** Their places, where processes share them. @default this one is alone */
  readonly sharedPlaces?: (() => SharedPlaces | undefined) | undefined;
  /** Whether the process keeps up with its calls. */
  readonly load: { readonly isOverloaded: boolean };
  /** How long a carrier that takes instructions in replies waits after a lost stream before it asks what comes next. */
  readonly resumeHoldSeconds: number;
  /** What of each call is told and kept. @default everything */
  readonly privacy?: PrivacyPolicy | undefined;
  /** Records every call, where the carrier can. */
  readonly recording: boolean;
  /** Records every call on this machine; undefined where none is. Asked when a conversation begins. @default none */
  readonly localRecordings?: (() => CallRecordings | undefined) | undefined;
  /** Calls can be listened in to. `pausesForKeys`: keys that callers press are a secret. @default they cannot */
  readonly listenIn?: { readonly pausesForKeys: boolean } | undefined;
}
