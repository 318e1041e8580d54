// What a session begins with, what it asks of its keeper, and what it leaves behind.
import type { CallDirection, HangUpState, LocalRecording, Recording } from '../contract/call-record.js';
import type { AgentlessAnswer, ChosenAgent } from './choice/call-choice.js';
import type { OutboundRequest, StreamAdmission } from './call-desk.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { CarrierTeardown } from './ending/carrier-teardown.js';
import type { CallLedger } from './facts/call-ledger.js';
import type { LeftCall } from './resume/call-state.js';
import type { CallStates } from './resume/call-states.js';
import type { Preparations } from './voice/preparations.js';
import type { PreparedCall } from './voice/prepared-call.js';

/** How a session begins. */
export interface SessionSeed {
  /** What is known of the call. */
  readonly admission: StreamAdmission;
  /** True when a stream is all that is known of it: without one there is no call. */
  readonly byStream: boolean;
  /** Public host that a webhook of the call came to. */
  readonly host: string | undefined;
  /** As in `WaitingCall`. */
  readonly streamHost?: string | undefined;
  readonly outbound: OutboundRequest | undefined;
  /** The agent that the application has chosen; undefined for the server's own. */
  readonly chosen?: ChosenAgent | undefined;
  /** How it is answered in the place of an agent. */
  readonly agentless?: AgentlessAnswer | undefined;
  /** What is ready for it already. */
  readonly prepared?: PreparedCall | undefined;
  /** In which its facts are stated, where another process has invited it. @default the first */
  readonly term?: number | undefined;
  /** Set where another process has had it. */
  readonly resumed?: ResumedSeed | undefined;
}

/** How a session goes on with a call. */
export interface ResumedSeed extends LeftCall {
  /** Of the agent that the caller talked to. */
  readonly recipe: EngineRecipe;
  /** What the agent says first. */
  readonly message: string;
}

/** Takes the facts that may come after the end of a call. */
export interface LateLedger {
  readonly isChargeKnown: boolean;
  /** How the hang-up stands; null where none was asked for. */
  readonly hangUp: HangUpState | null;
  recorded(recording: Recording): void;
  recordedLocally(recording: LocalRecording): void;
  charged(costUsd: number): void;
  note(code: string, message: string): void;
  hungUp(state: HangUpState): void;
  /** As `FactStamp.raise`. */
  raiseTerm(term: number): void;
  /** The call was deleted: states nothing more. Idempotent. */
  close(): void;
}

/** What is left of a call that is over. */
export interface CallRemains {
  readonly callId: string;
  readonly carrierCallId: string | null;
  readonly direction: CallDirection;
  readonly ledger: LateLedger;
  /** What is still asked of the carrier; undefined when there is nothing to ask. */
  readonly teardown: CarrierTeardown | undefined;
  /** Tells the teardown of a call that was called off while it was dialed which one it is. */
  adopt?(carrierCallId: string): void;
}

/** Who keeps the sessions. */
export interface SessionOwner {
  readonly preparations: Preparations;
  /** Undefined where no call is kept for another process. */
  readonly states: Pick<CallStates, 'changed' | 'written'> | undefined;
  /** Books the carrier's id for the session. False when another live call has it. */
  claim(carrierCallId: string): boolean;
  /** The call ends now, and another process may have it: nothing more is stated of it before that is known. */
  stateLater(ledger: CallLedger): void;
  /** The session is over. */
  ended(remains: CallRemains): void;
  /** The carrier's id of a call that is over became known. */
  identified(callId: string, carrierCallId: string): void;
}
