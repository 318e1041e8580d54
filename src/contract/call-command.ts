// What may be asked of the process that owns a call.

/** Commands on live calls. Each rejects with NotFoundError for a call that never was, RequestError for one that is over or elsewhere. */
export interface CallControls {
  /** Ends the call. `callId` may be the carrier's id. */
  hangUp(callId: string): Promise<void>;
  /** Hands the caller over to an E.164 number and ends the agent's part. */
  transfer(callId: string, to: string): Promise<void>;
}
