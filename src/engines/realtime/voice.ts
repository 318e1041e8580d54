// What the agent says on a call with a realtime model: one answer at a time, each an account of its own.
import type { EngineContext } from '../engine.js';
import { RealtimeSpeech } from './speech.js';
import type { RealtimeWatch } from './watch.js';
import type { TurnBook } from '../turn-book.js';

export interface RealtimeVoiceOptions {
  readonly context: EngineContext;
  readonly turns: TurnBook;
  /** The caller can hear the first of an answer. */
  readonly audible: () => void;
  /** Told of the sound that there is for the caller. */
  readonly watch: Pick<RealtimeWatch, 'sounds'>;
  /** Everything that came so far has been heard, and no response is under way. */
  readonly caughtUp: () => void;
  /** An answer has more text than anybody would listen to. */
  readonly tooMuch: () => void;
}

export class RealtimeVoice {
  readonly #options: RealtimeVoiceOptions;
  #speech: RealtimeSpeech | undefined;
  /** What the agent was told to say, word for word. */
  #told: string | undefined;
  #count = 0;

  constructor(options: RealtimeVoiceOptions) {
    this.#options = options;
  }

  /** The answer that is on; undefined while the agent has nothing to say. */
  get speech(): RealtimeSpeech | undefined {
    return this.#speech;
  }

  /** True when something is still to be heard, or on its way. */
  get isBusy(): boolean {
    return this.#speech !== undefined && !this.#speech.caughtUp;
  }

  /** The connection is gone. What is left of what the agent was told to say; undefined where it was told nothing, or that is complete. */
  breakOff(): string | undefined {
    return this.#told === undefined ? undefined : this.#speech?.breakOff(this.#told);
  }

  /** An answer begins. `told`: what the agent was told to say, word for word. */
  begin(told?: string): RealtimeSpeech {
    const { context, turns, audible, watch, caughtUp, tooMuch } = this.#options;
    this.#count += 1;
    this.#told = told;
    this.#speech = new RealtimeSpeech({
      id: `answer-${this.#count}`,
      playout: context.playout,
      clock: context.clock,
      events: {
        firstFrameSent: (at) => {
          turns.firstFrameSent(at);
          audible();
        },
        firstFrameHeard: (at) => turns.firstFrameHeard(at),
        spoken: (text) => turns.spoken(text),
        sounds: (until) => watch.sounds(until),
        caughtUp,
        tooMuch,
      },
    });
    return this.#speech;
  }

  /** The answer is over. */
  end(): void {
    this.#told = undefined;
    this.#speech = undefined;
  }
}
