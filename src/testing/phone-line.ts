// The person's end of a call: speaks a frame every 20 ms from the answer to the end, whoever listens, and hears what is played.
import type { Clock, Timer } from '../base/clock.js';
import type { PreparedStep } from './caller-script.js';
import {
  CALLER_FRAME_SAMPLES,
  CallerTrack,
  type AgentEar,
  type CallerEvent,
  type CallerFrame,
} from './caller-track.js';
import { type LineConditions, LineImpairment } from './line-conditions.js';
import type { PlaybackClock } from './playback.js';
import { renderAgent } from './report.js';
import type { Span } from './speech-spans.js';

const FRAME_MS = 20;
const FRAMES_PER_MS = CALLER_FRAME_SAMPLES / FRAME_MS;

/** What carries the person's voice away: a media stream. */
export interface LineListener {
  take(frame: CallerFrame): void;
}

/** Something that is played to the person. */
interface Heard {
  readonly playback: PlaybackClock;
  /** Line time at which it began. */
  readonly offsetMs: number;
}

export interface PhoneLineOptions {
  clock: Clock;
  /** The person hangs up. */
  onHangUp(options: { abrupt: boolean }): void;
}

/** One person on the line. Times are milliseconds since `start`, where no other origin is named. */
export class PhoneLine {
  readonly #options: PhoneLineOptions;
  readonly #heard: Heard[] = [];
  readonly #frames: Int16Array[] = [];
  #track: CallerTrack | undefined;
  #listener: LineListener | undefined;
  #originMs = 0;
  #count = 0;
  #timer: Timer | undefined;
  #endMs: number | undefined;
  #keepsAudio = false;
  #impairment: LineImpairment | undefined;

  constructor(options: PhoneLineOptions) {
    this.#options = options;
  }

  get isStarted(): boolean {
    return this.#track !== undefined;
  }

  /** Time on the line; 0 before the answer, and standing still after the end. */
  get nowMs(): number {
    if (!this.isStarted) return 0;
    return this.#endMs ?? this.#options.clock.now() - this.#originMs;
  }

  get speech(): readonly Span[] {
    return this.#track?.utterances ?? [];
  }

  /** What did not go as the script expected. */
  get notes(): readonly string[] {
    return this.#track?.notes ?? [];
  }

  /** Keeps what is said from now on, for a recording. */
  keepAudio(): void {
    this.#keepsAudio = true;
  }

  /** Makes the line a bad one. @throws ConfigError for conditions that cannot be. */
  impair(conditions: LineConditions): void {
    this.#impairment = new LineImpairment(conditions, (fromMs) => this.#renderPlayed(fromMs));
  }

  /** The person begins to speak and to hear. Only the first time counts. */
  start(steps: readonly PreparedStep[]): void {
    if (this.isStarted || this.#endMs !== undefined) return;
    this.#originMs = this.#options.clock.now();
    this.#track = new CallerTrack(steps, this.#createEar());
    this.#schedule();
  }

  /** Plays something to the person from now on. */
  hear(playback: PlaybackClock): number {
    const offsetMs = this.nowMs;
    this.#heard.push({ playback, offsetMs });
    return offsetMs;
  }

  /** Gives the person's voice to a listener, in place of the one before. */
  connect(listener: LineListener | undefined): void {
    this.#listener = listener;
  }

  /** The person is gone. Idempotent. */
  close(): void {
    this.#endMs ??= this.nowMs;
    this.#timer?.cancel();
    this.#listener = undefined;
  }

  /** Both sides, 8 kHz PCM from `fromMs` on: the person as kept, and what was played to them. */
  render(fromMs: number): { person: Int16Array; agent: Int16Array } {
    const from = Math.round(fromMs * FRAMES_PER_MS);
    const length = Math.max(0, Math.round(this.nowMs * FRAMES_PER_MS) - from);
    const person = new Int16Array(length);
    for (const [index, frame] of this.#frames.entries()) {
      copyInto(person, frame, index * CALLER_FRAME_SAMPLES - from);
    }
    const agent = new Int16Array(length);
    for (const { playback, offsetMs } of this.#heard) {
      copyInto(agent, renderAgent(playback.log, 0), Math.round(offsetMs * FRAMES_PER_MS) - from);
    }
    return { person, agent };
  }

  /** Every frame has its own due time since the start, so that lateness never adds up; frames that are late go out together. */
  #schedule(): void {
    const dueMs = (this.#count + 1) * FRAME_MS;
    this.#timer = this.#options.clock.after(Math.max(0, dueMs - this.nowMs), () => {
      while (this.#endMs === undefined && (this.#count + 1) * FRAME_MS <= this.nowMs + 0.5) this.#speak();
      if (this.#endMs === undefined) this.#schedule();
    });
  }

  #speak(): void {
    const atMs = this.#count * FRAME_MS;
    const frame = this.#track?.nextFrame(atMs);
    if (frame === undefined) return;
    const samples = this.#impairment?.color(frame.samples, atMs) ?? frame.samples;
    if (this.#keepsAudio) this.#frames[this.#count] = samples;
    this.#count += 1;
    const hangUp = frame.events.find((event) => event.type === 'hang-up');
    const spoken = { samples, events: frame.events.filter(isHeard) };
    for (const carried of this.#impairment?.carry(spoken) ?? [spoken]) this.#listener?.take(carried);
    if (hangUp !== undefined) for (const late of this.#impairment?.flush() ?? []) this.#listener?.take(late);
    if (hangUp?.type === 'hang-up') this.#options.onHangUp({ abrupt: hangUp.abrupt });
  }

  /** A frame of what was played, from `fromMs` on. */
  #renderPlayed(fromMs: number): Int16Array {
    const played = new Int16Array(CALLER_FRAME_SAMPLES);
    for (const { playback, offsetMs } of this.#heard) {
      const from = Math.round((fromMs - offsetMs) * FRAMES_PER_MS);
      for (const { startSample, samples } of playback.piecesSince(from)) {
        if (startSample >= from + played.length) break;
        copyInto(played, samples, startSample - from);
      }
    }
    return played;
  }

  #createEar(): AgentEar {
    const heard = this.#heard;
    return {
      soundStartSince(sinceMs) {
        for (const { playback, offsetMs } of heard) {
          const startMs = playback.soundStartSince(sinceMs - offsetMs);
          if (startMs !== undefined) return Math.max(sinceMs, startMs + offsetMs);
        }
        return undefined;
      },
      get lastSoundMs() {
        const last = heard.findLast(({ playback }) => playback.lastSoundMs !== undefined);
        return last === undefined ? undefined : (last.playback.lastSoundMs ?? 0) + last.offsetMs;
      },
      get queuedMs() {
        return heard.at(-1)?.playback.queuedMs ?? 0;
      },
    };
  }
}

function isHeard(event: CallerEvent): boolean {
  return event.type !== 'hang-up';
}

/** Copies what of `samples` lies inside, `at` samples from the start of `target`, which may be negative. */
function copyInto(target: Int16Array, samples: Int16Array | undefined, at: number): void {
  if (samples === undefined) return;
  const skipped = Math.max(0, -at);
  if (skipped >= samples.length || at >= target.length) return;
  target.set(samples.subarray(skipped, skipped + target.length - Math.max(0, at)), Math.max(0, at));
}
