// The caller as the service hears them: whether they speak, when they stopped, and what of their words has come.
import { forgetOldest, KEPT_CHARS } from '../../wire/bounds.js';

/** Texts that are under way at once. */
const KEPT_TEXTS = 32;

export class OpenAIRealtimeHearing {
  readonly #texts = new Map<string, string>();
  #isSpeaking = false;
  #endMs: number | undefined;

  /** The caller speaks, and the end of it was not told. */
  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  started(): void {
    this.#isSpeaking = true;
  }

  /** The detector has noticed the end `endMs` into the audio. */
  stopped(endMs: number | undefined): void {
    this.#endMs = endMs;
  }

  /** Position in the audio where the turn ends, as far as it was told. */
  get endMs(): number | undefined {
    return this.#endMs;
  }

  /** The turn is over. Says how long ago the last sound was, where `sentMs` of audio were sent and the detector waits for `silenceMs`. */
  ended({ sentMs, silenceMs }: { sentMs: number; silenceMs: number }): number {
    const endedMs = (this.#endMs ?? sentMs) - silenceMs;
    this.#endMs = undefined;
    this.#isSpeaking = false;
    return Math.max(0, sentMs - endedMs);
  }

  /** Adds to the text of an item. Returns all of it so far. */
  grew(itemId: string, delta: string): string {
    const text = ((this.#texts.get(itemId) ?? '') + delta).slice(0, KEPT_CHARS);
    this.#texts.set(itemId, text);
    forgetOldest(this.#texts, KEPT_TEXTS);
    return text;
  }

  /** The text of an item is there. */
  settled(itemId: string): void {
    this.#texts.delete(itemId);
  }

  /** Another connection knows none of it. */
  reset(): void {
    this.#texts.clear();
    this.#isSpeaking = false;
    this.#endMs = undefined;
  }
}
