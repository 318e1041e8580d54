// The caller as the service hears them: whether they speak, when they stopped, and what of their words has come.

export class OpenAIRealtimeHearing {
  readonly #texts = new Map<string, string>();
  /** Where the turns end whose text has not come. */
  readonly #ends = new Map<string, number>();
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
    const text = (this.#texts.get(itemId) ?? '') + delta;
    this.#texts.set(itemId, text);
    return text;
  }

  /** The turn of an item ends `atMs` into the audio, and its text is to come. */
  awaitsText(itemId: string, atMs: number): void {
    this.#ends.set(itemId, atMs);
  }

  /** The text of an item is there. Returns where in the audio its turn ends; undefined where nobody waits to know. */
  settled(itemId: string): number | undefined {
    const atMs = this.#ends.get(itemId);
    this.#texts.delete(itemId);
    this.#ends.delete(itemId);
    return atMs;
  }

  /** What was said is being answered. Returns where in the audio the last turn ends that had no text; undefined when there is none. */
  answered(): number | undefined {
    const atMs = [...this.#ends.values()].at(-1);
    this.#ends.clear();
    return atMs;
  }

  /** Another connection knows none of it. */
  reset(): void {
    this.#texts.clear();
    this.#ends.clear();
    this.#isSpeaking = false;
    this.#endMs = undefined;
  }
}
