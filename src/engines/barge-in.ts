// The caller makes a sound while the agent speaks: an interruption, or only a sign of listening?
import { FRAME_MS } from '../audio/format.js';
import { countWords, type Lexicon, lexiconFor, wordsOf } from './lexicon.js';

/** What to do: nothing yet, stop the agent, or forget what the caller said. */
export type BargeInDecision = 'wait' | 'interrupt' | 'dismiss';

/**
 * What the agent does while the caller makes a sound. A `thinking` one has said nothing that could be talked over. `careful`: it
 * speaks, and what is heard may well be no interruption: an echo in the first seconds of a call, when cancellers have not settled;
 * the end of what the caller said before, in the first second of an answer; the start of what comes next, in its last.
 */
export type AgentPhase = 'thinking' | 'speaking' | 'careful';

export interface BargeInOptions {
  /** Voice of this length is an interruption whatever it says. */
  readonly voicedMs: number;
  /** So are this many words. */
  readonly words: number;
  readonly lexicon: Lexicon;
}

const THINKING_MS = 200;
/** How much longer voice must last where care is due. Source: 800 ms at the default, above echoes and laughs. */
const CAREFUL_FACTOR = 1.6;

/** True for empty text and for the small sounds of a listener. */
export function isBackchannel(text: string, lexicon: Lexicon = lexiconFor(undefined)): boolean {
  const said = wordsOf(text);
  const { backchannels } = lexicon;
  return (
    said.length === 0 || backchannels.has(said.join(' ')) || said.every((word) => backchannels.has(word))
  );
}

/**
 * One stretch of caller sound over agent speech. Pure: frames, texts and silence come in, decisions go out, and the first
 * `interrupt` or `dismiss` ends the stretch.
 */
export class BargeIn {
  readonly #lexicon: Lexicon;
  readonly #words: number;
  readonly #voicedToInterruptMs: Readonly<Record<AgentPhase, number>>;
  #voicedMs = 0;
  #text = '';
  #open = false;

  constructor(options: BargeInOptions = { voicedMs: 500, words: 2, lexicon: lexiconFor(undefined) }) {
    const { voicedMs, words, lexicon } = options;
    this.#lexicon = lexicon;
    this.#words = words;
    this.#voicedToInterruptMs = {
      thinking: Math.min(THINKING_MS, voicedMs),
      speaking: voicedMs,
      careful: voicedMs * CAREFUL_FACTOR,
    };
  }

  /** Speech has started `beforeMs` ago: the agent goes on, for now. The frame that told follows. */
  speechStarted(beforeMs = 0): void {
    this.#open = true;
    this.#voicedMs += beforeMs;
  }

  frame(voiced: boolean, agent: AgentPhase): BargeInDecision {
    if (!this.#open || !voiced) return 'wait';
    this.#voicedMs += FRAME_MS;
    return this.#voicedMs >= this.#voicedToInterruptMs[agent] ? this.#decide('interrupt') : 'wait';
  }

  /** All text of the stretch so far. To a thinking agent any word is more to think about. */
  text(text: string, agent: AgentPhase): BargeInDecision {
    this.#open = true;
    this.#text = text;
    const { stopWords, backchannels } = this.#lexicon;
    const words = wordsOf(text);
    if (agent === 'thinking' && words.length > 0) return this.#decide('interrupt');
    if (isBackchannel(text, this.#lexicon)) return 'wait';
    if (words.some((word) => stopWords.has(word))) return this.#decide('interrupt');
    const meant = agent === 'careful' ? words.filter((word) => !backchannels.has(word)).join(' ') : text;
    return countWords(meant) >= this.#words ? this.#decide('interrupt') : 'wait';
  }

  /** The caller has gone quiet. One plain word is an answer all the same. */
  silence(): BargeInDecision {
    return this.#decide(isBackchannel(this.#text, this.#lexicon) ? 'dismiss' : 'interrupt');
  }

  reset(): void {
    this.#voicedMs = 0;
    this.#text = '';
    this.#open = false;
  }

  #decide(decision: BargeInDecision): BargeInDecision {
    this.reset();
    return decision;
  }
}
