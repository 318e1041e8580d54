// Puts the report of a call together from its streams, one or several in a row.
import type { SimulatedCarrier } from '../contract/call-record.js';
import type { PlaybackLog } from './playback.js';
import {
  isInOrder,
  measureCall,
  UNHEARD_CALL,
  type CallAnswerReport,
  type CallReport,
  type CallTimeline,
} from './report.js';
import type { Span } from './speech-spans.js';
import type { StreamEnd, Violation } from './stream-end.js';

const SAMPLES_PER_MS = 8;

/** Whose call it was. */
export interface ReportHead {
  readonly carrier: SimulatedCarrier;
  readonly carrierCallId: string;
  /** The last four digits. */
  readonly caller: string;
  readonly callee: string;
  /** Epoch milliseconds of the bell. */
  readonly startedAt: number;
}

/** One stream of a call, as far as it has come. */
export interface HeardStream {
  /** When it began, on the clock that the person's speech is measured with. */
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly playback: PlaybackLog;
  readonly framesSent: number;
  readonly framesReceived: number;
  readonly violations: readonly Violation[];
  readonly end: StreamEnd | null;
}

export interface ReportRest {
  readonly answer: CallAnswerReport;
  /** What broke the protocol outside the streams. */
  readonly violations: readonly Violation[];
  readonly notes: readonly string[];
  /** Path of the WAV file, when one was written. */
  readonly recording: string | null;
}

function shiftLog(log: PlaybackLog, byMs: number): PlaybackLog {
  const shift = (atMs: number) => atMs + byMs;
  return {
    pieces: log.pieces.map((piece) => ({
      ...piece,
      startSample: piece.startSample + Math.round(byMs * SAMPLES_PER_MS),
    })),
    clears: log.clears.map((clear) => ({ ...clear, atMs: shift(clear.atMs) })),
    marks: log.marks.map((mark) => ({
      ...mark,
      receivedAtMs: shift(mark.receivedAtMs),
      echoedAtMs: mark.echoedAtMs === null ? null : shift(mark.echoedAtMs),
    })),
  };
}

/** Several streams on one clock, which begins with the first. */
function joinStreams(streams: readonly HeardStream[], speech: readonly Span[]): CallTimeline {
  const originMs = streams[0]?.offsetMs ?? 0;
  const logs = streams.map(({ playback, offsetMs }) =>
    offsetMs === originMs ? playback : shiftLog(playback, offsetMs - originMs),
  );
  const last = streams.at(-1);
  return {
    playback: {
      pieces: logs.flatMap(({ pieces }) => pieces),
      clears: logs.flatMap(({ clears }) => clears),
      marks: logs.flatMap(({ marks }) => marks),
    },
    callerSpeech: speech
      .map(({ startMs, endMs }) => ({ startMs: startMs - originMs, endMs: endMs - originMs }))
      .filter(({ endMs }) => endMs > 0),
    durationMs: last === undefined ? 0 : last.offsetMs + last.durationMs - originMs,
    framesSent: streams.reduce((sum, { framesSent }) => sum + framesSent, 0),
    framesReceived: streams.reduce((sum, { framesReceived }) => sum + framesReceived, 0),
  };
}

/** The report of a call over its streams; `speech` is what the person said in all of them. */
export function reportCall(
  head: ReportHead,
  heard: { streams: readonly HeardStream[]; speech: readonly Span[] },
  rest: ReportRest,
): CallReport {
  const { streams, speech } = heard;
  const figures = streams.length === 0 ? UNHEARD_CALL : measureCall(joinStreams(streams, speech));
  const report: CallReport = {
    ok: false,
    ...head,
    ...figures,
    answer: rest.answer,
    protocolErrors: [...rest.violations, ...streams.flatMap(({ violations }) => violations)],
    notes: [...rest.notes],
    end: streams.at(-1)?.end ?? null,
    recording: rest.recording,
  };
  return { ...report, ok: isInOrder(report) };
}
