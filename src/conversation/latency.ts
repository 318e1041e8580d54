// The milestones of one answer, from the caller's last sound to the caller's ear.
import type { TurnLatency } from '../contract/call-record.js';

/** In the order in which they come. Each stage of the latency lies between two neighbors. */
const MILESTONES = [
  'speechEnded',
  'turnEnded',
  'textFinal',
  'firstToken',
  'firstSentence',
  'firstAudio',
  'firstFrameSent',
] as const;

export type Milestone = (typeof MILESTONES)[number];

/** Times on one clock. `fillerMs`: from the end of the caller's speech to the first frame of a filler; null when none was said. */
export interface Latency {
  readonly at: Readonly<Partial<Record<Milestone | 'heard', number>>>;
  readonly fillerMs: number | null;
}

export const UNMEASURED: Latency = { at: {}, fillerMs: null };

/** The first report of each milestone counts. */
export function reached(latency: Latency, milestone: Milestone | 'heard', at: number): Latency {
  return latency.at[milestone] === undefined
    ? { ...latency, at: { ...latency.at, [milestone]: at } }
    : latency;
}

/** The first frame of a filler was sent, so long after the caller began to wait. */
export function fillerSent(latency: Latency, afterMs: number): Latency {
  return latency.fillerMs === null ? { ...latency, fillerMs: Math.max(0, Math.round(afterMs)) } : latency;
}

/**
 * Contiguous stages in whole milliseconds. What was not reached is null; without an end of speech everything is. Where nobody has told
 * when the turn ended, of an answer only the ends are known: what lies between is the affair of whoever gave it.
 */
export function latencyOf({ at }: Latency): TurnLatency {
  const { speechEnded: start, turnEnded, firstFrameSent, heard } = at;
  const sinceStart = (time: number | undefined) =>
    start === undefined || time === undefined ? null : Math.max(0, Math.round(time - start));
  const since: (number | null)[] = [];
  let previous: number | null = 0;
  for (const milestone of MILESTONES) {
    const reachedMs = sinceStart(at[milestone]);
    // A text that was final before the turn ended has cost no time of its own.
    previous = reachedMs === null || previous === null ? null : Math.max(previous, reachedMs);
    since.push(previous);
  }
  const stage = (index: number) => {
    const from = since[index - 1] ?? null;
    const to = since[index] ?? null;
    return from === null || to === null ? null : to - from;
  };
  return {
    endpointingMs: stage(1),
    sttMs: stage(2),
    llmFirstTokenMs: stage(3),
    sentenceMs: stage(4),
    ttsFirstByteMs: stage(5),
    sendMs: stage(6),
    totalMs: turnEnded === undefined ? sinceStart(firstFrameSent) : (since[6] ?? null),
    heardMs: sinceStart(heard),
  };
}
