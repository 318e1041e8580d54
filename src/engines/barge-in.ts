// The caller makes a sound while the agent speaks: an interruption, or only a sign of listening?
import { FRAME_MS } from '../audio/format.js';

/** What to do: nothing yet, stop the agent, or forget what the caller said. */
export type BargeInDecision = 'wait' | 'interrupt' | 'dismiss';

/** What the agent does while the caller makes a sound. A thinking one has said nothing that could be talked over. */
export type AgentPhase = 'thinking' | 'speaking';

/** Voice of this length is an interruption whatever it says. */
const VOICED_TO_INTERRUPT_MS: Readonly<Record<AgentPhase, number>> = { thinking: 200, speaking: 500 };
const WORDS_TO_INTERRUPT = 2;
const STOP_WORDS = new Set(['wait', 'stop', 'no']);
const BACKCHANNEL = new Set(
  'mm|hm|hmm|mhm|mmhm|mm-hm|mm-hmm|uh-huh|uhuh|ok|okay|yes|yeah|yep|right|sure|ah|oh|aha|i see|got it'.split(
    '|',
  ),
);

/** True for empty text and for the small sounds of a listener. */
export function isBackchannel(text: string): boolean {
  const said = wordsOf(text);
  return said.length === 0 || BACKCHANNEL.has(said.join(' ')) || said.every((word) => BACKCHANNEL.has(word));
}

/**
 * One stretch of caller sound over agent speech. Pure: frames, texts and silence come in, decisions go out, and the first
 * `interrupt` or `dismiss` ends the stretch.
 */
export class BargeIn {
  #voicedMs = 0;
  #text = '';
  #open = false;

  /** Speech has started `beforeMs` ago: the agent goes on, for now. The frame that told follows. */
  speechStarted(beforeMs = 0): void {
    this.#open = true;
    this.#voicedMs += beforeMs;
  }

  frame(voiced: boolean, agent: AgentPhase): BargeInDecision {
    if (!this.#open || !voiced) return 'wait';
    this.#voicedMs += FRAME_MS;
    return this.#voicedMs >= VOICED_TO_INTERRUPT_MS[agent] ? this.#decide('interrupt') : 'wait';
  }

  /** All text of the stretch so far. To a thinking agent any word is more to think about. */
  text(text: string, agent: AgentPhase): BargeInDecision {
    this.#open = true;
    this.#text = text;
    if (agent === 'thinking' && wordsOf(text).length > 0) return this.#decide('interrupt');
    if (isBackchannel(text)) return 'wait';
    const words = wordsOf(text);
    const meant = words.length >= WORDS_TO_INTERRUPT || words.some((word) => STOP_WORDS.has(word));
    return meant ? this.#decide('interrupt') : 'wait';
  }

  /** The caller has gone quiet. One plain word is an answer all the same. */
  silence(): BargeInDecision {
    return this.#decide(isBackchannel(this.#text) ? 'dismiss' : 'interrupt');
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

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}'-]+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
}
