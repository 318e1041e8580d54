// How long a caller has heard nothing, as the line itself tells: whatever an engine knew of it, the next one goes on with the same wait.
import { FRAME_MS } from '../../audio/format.js';
import type { Clock } from '../../base/clock.js';
import {
  beginWait,
  endWait,
  NOBODY_WAITS,
  silentMs,
  soundlessMs,
  type Wait,
  withoutSound,
  withSound,
} from '../../conversation/wait.js';
import type { RecentAudio } from './recent-audio.js';
import { SpeechDetector } from '../speech-detector.js';
import { createVoiceActivity } from '../voice-activity.js';

/** The line brings back what the agent said for so long. */
const ECHO_MS = 300;

/** One per call. Times come from the clock. */
export class CallerSilence {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #heard: RecentAudio;
  /** What an engine has left of it goes on; what one that talks to the caller knows of it is the engine's. */
  #wait: Wait;

  /** `heard`: the caller's last seconds, up to this moment. */
  constructor(clock: Pick<Clock, 'now'>, heard: RecentAudio) {
    this.#clock = clock;
    this.#heard = heard;
    this.#wait = withSound(NOBODY_WAITS, clock.now());
  }

  /** There is sound of the agent until then. */
  sounds(until: number): void {
    this.#wait = withSound(this.#wait, until);
  }

  /** The sound has stopped. */
  silenced(): void {
    this.#wait = withoutSound(this.#wait, this.#clock.now());
  }

  /** How long ago the agent was heard last, or the call began, in milliseconds. */
  get agentMs(): number {
    return soundlessMs(this.#wait, this.#clock.now());
  }

  /** How long ago the caller last spoke behind what the agent said, in milliseconds; undefined where they did not. Looks at all that was kept. */
  callerMs(): number | undefined {
    const frames = [...this.#heard.last(this.agentMs - ECHO_MS)];
    const activity = createVoiceActivity();
    const detector = new SpeechDetector();
    let spokeAt: number | undefined;
    for (const [index, frame] of frames.entries()) {
      const { voiced } = activity.hear(frame);
      detector.update(voiced);
      if (voiced && detector.speaking) spokeAt = index;
    }
    activity.close();
    return spokeAt === undefined ? undefined : (frames.length - 1 - spokeAt) * FRAME_MS;
  }

  /** An engine has failed. The caller had waited for so long then; undefined: for nothing. Returns the wait that goes on, or nobody's. */
  leaves(waitedMs: number | undefined): Wait {
    const at = this.#clock.now();
    this.#wait = endWait(this.#wait, at);
    if (waitedMs === undefined) return NOBODY_WAITS;
    this.#wait = beginWait(this.#wait, { since: at - waitedMs, at });
    return this.#wait;
  }

  /** The wait of a caller who was told nothing of a failure, of which an engine knows `part`. Never longer than nothing was heard. */
  untold(part: Wait | undefined): Wait {
    const at = this.#clock.now();
    const knownMs = part === undefined ? 0 : silentMs(part, at);
    const waitedMs = Math.max(silentMs(this.#wait, at), Math.min(this.agentMs, knownMs));
    return beginWait(endWait(this.#wait, at), { since: at - waitedMs, at });
  }
}
