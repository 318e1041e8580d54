// Tokens of a reply whose vendor did not say, by the length of the texts.
import type { TokenUsage } from '../language-model.js';

/** A usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

export function estimateUsage(characters: { input: number; output: number }): TokenUsage {
  return {
    inputTokens: toTokens(characters.input),
    cachedTokens: 0,
    outputTokens: toTokens(characters.output),
    estimated: true,
  };
}

export function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
