// The recording of a call, whole or in parts, as a player asks for it. Source: RFC 9110, section 14.
import { NotFoundError, RecordingError } from '../base/errors.js';
import type { CallRecord, LocalRecording } from '../contract/call-record.js';
import type { CallReader } from '../stores/call-store.js';

/** A recording that is being read. */
export interface PlayableRecording {
  /** In bytes. */
  readonly size: number;
  /** Bytes from `start` up to `end`. @throws what the file system throws, and for what is damaged */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Where recordings are kept. */
export interface RecordingSource {
  /** A finished one; to be closed. `file`: its name, and `server`: who has it, as its record has them. @throws RecordingError, ClusterError where that server is not reached */
  read(callId: string, file: string | null, server: string | undefined): Promise<PlayableRecording>;
}

export interface AudioAnswer {
  readonly status: 200 | 206 | 416;
  readonly headers: { readonly [name: string]: string };
  /** Bytes from `start` up to `end`. */
  readonly start: number;
  readonly end: number;
}

/** The recording of a call. @throws NotFoundError, and what its source throws */
export async function openCallAudio(
  callId: string,
  { store, recordings }: { readonly store: CallReader; readonly recordings: RecordingSource | null },
): Promise<{ readonly callId: string; readonly file: PlayableRecording }> {
  const record = await store.get(callId);
  if (record === undefined) throw new NotFoundError('No such call.');
  const { file, server } = demandFinished(record);
  if (recordings === null)
    throw new RecordingError(
      'RECORDING_ABSENT',
      'This server keeps no recordings: ask the one that took the call.',
    );
  return { callId: record.callId, file: await recordings.read(record.callId, file, server) };
}

/** @throws RecordingError. A record may be older than the field. */
function demandFinished({
  localRecording,
}: {
  localRecording?: CallRecord['localRecording'];
}): LocalRecording {
  if (localRecording == null)
    throw new RecordingError('RECORDING_ABSENT', 'The call was not recorded on this machine.');
  const { status, trouble } = localRecording;
  if (status === 'completed') return localRecording;
  if (status === 'failed')
    throw new RecordingError('RECORDING_ABSENT', `The call has no recording: ${trouble ?? 'it failed'}.`);
  throw new RecordingError(
    'RECORDING_NOT_READY',
    'The recording is still being made: ask again once the record says that it is completed.',
  );
}

/**
 * The same pieces, the first of which is at hand. A part that cannot be read at its beginning is refused then: of an answer that breaks off
 * a player asks for the rest, again and again.
 * @throws what making the first piece throws
 */
export async function begun(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const reading = pieces[Symbol.asyncIterator]();
  const first = await reading.next();
  return (async function* () {
    try {
      for (let piece = first; piece.done !== true; piece = await reading.next()) yield piece.value;
    } finally {
      await reading.return?.();
    }
  })();
}

/** What is answered to a `Range`. One that cannot be read, or asks for several parts, gets the whole. */
export function answerRange(
  { range, ifRange }: { readonly range: string | undefined; readonly ifRange: string | undefined },
  { callId, size }: { readonly callId: string; readonly size: number },
): AudioAnswer {
  const headers = {
    'Content-Type': 'audio/wav',
    'Accept-Ranges': 'bytes',
    'Content-Disposition': `inline; filename="${callId.replace(/[^\w.-]/g, '_')}.wav"`,
  };
  const whole: AudioAnswer = { status: 200, headers, start: 0, end: size };
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(range?.replaceAll(' ', '') ?? '') ?? [];
  // Nothing here tells one version from another, so a condition never holds.
  if (first === undefined || last === undefined || first + last === '' || ifRange !== undefined) return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return whole;
  if (start >= size) {
    const beyond = { 'Accept-Ranges': 'bytes', 'Content-Range': `bytes */${size}` };
    return { status: 416, headers: beyond, start: 0, end: 0 };
  }
  return {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${size}` },
    start,
    end,
  };
}
