// A caller who says nothing: asked whether they are there, asked again, and then let go.
import type { Clock, Timer } from '../base/clock.js';
import type { IdleSettings } from './turn-taking.js';

export interface IdlePromptsOptions extends IdleSettings {
  readonly clock: Clock;
  /** True while the caller makes a sound. Then they are waited for, but not for ever: music never ends. */
  readonly isSounding: () => boolean;
  readonly ask: (text: string) => void;
  /** Says `text`, after which the call ends. */
  readonly leave: (text: string) => void;
}

const LOOK_AGAIN_MS = 500;

/** Counts from the end of what the agent said. A word or a key of the caller makes it forget how often it has asked. */
export class IdlePrompts {
  readonly #options: IdlePromptsOptions;
  #asked = 0;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: IdlePromptsOptions) {
    this.#options = options;
  }

  /** The agent has fallen silent: it is the caller's turn. */
  wait(): void {
    const { clock, afterMs } = this.#options;
    this.#timer?.cancel();
    if (this.#isClosed) return;
    this.#timer = clock.after(afterMs, () => this.#look(clock.now() + afterMs));
  }

  /** The caller has said or pressed something. */
  callerActive(): void {
    this.#asked = 0;
    if (this.#timer !== undefined) this.wait();
  }

  /** The agent speaks, or nobody is there to be asked. */
  pause(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The call is over. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.pause();
  }

  #look(latest: number): void {
    const { clock, isSounding, prompts, goodbye, ask, leave } = this.#options;
    if (isSounding() && clock.now() < latest) {
      this.#timer = clock.after(LOOK_AGAIN_MS, () => this.#look(latest));
      return;
    }
    this.#timer = undefined;
    const prompt = prompts[this.#asked];
    this.#asked += 1;
    if (prompt === undefined) leave(goodbye);
    else ask(prompt);
  }
}
