// What the agent says on a call with a realtime model: one answer at a time, each an account of its own.
import type { EngineContext } from './engine.js';
import { RealtimeSpeech } from './realtime-speech.js';
import type { RealtimeTurns } from './realtime-turns.js';

/** How an answer is to be taken. */
export interface Manner {
  /** What the agent was told to say, word for word. */
  readonly text?: string;
  readonly isGreeting?: boolean;
  /** The call ends with it, unless the caller has something to say. */
  readonly isLast?: boolean;
  /** The same, and it is the agent who wants the call to end. */
  readonly isGoodbye?: boolean;
}

export interface RealtimeVoiceOptions {
  readonly context: EngineContext;
  readonly turns: RealtimeTurns;
  /** Everything that came so far has been heard, and no response is under way. */
  readonly caughtUp: () => void;
  /** An answer has more text than anybody would listen to. */
  readonly tooMuch: () => void;
}

export class RealtimeVoice {
  readonly #options: RealtimeVoiceOptions;
  #speech: RealtimeSpeech | undefined;
  #manner: Manner = {};
  #count = 0;

  constructor(options: RealtimeVoiceOptions) {
    this.#options = options;
  }

  /** The answer that is on; undefined while the agent has nothing to say. */
  get speech(): RealtimeSpeech | undefined {
    return this.#speech;
  }

  /** Of the answer that is on. */
  get manner(): Manner {
    return this.#manner;
  }

  /** True when something is still to be heard, or on its way. */
  get isBusy(): boolean {
    return this.#speech !== undefined && !this.#speech.caughtUp;
  }

  /** The connection is gone. What is left of what the agent was told to say; undefined where it was told nothing, or that is complete. */
  breakOff(): string | undefined {
    const { text } = this.#manner;
    return text === undefined ? undefined : this.#speech?.breakOff(text);
  }

  /** An answer begins. */
  begin(manner: Manner = {}): RealtimeSpeech {
    const { context, turns, caughtUp, tooMuch } = this.#options;
    this.#count += 1;
    this.#manner = manner;
    turns.answer();
    this.#speech = new RealtimeSpeech({
      id: `answer-${this.#count}`,
      playout: context.playout,
      clock: context.clock,
      events: {
        firstFrameSent: (at) => turns.firstFrameSent(at),
        firstFrameHeard: (at) => turns.firstFrameHeard(at),
        spoken: (text) => turns.spoken(text),
        caughtUp,
        tooMuch,
      },
    });
    return this.#speech;
  }

  /** The answer is over. Returns what its manner was. */
  end(): Manner {
    const manner = this.#manner;
    this.#manner = {};
    this.#speech = undefined;
    return manner;
  }
}
