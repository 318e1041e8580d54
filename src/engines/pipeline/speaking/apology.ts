// The apology of a call that cannot go on, in the agent's own voice: behind what the voice has already, within its time, and told when the
// caller hears it.
import type { Playout } from '../../../audio/playout.js';
import type { Clock, Timer } from '../../../base/clock.js';
import { LIMITS } from '../../../conversation/limits.js';
import type { AgentVoice } from './agent-voice.js';
import type { CallerWait } from '../caller-wait.js';
import type { PipelineDriver } from '../driver.js';

/** One that does not sound in time, or when the caller has waited too long, is left to the carrier. */
const { soundMs: SOUND_MS, longestMs: LIMIT_MS } = LIMITS.apology;

export interface ApologyOptions {
  readonly text: string;
  readonly clock: Clock;
  readonly playout: Pick<Playout, 'onNextFrameSent'>;
  readonly wait: CallerWait;
  readonly agent: Pick<AgentVoice, 'isBusy' | 'isAudible'>;
  readonly driver: Pick<PipelineDriver, 'say' | 'conclude'>;
  /** The caller hears the first of it, after so long a silence. Told once. */
  readonly heard: (waitedMs: number) => void;
  /** Its time is over. `untold`: the voice has given nothing of it; else what it has given is still to be heard. */
  readonly late: (options: { untold: boolean }) => void;
}

export class Apology {
  readonly #options: ApologyOptions;
  #timer: Timer | undefined;
  #hasBegun = false;

  constructor(options: ApologyOptions) {
    this.#options = options;
  }

  /** `since`: when the silence began in which the caller waits, on the clock. What still sounds ends later. */
  say(since: number): void {
    const { text, clock, wait, agent, driver, late } = this.#options;
    if (!wait.isOn) wait.begin(clock.now());
    const soundMs = Math.min(SOUND_MS, Math.max(0, wait.leftMs()));
    const tooLate = () => late({ untold: true });
    this.#timer = clock.after(soundMs, () => {
      if (agent.isAudible) this.#timer = clock.after(LIMIT_MS - SOUND_MS, tooLate);
      else tooLate();
    });
    // A turn in which nothing else is said.
    if (!agent.isBusy) driver.say('');
    driver.conclude(text, () => this.#begins(since));
  }

  /** The voice has given something of it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Idempotent. */
  cancel(): void {
    this.#timer?.cancel();
  }

  /** The voice gives the first audio of a sentence of it, which is not with the playout. */
  #begins(since: number): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { clock, playout, wait, heard, late } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.after(LIMIT_MS, () => late({ untold: false }));
    const silentSince = Math.max(since, wait.soundsUntil);
    playout.onNextFrameSent((at) => heard(Math.max(0, at - silentSince)));
  }
}
