// The time axis of a call: what its second 0 is, what is being said at a moment, and where nothing was recorded. Pure: no browser, no clock.
import type { CallRecord, RecordingPause, TranscriptEntry } from '../../../contract/call-record.js';

/** A record may be older than its recording. */
type Timed = Pick<CallRecord, 'startedAt' | 'answeredAt' | 'endedAt'> &
  Partial<Pick<CallRecord, 'localRecording' | 'envelope'>>;

export interface Axis {
  /** Second 0, epoch milliseconds: that of the recording where there is one. */
  zero: number;
  lengthMs: number;
}

/** `shapeMs`: length of the envelope. */
export function axisOf(record: Timed, shapeMs = 0): Axis {
  const { startedAt, answeredAt, localRecording, envelope } = record;
  const isRecorded = localRecording?.status === 'completed';
  const zero = (isRecorded ? localRecording.startedAt : envelope?.startedAt) ?? answeredAt ?? startedAt;
  const shapeEnd = envelope == null ? 0 : envelope.startedAt - zero + shapeMs;
  return { zero, lengthMs: Math.max(isRecorded ? (localRecording.durationMs ?? 0) : 0, shapeEnd) };
}

/** The entry that is being said, or was said last. */
export function entryAt(entries: readonly TranscriptEntry[], at: number): TranscriptEntry | null {
  let last: TranscriptEntry | null = null;
  for (const entry of entries) if (entry.at <= at && (last === null || entry.at >= last.at)) last = entry;
  return last;
}

/** The pause that `at` is in, epoch milliseconds. One without an end lasted until that of the call. */
export function pauseAt(pauses: readonly RecordingPause[], at: number): RecordingPause | null {
  return (
    pauses.find(({ startedAt, endedAt }) => startedAt <= at && at < (endedAt ?? Number.POSITIVE_INFINITY)) ??
    null
  );
}
