// The carrier's own voice on a leg: one text after the other, each for as long as it takes to say it.
import type { Clock, Timer } from '../../base/clock.js';
import { PlaybackClock } from '../playback.js';
import { makeSpeechTones } from '../tones.js';

/** A slow reader: about 170 words a minute. */
const MS_PER_CHARACTER = 60;
const MIN_SPEECH_MS = 500;

export interface CarrierVoiceOptions {
  clock: Clock;
  emit(event: 'call.speak.started' | 'call.speak.ended', payload: Readonly<Record<string, unknown>>): void;
  /** The person begins to hear the voice. */
  onFirstSound(playback: PlaybackClock): void;
}

/** How long a text takes to say. */
export function speechTimeMs(text: string): number {
  return Math.max(MIN_SPEECH_MS, text.length * MS_PER_CHARACTER);
}

export class CarrierVoice {
  /** What was begun to be said. */
  readonly spoken: string[] = [];
  readonly #options: CarrierVoiceOptions;
  readonly #waiting: string[] = [];
  #playback: PlaybackClock | undefined;
  #timer: Timer | undefined;

  constructor(options: CarrierVoiceOptions) {
    this.#options = options;
  }

  /** Says a text after those before it. */
  speak(text: string): void {
    this.#waiting.push(text);
    if (this.#timer === undefined) this.#next();
  }

  /** The leg is over, in the middle of a text or not. Idempotent. */
  close(): void {
    this.#waiting.length = 0;
    this.#playback?.close();
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#timer = undefined;
    this.#options.emit('call.speak.ended', { status: 'call_hangup' });
  }

  #next(): void {
    const { clock, emit, onFirstSound } = this.#options;
    const text = this.#waiting.shift();
    if (text === undefined) return;
    this.spoken.push(text);
    emit('call.speak.started', {});
    if (this.#playback === undefined) {
      this.#playback = new PlaybackClock({ clock, echoMark() {} });
      onFirstSound(this.#playback);
    }
    const durationMs = speechTimeMs(text);
    this.#playback.enqueue(makeSpeechTones(durationMs));
    this.#timer = clock.after(durationMs, () => {
      this.#timer = undefined;
      emit('call.speak.ended', { status: 'completed' });
      this.#next();
    });
  }
}
