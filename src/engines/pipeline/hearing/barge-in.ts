// The caller makes a sound while the agent speaks: an interruption, or only a sign of listening?
import { FRAME_MS } from '../../../audio/format.js';
import {
  countWords,
  type Lexicon,
  mayBecomeBackchannel,
  isBackchannel,
  wordsOf,
} from '../../languages/lexicon.js';

/**
 * What to do: nothing yet, silence the agent until it is known what was meant, stop it, or forget what the caller said and have a silenced
 * one go on.
 */
export type BargeInDecision = 'wait' | 'pause' | 'interrupt' | 'dismiss';

/**
 * How easily the agent is interrupted as the caller makes a sound. A `thinking` one has said nothing that could be talked over. `careful`: it
 * speaks, and what is heard may well be no interruption: an echo in the first seconds of a call, when cancellers have not settled;
 * the end of what the caller said before, in the first second of an answer; the start of what comes next, in its last.
 */
export type Interruptibility = 'thinking' | 'speaking' | 'careful';

export interface BargeInOptions {
  /** Voice of this length silences the agent before its words are known. */
  readonly voicedMs: number;
  /** This many words interrupt at once. Fewer do once the agent was silenced, or when silence follows them. */
  readonly words: number;
  readonly lexicon: Lexicon;
}

const THINKING_MS = 200;
/** How much longer voice must last where care is due. Source: 800 ms beside 500, above echoes and laughs. */
const CAREFUL_FACTOR = 1.6;

/** Behind a sign of listening, so much silence says that nothing follows. */
const SIGN_OVER_MS = 200;

/**
 * One stretch of caller sound over agent speech. Pure: frames, texts and silence come in, decisions go out, and the first
 * `interrupt` or `dismiss` ends the stretch. Sound alone never gets beyond `pause`, unless the agent has said nothing yet: words decide.
 */
export class BargeIn {
  readonly #lexicon: Lexicon;
  readonly #words: number;
  readonly #voicedToInterruptMs: Readonly<Record<Interruptibility, number>>;
  #voicedMs = 0;
  #silentMs = 0;
  #text = '';
  #open = false;
  #isPaused = false;

  constructor({ voicedMs, words, lexicon }: BargeInOptions) {
    this.#lexicon = lexicon;
    this.#words = words;
    this.#voicedToInterruptMs = {
      thinking: Math.min(THINKING_MS, voicedMs),
      speaking: voicedMs,
      careful: voicedMs * CAREFUL_FACTOR,
    };
  }

  /** True from the beginning of a stretch until what it means is decided: before that, frames mean nothing. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Speech has started `beforeMs` ago: the agent goes on, for now. The frame that told follows. */
  speechStarted(beforeMs = 0): void {
    this.#open = true;
    this.#voicedMs += beforeMs;
  }

  /** `isNothing` is asked before voice has an effect. */
  frame(voiced: boolean, agent: Interruptibility, isNothing = () => false): BargeInDecision {
    if (!this.#open) return 'wait';
    this.#silentMs = voiced ? 0 : this.#silentMs + FRAME_MS;
    if (!voiced) return this.#isPaused && this.#isSignOver ? this.#decide('dismiss') : 'wait';
    this.#voicedMs += FRAME_MS;
    if (this.#isPaused || this.#voicedMs < this.#voicedToInterruptMs[agent]) return 'wait';
    if (isNothing()) {
      this.#voicedMs = 0;
      return 'wait';
    }
    if (agent === 'thinking' || !isBackchannel(this.#text, this.#lexicon)) return this.#decide('interrupt');
    this.#isPaused = true;
    return 'pause';
  }

  /** All text of the stretch so far. To a thinking agent any word is more to think about. */
  text(text: string, agent: Interruptibility, { isFinal = true } = {}): BargeInDecision {
    this.#open = true;
    this.#text = text;
    const { stopWords, backchannels } = this.#lexicon;
    const words = wordsOf(text);
    if (agent === 'thinking' && words.length > 0) return this.#decide('interrupt');
    if (isBackchannel(text, this.#lexicon)) {
      // What it says of the voice so far is known: it takes as much again to mean more.
      this.#voicedMs = 0;
      return this.#isPaused && (isFinal || this.#isSignOver) ? this.#decide('dismiss') : 'wait';
    }
    if (words.some((word) => stopWords.has(word))) return this.#decide('interrupt');
    if (!isFinal && mayBecomeBackchannel(text, this.#lexicon)) return 'wait';
    if (this.#isPaused) return this.#decide('interrupt');
    const meant = agent === 'careful' ? words.filter((word) => !backchannels.has(word)).join(' ') : text;
    return countWords(meant) >= this.#words ? this.#decide('interrupt') : 'wait';
  }

  /** The caller has gone quiet. One plain word is an answer all the same. Words of a sound that has silenced the agent may still come. */
  silence(): BargeInDecision {
    if (this.#isPaused && this.#text === '') return 'wait';
    return this.#decide(isBackchannel(this.#text, this.#lexicon) ? 'dismiss' : 'interrupt');
  }

  reset(): void {
    this.#voicedMs = 0;
    this.#silentMs = 0;
    this.#text = '';
    this.#open = false;
    this.#isPaused = false;
  }

  /** The caller has said nothing but a sign of listening, and says no more. */
  get #isSignOver(): boolean {
    const hasSaid = this.#text !== '' && isBackchannel(this.#text, this.#lexicon);
    return hasSaid && this.#silentMs >= SIGN_OVER_MS;
  }

  #decide(decision: BargeInDecision): BargeInDecision {
    this.reset();
    return decision;
  }
}
