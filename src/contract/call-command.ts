// What may be asked of the process that owns a call.
import type { HangUpState } from './call-record.js';

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
}
