// The figures of a simulated call, computed from what was said, sent and really played. Knows no socket.
import type { PlaybackLog } from './playback.js';
import type { SimulatedCarrier } from '../contract/call-record.js';
import type { StreamEnd, Violation } from './stream-end.js';
import { isClick } from './clicks.js';
import { findSpeech, isSound, type Span } from './speech-spans.js';

const RATE_HZ = 8000;
const SAMPLES_PER_MS = RATE_HZ / 1000;
/** A queue that stays dry for longer has not run out within an answer: the next answer has begun. */
const MAX_GAP_MS = 1000;
/** How much audio beside a dry queue decides whether it cut into speech. */
const GAP_EDGE_SAMPLES = 40 * SAMPLES_PER_MS;
/** Utterances of the caller with less than this between them are one turn. */
const TURN_PAUSE_MS = 1000;

/** How the server took the call. */
export interface CallAnswerReport {
  /** `busy` and `rejected`: by the markup. `refused`: by an HTTP status. `failed`: no answer, or one that is no answer. */
  outcome: 'answered' | 'busy' | 'rejected' | 'hung-up' | 'refused' | 'failed';
  /** HTTP status that decided: of the webhook, or of the stream's upgrade. */
  status: number | null;
  webhookMs: number | null;
  upgradeMs: number | null;
  /** From the bell to the open stream. */
  answeredAfterMs: number | null;
  /** A sentence that says why the call was not answered. */
  reason: string | null;
}

export interface TurnReport {
  callerStartMs: number;
  callerEndMs: number;
  agentStartMs: number | null;
  /** From the end of the caller's sound to the first sound of the agent; negative when the agent talked over the caller. */
  responseMs: number | null;
}

export interface InterruptionReport {
  /** Where the caller began to talk over the agent. */
  atMs: number;
  clearAfterMs: number | null;
  /** How much longer the agent was heard. */
  silentAfterMs: number;
}

export interface GapReport {
  atMs: number;
  durationMs: number;
}

/** A call as the simulator heard it. Times are milliseconds since the start of the stream unless a name says otherwise. */
export interface CallReport {
  /** Answered, ended in order, and no message broke the protocol. */
  ok: boolean;
  carrier: SimulatedCarrier;
  carrierCallId: string;
  /** The last four digits. */
  caller: string;
  callee: string;
  /** Epoch milliseconds of the bell. */
  startedAt: number;
  /** Length of the stream; null when there was none. */
  durationMs: number | null;
  answer: CallAnswerReport;
  /** From the start of the stream to the first sound of the agent. */
  firstAudioAfterMs: number | null;
  turns: TurnReport[];
  callerSpeech: Span[];
  agentSpeech: Span[];
  agentSpeechMs: number;
  /** The playback queue ran dry inside speech: the caller heard a hole. */
  gaps: GapReport[];
  /** The queue ran dry for up to a second between sounds, as between two sentences. */
  pauses: GapReport[];
  /** Places where two pieces of audio do not fit together. */
  clicks: { atMs: number }[];
  clears: { atMs: number; droppedMs: number; droppedMarks: number }[];
  interruptions: InterruptionReport[];
  marks: { received: number; played: number; cleared: number; pending: number };
  frames: { sent: number; received: number };
  protocolErrors: Violation[];
  /** What did not go as the script expected; no failure. */
  notes: string[];
  end: StreamEnd | null;
  /** Path of the WAV file, when one was written. */
  recording: string | null;
}

/** What the stream leaves behind. */
export interface CallTimeline {
  playback: PlaybackLog;
  callerSpeech: readonly Span[];
  durationMs: number;
  framesReceived: number;
  framesSent: number;
}

function round(ms: number): number {
  return Math.round(ms);
}

function roundSpan(span: Span): Span {
  return { startMs: round(span.startMs), endMs: round(span.endMs) };
}

/** The agent as the caller heard it: 8 kHz PCM since the start of the stream, silence where nothing was played. */
export function renderAgent(playback: PlaybackLog, durationMs: number): Int16Array {
  const last = playback.pieces.at(-1);
  const length = Math.max(
    Math.round(durationMs * SAMPLES_PER_MS),
    last ? last.startSample + last.samples.length : 0,
  );
  const audio = new Int16Array(length);
  for (const { startSample, samples } of playback.pieces) audio.set(samples, startSample);
  return audio;
}

function findDryPlaces(playback: PlaybackLog, agent: Int16Array): { gaps: GapReport[]; pauses: GapReport[] } {
  const gaps: GapReport[] = [];
  const pauses: GapReport[] = [];
  let endSample = 0;
  for (const { start, startSample, samples } of playback.pieces) {
    const dryMs = (startSample - endSample) / SAMPLES_PER_MS;
    if (start === 'refill' && dryMs <= MAX_GAP_MS) {
      const before = agent.subarray(Math.max(0, endSample - GAP_EDGE_SAMPLES), endSample);
      const after = agent.subarray(startSample, startSample + GAP_EDGE_SAMPLES);
      const place = { atMs: round(endSample / SAMPLES_PER_MS), durationMs: Math.round(dryMs * 10) / 10 };
      (isSound(before) && isSound(after) ? gaps : pauses).push(place);
    }
    endSample = startSample + samples.length;
  }
  return { gaps, pauses };
}

function findTurns(callerSpeech: readonly Span[], agentSpeech: readonly Span[]): TurnReport[] {
  const spoken: Span[] = [];
  for (const span of callerSpeech) {
    const last = spoken.at(-1);
    if (last !== undefined && span.startMs - last.endMs < TURN_PAUSE_MS) last.endMs = span.endMs;
    else spoken.push({ ...span });
  }
  return spoken.map((caller, index) => {
    const untilMs = spoken[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const answer = agentSpeech.find(({ startMs }) => startMs > caller.startMs && startMs < untilMs);
    return {
      callerStartMs: round(caller.startMs),
      callerEndMs: round(caller.endMs),
      agentStartMs: answer === undefined ? null : round(answer.startMs),
      responseMs: answer === undefined ? null : round(answer.startMs - caller.endMs),
    };
  });
}

function findInterruptions(
  callerSpeech: readonly Span[],
  agentSpeech: readonly Span[],
  playback: PlaybackLog,
): InterruptionReport[] {
  return callerSpeech.flatMap(({ startMs }, index) => {
    const heard = agentSpeech.find((span) => span.startMs < startMs && span.endMs > startMs);
    if (heard === undefined) return [];
    const untilMs = callerSpeech[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const clear = playback.clears.find(({ atMs }) => atMs >= startMs && atMs < untilMs);
    // An answer that follows the clear closely may belong to the same stretch of sound.
    const silentAtMs = clear === undefined ? heard.endMs : Math.min(heard.endMs, clear.atMs);
    return [
      {
        atMs: round(startMs),
        clearAfterMs: clear === undefined ? null : round(clear.atMs - startMs),
        silentAfterMs: round(silentAtMs - startMs),
      },
    ];
  });
}

/** The part of a report that the audio tells. */
export function measureCall(timeline: CallTimeline) {
  const { playback, callerSpeech } = timeline;
  const agent = renderAgent(playback, timeline.durationMs);
  const agentSpeech = findSpeech(agent, { sampleRateHz: RATE_HZ });
  // What was not spoken any more when the call ended is no speech of the caller.
  const heardCaller = callerSpeech
    .filter(({ startMs }) => startMs < timeline.durationMs)
    .map(({ startMs, endMs }) => ({ startMs, endMs: Math.min(endMs, timeline.durationMs) }));
  const { marks } = playback;
  const first = agentSpeech[0];
  return {
    durationMs: round(timeline.durationMs),
    firstAudioAfterMs: first === undefined ? null : round(first.startMs),
    turns: findTurns(heardCaller, agentSpeech),
    callerSpeech: heardCaller.map(roundSpan),
    agentSpeech: agentSpeech.map(roundSpan),
    agentSpeechMs: round(agentSpeech.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)),
    ...findDryPlaces(playback, agent),
    clicks: playback.pieces
      .filter(({ start, startSample }) => start === 'queued' && isClick(agent, startSample))
      .map(({ startSample }) => ({ atMs: round(startSample / SAMPLES_PER_MS) })),
    clears: playback.clears.map((clear) => ({
      atMs: round(clear.atMs),
      droppedMs: round(clear.droppedMs),
      droppedMarks: clear.droppedMarks,
    })),
    interruptions: findInterruptions(heardCaller, agentSpeech, playback),
    marks: {
      received: marks.length,
      played: marks.filter(({ echoedAtMs, cleared }) => echoedAtMs !== null && !cleared).length,
      cleared: marks.filter(({ cleared }) => cleared).length,
      pending: marks.filter(({ echoedAtMs }) => echoedAtMs === null).length,
    },
    frames: { sent: timeline.framesSent, received: timeline.framesReceived },
  };
}

/** The same for a call that had no stream. */
export const UNHEARD_CALL: Omit<ReturnType<typeof measureCall>, 'durationMs'> & { durationMs: null } = {
  durationMs: null,
  firstAudioAfterMs: null,
  turns: [],
  callerSpeech: [],
  agentSpeech: [],
  agentSpeechMs: 0,
  gaps: [],
  pauses: [],
  clicks: [],
  clears: [],
  interruptions: [],
  marks: { received: 0, played: 0, cleared: 0, pending: 0 },
  frames: { sent: 0, received: 0 },
};

/** Close codes with which a server ends a stream in order. Source: RFC 6455, section 7.4.1. */
const ORDERLY_CODES: readonly (number | null)[] = [null, 1000, 1001, 1005];

/** True when the call was answered, ended in order, and broke no rule. */
export function isInOrder(report: Pick<CallReport, 'answer' | 'protocolErrors' | 'end'>): boolean {
  const { end } = report;
  if (report.answer.outcome !== 'answered' || report.protocolErrors.length > 0 || end === null) return false;
  return end.how !== 'lost' && end.how !== 'aborted' && ORDERLY_CODES.includes(end.closeCode);
}
