// How long a caller has heard nothing, as the line itself tells: whatever an engine knew of it, the next one goes on with the same wait.
import { FRAME_MS } from '../audio/format.js';
import { levelDbfs } from '../audio/level.js';
import type { Clock } from '../base/clock.js';
import type { RecentAudio } from './recent-audio.js';
import { SpeechDetector } from './speech-detector.js';
import { createVoiceActivity } from './voice-activity.js';

/** The line brings back what the agent said for so long. */
const ECHO_MS = 300;

/** One per call. Times are those of the clock. */
export class CallerSilence {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #heard: RecentAudio;
  #soundsUntil: number;
  /** What an engine has left of the caller's wait, and when; undefined where nobody waited then. */
  #left: { readonly silentMs: number; readonly at: number } | undefined;

  /** `heard`: the caller's last seconds, up to this moment. */
  constructor(clock: Pick<Clock, 'now'>, heard: RecentAudio) {
    this.#clock = clock;
    this.#heard = heard;
    this.#soundsUntil = clock.now();
  }

  /** There is sound of the agent until then. */
  sounds(until: number): void {
    this.#soundsUntil = until;
  }

  /** There is none any more. */
  silenced(): void {
    this.#soundsUntil = Math.min(this.#soundsUntil, this.#clock.now());
  }

  /** How long ago the agent was heard last, or the call began, in milliseconds. */
  get agentMs(): number {
    return Math.max(0, this.#clock.now() - this.#soundsUntil);
  }

  /** How long ago the caller last spoke behind what the agent said, in milliseconds; undefined where they did not. Looks at all that was kept. */
  callerMs(): number | undefined {
    const frames = [...this.#heard.last(this.agentMs - ECHO_MS)];
    const activity = createVoiceActivity();
    const detector = new SpeechDetector();
    let spokeAt: number | undefined;
    for (const [index, frame] of frames.entries()) {
      const isVoiced = activity.isVoiced(frame, levelDbfs(frame));
      detector.update(isVoiced);
      if (isVoiced && detector.speaking) spokeAt = index;
    }
    activity.close();
    return spokeAt === undefined ? undefined : (frames.length - 1 - spokeAt) * FRAME_MS;
  }

  /** An engine has failed. The caller had waited for so long then; undefined: for nothing. */
  leaves(silentMs: number | undefined): void {
    this.#left = silentMs === undefined ? undefined : { silentMs, at: this.#clock.now() };
  }

  /** How long the caller has waited, of which the engine that talks to them now knows `knownMs`. Never longer than nothing was heard. */
  waitedMs(knownMs = 0): number {
    const { silentMs, at } = this.#left ?? { silentMs: 0, at: this.#clock.now() };
    return Math.min(this.agentMs, Math.max(knownMs, silentMs + this.#clock.now() - at));
  }
}
