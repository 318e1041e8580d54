// The mouth of a simulated caller: walks through the prepared steps and gives one 20 ms frame at a time. Knows no socket.
import type { PreparedStep } from './caller-script.js';
import { CALLER_RATE_HZ, KEY_INTERVAL_MS, type PreparedSpeech } from './caller-speech.js';
import type { Span } from './speech-spans.js';

const FRAME_MS = 20;
export const CALLER_FRAME_SAMPLES = (CALLER_RATE_HZ * FRAME_MS) / 1000;
const QUIET_MS = 1000;
const TIMEOUT_MS = 15_000;

/** What the caller hears of the agent. Times are milliseconds since the start of the stream. */
export interface AgentEar {
  /** Where sound that is not over at `sinceMs` begins; undefined while nothing has been heard since. */
  soundStartSince(sinceMs: number): number | undefined;
  /** When the agent was last heard. */
  readonly lastSoundMs: number | undefined;
  /** Audio that is on its way to the ear. */
  readonly queuedMs: number;
}

/** What happens in a frame beside its audio. */
export type CallerEvent =
  | { type: 'spoken-text'; id: string; text: string; final: boolean; language?: string }
  | { type: 'dtmf'; digit: string }
  | { type: 'hang-up'; abrupt: boolean };

export interface CallerFrame {
  /** 160 samples at 8 kHz. */
  samples: Int16Array;
  events: CallerEvent[];
  /** The line has lost the sound of it. */
  isLost?: boolean;
}

/** One caller of one call. */
export class CallerTrack {
  /** Stretches in which the caller made a sound. */
  readonly utterances: Span[] = [];
  /** What did not go as the script expected. */
  readonly notes: string[] = [];
  readonly #steps: readonly PreparedStep[];
  readonly #agent: AgentEar;
  #index = 0;
  /** Where the present step began; a wait counts from the end of the caller's last sound. */
  #stepStartMs = 0;
  #lastSoundEndMs = 0;
  #offset = 0;
  #piece = 0;
  #key = 0;
  #utterance = 0;

  constructor(steps: readonly PreparedStep[], agent: AgentEar) {
    this.#steps = steps;
    this.#agent = agent;
  }

  /** The frame that is spoken from `atMs` to 20 ms later. Call it at the end of that time. */
  nextFrame(atMs: number): CallerFrame {
    const frame: CallerFrame = { samples: new Int16Array(CALLER_FRAME_SAMPLES), events: [] };
    for (let step = this.#steps[this.#index]; step !== undefined; step = this.#steps[this.#index]) {
      if (step.type === 'speech') {
        this.#speak(step, frame, atMs);
        if (this.#offset < step.samples.length) return frame;
        this.#nextStep(atMs + FRAME_MS);
        if (step.samples.length > 0) return frame;
        continue;
      }
      if (step.type === 'hang-up') {
        frame.events.push({ type: 'hang-up', abrupt: step.abrupt ?? false });
        this.#nextStep(atMs);
        return frame;
      }
      if (step.type === 'press') {
        const due = Math.floor((atMs - this.#stepStartMs) / KEY_INTERVAL_MS);
        const digit = step.digits[this.#offset];
        if (digit !== undefined && due >= this.#offset) {
          frame.events.push({ type: 'dtmf', digit });
          this.#offset += 1;
        }
        if (due < step.digits.length) return frame;
      } else if (!this.#isOver(step, atMs)) return frame;
      this.#nextStep(atMs);
    }
    return frame;
  }

  #nextStep(atMs: number): void {
    this.#index += 1;
    this.#stepStartMs = atMs;
    this.#offset = 0;
    this.#piece = 0;
    this.#key = 0;
  }

  #speak(step: PreparedSpeech, frame: CallerFrame, atMs: number): void {
    if (this.#offset === 0) {
      this.#utterance += 1;
      this.#stepStartMs = atMs;
      for (const { startMs, endMs } of step.sound) {
        this.utterances.push({ startMs: atMs + startMs, endMs: atMs + endMs });
      }
      const last = step.sound.at(-1);
      if (last !== undefined) this.#lastSoundEndMs = atMs + last.endMs;
    }
    frame.samples.set(step.samples.subarray(this.#offset, this.#offset + CALLER_FRAME_SAMPLES));
    this.#offset += CALLER_FRAME_SAMPLES;
    let piece = step.spoken[this.#piece];
    while (piece !== undefined && (piece.atSample <= this.#offset || this.#offset >= step.samples.length)) {
      frame.events.push({
        type: 'spoken-text',
        id: `utterance-${this.#utterance}`,
        text: piece.text,
        final: piece.final,
        ...(piece.language === undefined ? {} : { language: piece.language }),
      });
      this.#piece += 1;
      piece = step.spoken[this.#piece];
    }
    let key = step.keys[this.#key];
    while (key !== undefined && key.atSample < this.#offset) {
      frame.events.push({ type: 'dtmf', digit: key.digit });
      this.#key += 1;
      key = step.keys[this.#key];
    }
  }

  #isOver(step: Exclude<PreparedStep, { type: 'speech' | 'hang-up' | 'press' }>, atMs: number): boolean {
    const elapsedMs = atMs - this.#stepStartMs;
    if (step.type === 'pause') return elapsedMs >= step.durationMs;
    const isLate = elapsedMs >= (step.timeoutMs ?? TIMEOUT_MS);
    if (step.type === 'wait-until') {
      if (!step.signal.aborted && isLate)
        this.notes.push(`What was waited for did not come within ${elapsedMs} ms.`);
      return step.signal.aborted || isLate;
    }
    const since = this.#agent.soundStartSince(this.#lastSoundEndMs);
    if (since === undefined) {
      if (!isLate) return false;
      this.notes.push(`The agent did not speak within ${elapsedMs} ms.`);
      return true;
    }
    if (step.type === 'interrupt') return atMs - since >= step.afterMs;
    const quietMs = atMs - (this.#agent.lastSoundMs ?? atMs);
    return this.#agent.queuedMs === 0 && quietMs >= (step.quietMs ?? QUIET_MS);
  }
}
