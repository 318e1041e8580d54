// What calls ask of whoever keeps their recordings on this machine.
import type { LineTape } from '../../audio/line-tape.js';
import type { LocalRecording, RecordingPauser } from '../../contract/call-record.js';

/** The recording of a call that is up. Times are milliseconds since the conversation began. */
export interface LiveCallRecording {
  /** Takes what the line carries; undefined where nothing is recorded any more. */
  readonly tape: LineTape | undefined;
  isPausedBy(by: RecordingPauser): boolean;
  /** Nothing is recorded from `atMs` on, which may be a moment ago. */
  pause(by: RecordingPauser, atMs: number): void;
  /** Goes on, unless somebody else has paused it, too. */
  resume(by: RecordingPauser, atMs: number): void;
}

/** A call as its recording begins. */
export interface BegunCall {
  readonly callId: string;
  /** Epoch milliseconds at which the conversation began. */
  readonly beganAt: number;
  /** What another process has recorded of it. */
  readonly before: LocalRecording | null;
  /** The record is to say this. */
  tell(recording: LocalRecording): void;
}

/** Who keeps the recordings of all calls. No method throws. */
export interface CallRecordings {
  /** Keys that the caller presses are a secret. */
  readonly pausesForKeys: boolean;
  begin(call: BegunCall, nowMs: number): LiveCallRecording;
  /** The call is over, and nothing of it was recorded here: what another process has recorded is all. */
  endLeft(call: BegunCall): void;
  /** The call is over. */
  end(live: LiveCallRecording, nowMs: number): void;
  /** Another process has it. */
  leave(live: LiveCallRecording, nowMs: number): void;
}
