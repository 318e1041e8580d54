// A hold in a call with a realtime model: what it has cut off, or kept from beginning, is owed until somebody listens again.
import type { Resumption } from './engine.js';
import type { Manner } from './realtime-voice.js';

export class RealtimeHold {
  #isOn = false;
  /** How the answer was to be taken that was cut off. */
  #cutOff: Manner | undefined;
  /** Tools have given their results while nobody listened. */
  #hasResults = false;

  get isOn(): boolean {
    return this.#isOn;
  }

  /** True when the caller is to hear something as soon as they listen again. */
  get owes(): boolean {
    return this.#cutOff !== undefined || this.#hasResults;
  }

  /** How the answer was to be taken that is owed; undefined for none, and where nothing was special about it. */
  get manner(): Manner | undefined {
    return this.#cutOff;
  }

  /** `cutOff`: what the agent was saying, or about to say. */
  begin(cutOff: Manner | undefined): void {
    this.#isOn = true;
    this.#cutOff = cutOff ?? this.#cutOff;
  }

  /** The model would have answered. */
  kept(): void {
    this.#cutOff ??= {};
  }

  /** The model would have answered with results of its tools. */
  keptResults(): void {
    this.#hasResults = true;
  }

  /** Somebody listens. What has to be said now: an answer (no text), or a text; undefined for nothing. */
  end(how: Resumption): Manner | undefined {
    const cutOff = how === 'continue' ? this.#cutOff : undefined;
    const hasResults = this.#hasResults;
    this.#isOn = false;
    this.#cutOff = undefined;
    this.#hasResults = false;
    return hasResults ? {} : cutOff;
  }
}
