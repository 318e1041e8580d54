// What may be asked of the process that owns a call.
import type { HangUpState } from './call-record.js';

/** Commands on live calls. Each rejects with NotFoundError for a call that never was, RequestError for one that is over or elsewhere. */
export interface CallControls {
  /**
   * Ends the call. `callId` may be the carrier's id. Resolves once the carrier was asked, with how the hang-up stands. One that is
   * pending may be asked for again, and is tried at once.
   */
  hangUp(callId: string): Promise<HangUpState>;
  /**
   * Hands the caller over to an E.164 number. Resolves when the carrier has taken the order; the record's `transfer` tells the
   * result, and a caller whose transfer failed comes back to the agent.
   */
  transfer(callId: string, to: string): Promise<void>;
  /**
   * Plays keys (`0-9 A-D # *`, `w` half a second, `W` one second of silence) to the other side; at most 32. The transcript shows them.
   * Resolves when the carrier has taken them.
   */
  sendDigits(callId: string, digits: string): Promise<void>;
}
