// The milestones of one answer, from the caller's last sound to the caller's ear.
import type { TurnLatency } from '../contract/call-record.js';
import type { TurnTimes } from './pending-turn.js';

/** In the order in which they come. Each stage of the latency lies between two neighbours. */
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

/** Collects milestones on one clock. The first report of each counts. */
export class TurnLatencyMeter {
  readonly #at = new Map<Milestone, number>();
  #heardAt: number | undefined;
  #fillerMs: number | null;

  /** `before`: the meter of an answer that was dropped, whose filler was said in the same turn. */
  constructor(before?: TurnLatencyMeter) {
    this.#fillerMs = before?.fillerMs ?? null;
  }

  /** From the end of the caller's speech to the first frame of a filler; null when none was said. */
  get fillerMs(): number | null {
    return this.#fillerMs;
  }

  /** The first frame of a filler was sent, so long after the caller began to wait. */
  fillerSent(afterMs: number): void {
    this.#fillerMs ??= Math.max(0, Math.round(afterMs));
  }

  reached(milestone: Milestone, at: number): void {
    if (!this.#at.has(milestone)) this.#at.set(milestone, at);
  }

  /** What the caller said is complete, its last text there at `textFinalAt`. */
  callerFinished(times: TurnTimes, textFinalAt: number): void {
    this.reached('speechEnded', times.speechEndedAt);
    this.reached('turnEnded', times.turnEndedAt);
    this.reached('textFinal', textFinalAt);
  }

  has(milestone: Milestone): boolean {
    return this.#at.has(milestone);
  }

  heard(at: number): void {
    this.#heardAt ??= at;
  }

  /** Contiguous stages in whole milliseconds. What was not reached is null; without an end of speech everything is. */
  result(): TurnLatency {
    const start = this.#at.get('speechEnded');
    const since: (number | null)[] = [];
    let previous: number | null = 0;
    for (const milestone of MILESTONES) {
      const at = this.#at.get(milestone);
      // A text that was final before the turn ended has cost no time of its own.
      previous =
        start === undefined || at === undefined || previous === null
          ? null
          : Math.max(previous, Math.round(at - start));
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
      totalMs: since[6] ?? null,
      heardMs: start === undefined || this.#heardAt === undefined ? null : Math.round(this.#heardAt - start),
    };
  }
}
