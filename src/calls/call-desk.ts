// What the doors may ask of the live calls. The directory implements it; the server knows only this.
import type { CallControls } from '../contract/call-command.js';
import type { CallDirection, CallOutcome, CallStatus } from '../contract/call-record.js';

/** The media socket of a call, as a session needs it. */
export interface StreamSocket {
  send(text: string): void;
  /** Starts the closing handshake. `reason` is shown to the other side. */
  close(code: number, reason: string): void;
  /** Bytes handed over and not yet taken by the network. */
  readonly bufferedBytes: number;
}

/** Where the server puts what arrives on a socket. No method throws. */
export interface StreamReceiver {
  receiveText(text: string): void;
  /** Something that is no text message: binary, oversized, invalid. Counted. `reason` is a static sentence. */
  receiveUnexpected(reason: string): void;
  socketClosed(code: number): void;
}

/** What is known of a call when its stream is accepted. Null where only the start message can tell. */
export interface StreamAdmission {
  callId: string;
  carrierCallId: string | null;
  caller: string | null;
  callee: string | null;
  direction: CallDirection | null;
}

/** A call that was turned away at the bell. */
export interface RefusedCall {
  callId: string;
  carrierCallId: string;
  caller: string;
  callee: string;
  direction: CallDirection;
}

export interface CallDesk extends CallControls {
  /** Calls with a session. */
  readonly liveCount: number;
  /** True for a call with a session, by our id or the carrier's. */
  isLive(callId: string): boolean;
  /** True for a call that ended lately (at least the last hour), by our id or the carrier's. */
  hasEnded(callId: string): boolean;
  /** Starts a session on an accepted socket. @throws RequestError REQUEST_CONFLICT when the call is live already. */
  admit(admission: StreamAdmission, socket: StreamSocket): StreamReceiver;
  /** Records a call that got the busy answer. */
  refuse(call: RefusedCall): void;
  /** A carrier's report on a call; unknown calls and reports out of order change nothing. */
  report(carrierCallId: string, status: CallStatus, outcome: CallOutcome | null): void;
  /** Ends every call and hangs up through the carrier. Resolves when the carrier has answered for each, or after `timeoutMs`. */
  shutDown(timeoutMs: number): Promise<void>;
}
