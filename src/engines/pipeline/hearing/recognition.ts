// What the recognizer of a call tells: its words, its troubles, and in time that it has none on what nobody has heard.
import type { Clock, Timer } from '../../../base/clock.js';
import type { PieceLanguage, SpeechToTextEvents } from '../../../providers/speech-to-text.js';
import type { CallerWait } from '../caller-wait.js';
import { silent } from '../../failure.js';

export interface RecognitionOptions {
  readonly clock: Clock;
  readonly wait: CallerWait;
  /** It is played what nobody had heard before this engine. */
  readonly isSuccessor: boolean;
  /** The caller has made sounds of which there should be words. */
  readonly hasSpoken: () => boolean;
  /** Told of troubles that are over. */
  readonly remedies: Required<Pick<SpeechToTextEvents, 'reconnected' | 'replaced'>>;
  /** False when nobody has to be heard any more. */
  readonly isHearing: () => boolean;
  /** `isUnanswered`: so much is known without an answer of its service, and it may have heard nothing of what was said. */
  readonly words: (
    text: string,
    options: { isFinal: boolean; isUnanswered: boolean; language: PieceLanguage | undefined },
  ) => void;
  /** What was said so far has its text, or none. */
  readonly settled: () => void;
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

/** Longest piece of text: some minutes of speech. A recognizer that goes on has lost its way. */
const MAX_PIECE_CHARS = 4000;

/** One per call. */
export class Recognition {
  readonly events: SpeechToTextEvents;
  readonly #options: RecognitionOptions;
  #deafSince: number | undefined;
  #trouble: Error | undefined;
  /** It has told something by itself. */
  #isAlive = false;
  /** It has given no sign since it took the call over, or since it had no connection. */
  #isUnproven: boolean;
  /** Its service has not answered, and has given no sign since. */
  #isMute = false;
  /** Runs while a caller waits for the words of one who may have heard nothing. */
  #due: Timer | undefined;
  #askedAt = 0;
  /** Who waits is in doubt: there were no words, of one who may have heard nothing. */
  #isInDoubt = false;

  constructor(options: RecognitionOptions) {
    this.#options = options;
    this.#isUnproven = options.isSuccessor;
    const { clock, wait, remedies, settled, sound, turnEnded, usage, failed } = options;
    this.events = {
      partial: (text) => this.#recognized(text, { isFinal: false }),
      final: (text, language) => this.#recognized(text, { isFinal: true, language }),
      failed,
      speechStarted: () => {
        this.#answers();
        sound();
      },
      turnEnded,
      usage,
      withdrawn: () => this.#withdrawn(),
      unanswered: () => {
        this.#isMute = true;
        if (this.#isAlive) return;
        this.#isUnproven = true;
        if (wait.isOn) this.asked();
      },
      settled: () => {
        this.#isMute = false;
        settled();
      },
      troubled: (error, { agoMs } = { agoMs: 0 }) => {
        this.#deafSince ??= clock.now() - agoMs;
        this.#trouble = error;
        this.#isUnproven = true;
        if (wait.isOn) this.asked();
        // What has no final text is sent once more over the next connection.
        this.#withdrawn();
      },
      reconnected: (gap) => {
        this.#deafSince = undefined;
        this.#trouble = undefined;
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

  /** The caller waits for what it makes of what they said. Without a sign of it in time, it hangs. */
  asked(): void {
    this.rest();
    if (!this.#isUnproven) return;
    const { clock } = this.#options;
    this.#askedAt = clock.now();
    // A moment later: what it is played of the past is no longer the present then.
    this.#watch(0);
  }

  /** It had no words in time: nobody waits for an answer to a sound without words, if that is what it was. */
  wordless(): void {
    this.#isInDoubt = this.#isUnproven && this.#owesWords;
    if (!this.#isInDoubt) this.#options.wait.end();
  }

  /** Nobody waits for its words. */
  rest(): void {
    this.#due?.cancel();
    this.#isInDoubt = false;
  }

  close(): void {
    this.rest();
  }

  /** The recognizer need not report a sound that is too short for a word. */
  get #owesWords(): boolean {
    return this.#deafSince !== undefined || this.#options.hasSpoken();
  }

  /** Without a connection it is given up while there is time for the voice to say so. */
  get #leftMs(): number {
    const { wait } = this.#options;
    return (this.#deafSince === undefined ? wait : wait.thinking).leftMs();
  }

  #watch(leftMs: number): void {
    const { clock, wait, isHearing, failed } = this.#options;
    this.#due = clock.after(leftMs, () => {
      // The caller was told something else meanwhile.
      if (!isHearing() || !wait.isOn || wait.soundsUntil > this.#askedAt) return;
      const nowLeftMs = this.#leftMs;
      // With words that its voice is late with, the caller waits for the voice.
      if (nowLeftMs === Number.POSITIVE_INFINITY) return;
      if (nowLeftMs > 0) this.#watch(nowLeftMs);
      else if (this.#owesWords) failed(this.#trouble ?? silent('recognizer'));
    });
  }

  /** It hears the caller. */
  #answers(): void {
    const { wait } = this.#options;
    this.#isAlive = true;
    this.#isUnproven = this.#deafSince !== undefined;
    this.#isMute = false;
    if (this.#isUnproven) return;
    if (this.#isInDoubt) wait.end();
    this.rest();
  }

  #recognized(
    text: string,
    { isFinal, language }: { isFinal: boolean; language?: PieceLanguage | undefined },
  ): void {
    const { isHearing, words } = this.#options;
    // A recognizer of the application may be plain JavaScript.
    if (typeof text !== 'string') return;
    const isUnanswered = this.#isMute && text === '';
    if (!isUnanswered) this.#answers();
    if (isHearing()) words(text.slice(0, MAX_PIECE_CHARS), { isFinal, isUnanswered, language });
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
