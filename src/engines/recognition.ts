// What the recogniser of a call tells: its words, its troubles, and in time that it has none on what nobody has heard.
import type { Clock, Timer } from '../base/clock.js';
import type { SpeechToTextEvents } from '../providers/speech-to-text.js';
import type { CallerWait } from './caller-wait.js';
import { silentEars } from './pipeline-failure.js';

export interface RecognitionOptions {
  readonly clock: Clock;
  readonly wait: CallerWait;
  /** The caller has made sounds of which there should be words. */
  readonly hasSpoken: () => boolean;
  /** Told of troubles that are over. */
  readonly remedies: Required<Pick<SpeechToTextEvents, 'reconnected' | 'replaced'>>;
  /** False when nobody has to be heard any more. */
  readonly isHearing: () => boolean;
  readonly words: (text: string, options: { isFinal: boolean }) => void;
  /** Words that were open will come again. */
  readonly withdrawn: () => void;
  /** They come from here on. */
  readonly heardAgain: () => void;
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
  /** It has told something by itself. */
  #isAlive = false;
  /** It may be mute, whatever its connection says. */
  #isDoubted = false;
  /** The next text is not what the service says. */
  #isGuess = false;
  /** Runs while it is doubted, until the caller has to hear something. */
  #due: Timer | undefined;

  constructor(options: RecognitionOptions) {
    this.#options = options;
    const { clock, remedies, sound, turnEnded, usage, failed } = options;
    this.events = {
      partial: (text) => this.#recognised(text, { isFinal: false }),
      final: (text) => this.#recognised(text, { isFinal: true }),
      failed,
      speechStarted: () => {
        this.#alive();
        sound();
      },
      turnEnded,
      usage,
      unanswered: () => {
        this.#isGuess = true;
        if (!this.#isAlive) this.awaitWords();
      },
      withdrawn: () => this.#withdrawn(),
      troubled: (_, { agoMs } = { agoMs: 0 }) => {
        this.#deafSince ??= clock.now() - agoMs;
        // What has no final text is sent once more over the next connection.
        this.#withdrawn();
      },
      reconnected: (gap) => {
        this.#deafSince = undefined;
        this.#heardAgain();
        remedies.reconnected(gap);
      },
      replaced: (replacement) => {
        this.#heardAgain();
        remedies.replaced(replacement);
      },
    };
  }

  /** Since when it has no connection, on the clock. */
  get deafSince(): number | undefined {
    return this.#deafSince;
  }

  /** The caller waits for an answer to what it hears: with nothing to say on it in time, it hangs. */
  awaitWords(): void {
    this.#isDoubted = true;
    this.#watch();
  }

  /** The caller has said something, and whether it hears them is not known. */
  get owesWords(): boolean {
    return this.#isDoubted && this.#options.hasSpoken();
  }

  /** It is asked for what it still has. */
  asked(): void {
    if (this.#isDoubted) this.#watch();
  }

  close(): void {
    this.#due?.cancel();
  }

  #recognised(text: string, options: { isFinal: boolean }): void {
    if (!this.#isGuess) this.#alive();
    this.#isGuess = false;
    const { isHearing, words } = this.#options;
    // A recogniser of the application may be plain JavaScript.
    if (typeof text === 'string' && isHearing()) words(text, options);
  }

  #alive(): void {
    this.#isAlive = true;
    this.#isDoubted = false;
    this.#due?.cancel();
    this.#due = undefined;
  }

  /** While the caller makes a sound they do not wait: it is asked again behind that. */
  #watch(): void {
    const { clock, wait, failed } = this.#options;
    if (this.#due !== undefined || !wait.isOn) return;
    this.#due = clock.after(Math.max(0, wait.leftMs()), () => {
      this.#due = undefined;
      if (wait.isOn && wait.leftMs() > 0) this.#watch();
      else if (wait.isOn && this.owesWords) failed(silentEars());
    });
  }

  #withdrawn(): void {
    const { isHearing, withdrawn } = this.#options;
    if (isHearing()) withdrawn();
  }

  #heardAgain(): void {
    const { isHearing, heardAgain } = this.#options;
    if (isHearing()) heardAgain();
  }
}
