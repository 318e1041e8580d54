// What the recogniser of a call tells: its words, its troubles, and in time that it has none on what nobody has heard.
import type { Clock, Timer } from '../base/clock.js';
import type { SpeechToTextEvents } from '../providers/speech-to-text.js';
import type { CallerWait } from './caller-wait.js';
import { silentEars } from './pipeline-failure.js';

export interface RecognitionOptions {
  readonly clock: Clock;
  readonly wait: CallerWait;
  /** Told of troubles that are over. */
  readonly remedies: Required<Pick<SpeechToTextEvents, 'reconnected' | 'replaced'>>;
  /** False when nobody has to be heard any more. */
  readonly isHearing: () => boolean;
  readonly words: (text: string, options: { isFinal: boolean }) => void;
  /** Words that were open will come again. */
  readonly withdrawn: () => void;
  /** It hears speech. */
  readonly sound: () => void;
  readonly turnEnded: () => void;
  readonly usage: NonNullable<SpeechToTextEvents['usage']>;
  readonly failed: (error: unknown) => void;
}

/** One per call. */
export class Recognition {
  readonly events: SpeechToTextEvents;
  readonly #options: RecognitionOptions;
  #deafSince: number | undefined;
  /** Runs until there is a word on what nobody had heard before this engine. */
  #due: Timer | undefined;

  constructor(options: RecognitionOptions) {
    this.#options = options;
    const { clock, remedies, sound, turnEnded, usage, failed } = options;
    this.events = {
      partial: (text) => this.#recognised(text, { isFinal: false }),
      final: (text) => this.#recognised(text, { isFinal: true }),
      failed,
      speechStarted: () => {
        this.#due?.cancel();
        sound();
      },
      turnEnded,
      usage,
      withdrawn: () => this.#withdrawn(),
      troubled: (_, { agoMs } = { agoMs: 0 }) => {
        this.#deafSince ??= clock.now() - agoMs;
        // What has no final text is sent once more over the next connection.
        this.#withdrawn();
      },
      reconnected: (gap) => {
        this.#deafSince = undefined;
        remedies.reconnected(gap);
      },
      replaced: remedies.replaced,
    };
  }

  /** Since when it has no connection, on the clock. */
  get deafSince(): number | undefined {
    return this.#deafSince;
  }

  /** The caller waits for an answer to what is played to the recogniser now: with nothing to say on it in time, it hangs. */
  awaitWords(): void {
    const { clock, wait, failed } = this.#options;
    this.#due = clock.after(Math.max(0, wait.leftMs()), () => {
      if (wait.isOn && wait.leftMs() <= 0) failed(silentEars());
    });
  }

  close(): void {
    this.#due?.cancel();
  }

  #recognised(text: string, options: { isFinal: boolean }): void {
    this.#due?.cancel();
    const { isHearing, words } = this.#options;
    // A recogniser of the application may be plain JavaScript.
    if (typeof text === 'string' && isHearing()) words(text, options);
  }

  #withdrawn(): void {
    const { isHearing, withdrawn } = this.#options;
    if (isHearing()) withdrawn();
  }
}
