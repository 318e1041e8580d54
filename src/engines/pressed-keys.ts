// Keys that the caller presses, gathered until they are complete: `#` ends them, or a pause.
import type { Clock, Timer } from '../base/clock.js';

export interface PressedKeysOptions {
  readonly clock: Clock;
  /** Pause after which no further key belongs to the last ones. */
  readonly pauseMs: number;
  readonly onComplete: (keys: string) => void;
}

/** More keys than any menu or number asks for. */
const MAX_KEYS = 64;

export class PressedKeys {
  readonly #options: PressedKeysOptions;
  #keys = '';
  #timer: Timer | undefined;

  constructor(options: PressedKeysOptions) {
    this.#options = options;
  }

  press(key: string): void {
    this.#keys += key;
    this.#timer?.cancel();
    if (key === '#' || this.#keys.length >= MAX_KEYS) this.#complete();
    else this.#timer = this.#options.clock.after(this.#options.pauseMs, () => this.#complete());
  }

  /** Gives the keys out as they are, and waits for no more. */
  take(): string {
    const keys = this.#keys;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#keys = '';
    return keys;
  }

  #complete(): void {
    this.#options.onComplete(this.take());
  }
}

/** What keys are announced with. */
export const KEYS_TEXT = 'The caller pressed ';

/** Keys as the language stage reads them. */
export function keysAsText(keys: string): string {
  return `${KEYS_TEXT}${[...keys].join(' ')}`;
}
