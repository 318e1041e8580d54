// A reply with tools has rounds: the model says something and calls tools, is told the results, and goes on.
import type { ToolRun } from './tool-run.js';

/** What was said in a round, and the tools that were called behind it. */
export interface Round {
  /** As spoken, or as far as it was heard. */
  readonly text: string;
  readonly runs: readonly ToolRun[];
}

/** A round of which nothing is lost yet. */
export interface SaidRound {
  readonly sentences: readonly string[];
  readonly runs: readonly ToolRun[];
}

/** Deals the text that was heard of a reply out to its rounds; `heardAfter` was said after the last of them. */
export function dealOut(
  heard: string,
  rounds: readonly SaidRound[],
): { rounds: Round[]; heardAfter: string } {
  let left = heard;
  const dealt = rounds.map(({ sentences, runs }) => {
    const parts: string[] = [];
    for (const sentence of sentences) {
      // A sentence that the voice had no sound for was not heard, and what follows it was.
      const part = left.startsWith(sentence) ? sentence : sentence.startsWith(left) ? left : '';
      if (part === '') continue;
      parts.push(part);
      left = left.slice(part.length).trimStart();
    }
    return { text: parts.join(' '), runs };
  });
  return { rounds: dealt, heardAfter: left };
}
