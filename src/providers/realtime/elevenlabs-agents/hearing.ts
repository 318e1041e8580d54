// The caller as the service hears them, and when their last sound was: by the service's own scores where the agent tells them, else
// by how loud the caller's audio is. Exact to the distance of two scores, or of two chunks of audio (20 ms).
import type { AudioFormat } from '../../../audio/format.js';
import type { Clock } from '../../../base/clock.js';
import { transcoder } from '../../../transcoder/select.js';

/** A score above this is speech. */
const VOICE_SCORE = 0.5;

/** Samples louder than this, some 30 dB below full scale, are more than noise of a line. */
const LOUD_SAMPLE = 1000;
/** One in so many samples has to be loud. */
const LOUD_SHARE = 20;

export class ElevenLabsAgentsHearing {
  readonly #clock: Clock;
  #turns = 0;
  #isSpeaking = false;
  #hasScores = false;
  #soundAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The caller speaks, and the end of it was not told. */
  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** Id of what the caller says now, or says next. */
  get itemId(): string {
    return `caller-${this.#turns + 1}`;
  }

  /** Takes caller audio as it comes from the line. */
  heard(audio: Uint8Array, format: AudioFormat): void {
    if (!this.#hasScores && isLoud(audio, format)) this.#soundAt = this.#clock.now();
  }

  score(score: number): void {
    this.#hasScores = true;
    if (score >= VOICE_SCORE) this.#soundAt = this.#clock.now();
  }

  /** Returns false when that was known. */
  started(): boolean {
    if (this.#isSpeaking) return false;
    this.#isSpeaking = true;
    return true;
  }

  /** The turn is over. Says whose end it is, and how long ago the last sound was. */
  ended(): { itemId: string; agoMs: number } {
    const { itemId } = this;
    this.#turns += 1;
    this.#isSpeaking = false;
    const agoMs = this.#soundAt === undefined ? 0 : Math.max(0, this.#clock.now() - this.#soundAt);
    this.#soundAt = undefined;
    return { itemId, agoMs };
  }

  /** Another connection knows none of it. */
  reset(): void {
    if (this.#isSpeaking) this.#turns += 1;
    this.#isSpeaking = false;
    this.#hasScores = false;
  }
}

function isLoud(audio: Uint8Array, { encoding }: AudioFormat): boolean {
  const samples =
    encoding === 'pcm'
      ? new Int16Array(audio.slice(0, audio.length - (audio.length % 2)).buffer)
      : transcoder.mulawDecode(audio);
  let loud = 0;
  for (const sample of samples) if (sample > LOUD_SAMPLE || sample < -LOUD_SAMPLE) loud += 1;
  return loud * LOUD_SHARE > samples.length;
}
