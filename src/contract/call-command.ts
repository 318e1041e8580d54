// What may be asked of the process that owns a call.
import type { HangUpState } from './call-record.js';

/** How the agent is to say something. */
export interface SayOptions {
  /** Cuts off what the agent says now, and comes before an answer that it is about to give. @default false: it comes after both */
  readonly interrupt?: boolean | undefined;
  /** Whether the caller can interrupt it. @default as the agent is made */
  readonly interruptible?: boolean | undefined;
}

/**
 * What became of words that the agent was to say. `heard`: all of them were. `interrupted`: the caller, a hold or another text cut them
 * off. `call-ended`: the call was over before. `moved`: another process has the call now, and says them.
 */
export type SayOutcome = 'heard' | 'interrupted' | 'call-ended' | 'moved';

/** Whether the carrier deleted its recording. */
export type CarrierRecordingOutcome = 'deleted' | 'failed';

/** What became of a call that was deleted here. */
export interface ForgetOutcome {
  /** What became of its recording at the carrier. `failed`: it may still be there, and has to be deleted there. Null if there was none. */
  readonly carrierRecording: CarrierRecordingOutcome | null;
  /** If that failed: the carrier's ID of the call, to find it by. Null otherwise. */
  readonly carrierCallId: string | null;
}

/** Commands on live calls. Each rejects with NotFoundError for an unknown call, and with RequestError for one that is over or belongs to another process. */
export interface CallControls {
  /**
   * Ends the call. `callId` may be the carrier's id. Resolves with the state of the hang-up once the carrier was
   * asked. Calling it again while the state is `pending` tries again at once.
   */
  hangUp(callId: string): Promise<HangUpState>;
  /**
   * Hands the caller over to an E.164 number. Resolves when the carrier has accepted; the record's `transfer` has the
   * result. A caller whose transfer fails comes back to the agent.
   */
  transfer(callId: string, to: string): Promise<void>;
  /**
   * Plays keys (`0-9 A-D # *`, `w` half a second, `W` one second of silence) to the other side; at most 32. The transcript shows them.
   * Resolves when the carrier has accepted them.
   */
  sendDigits(callId: string, digits: string): Promise<void>;
  /** Has the agent say `text`, words without markup. Resolves when they were heard, or are not to be heard any more. */
  say(callId: string, text: string, options: SayOptions): Promise<SayOutcome>;
  /** Tells the model of the agent what nobody hears. Resolves when the next answer knows it. */
  inform(callId: string, text: string): Promise<void>;
  /** Deletes a call that is over, here and wherever it is shown. Resolves when nothing of it is kept any more. */
  forget?(callId: string): Promise<ForgetOutcome>;
  /** Records nothing of the call on this machine until `resumeRecording`, and gives nothing of it to whoever listens in. Where nothing is recorded of this call any more, nothing happens. */
  pauseRecording(callId: string): Promise<void>;
  /** Goes on with the recording. A pause of a tool, or for keys, lasts as long as it would. */
  resumeRecording(callId: string): Promise<void>;
}
