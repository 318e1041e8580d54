// The tokens of one turn, as far as providers report them. Pure.
import type { TurnTokens } from '../../contract/call-record.js';
import type { UsageQuantities } from '../../engines/engine.js';

/** Plain JSON. `unknown`: some of it was not reported. Null before anything was used. */
export type TokenCount = TurnTokens | 'unknown' | null;

const TOKENS = [
  'inputTokens',
  'cachedTokens',
  'audioInputTokens',
  'outputTokens',
  'audioOutputTokens',
] as const satisfies readonly (keyof TurnTokens)[];

/** Of one report, each token counted in every sum that it is part of. */
export function tokensOf(quantities: UsageQuantities): TurnTokens {
  const { inputTokens = 0, cachedInputTokens = 0, cacheWrittenTokens = 0, outputTokens = 0 } = quantities;
  const { audioInputTokens = 0, cachedAudioInputTokens = 0, audioOutputTokens = 0 } = quantities;
  const audio = audioInputTokens + cachedAudioInputTokens;
  return {
    inputTokens: inputTokens + cachedInputTokens + cacheWrittenTokens + audio,
    cachedTokens: cachedInputTokens + cachedAudioInputTokens,
    audioInputTokens: audio,
    outputTokens: outputTokens + audioOutputTokens,
    audioOutputTokens,
  };
}

/** With another report. One without tokens, such as of time, adds nothing. */
export function withTokens(
  count: TokenCount,
  tokens: TurnTokens,
  { isGuess }: { isGuess: boolean },
): TokenCount {
  if (isGuess || count === 'unknown') return 'unknown';
  if (tokens.inputTokens + tokens.outputTokens === 0) return count;
  return count === null ? tokens : combined(count, tokens, (one, other) => one + other);
}

/** What two have told of the same turn, of which the later one may have been lost. */
export function mostTokens(one: TokenCount, other: TokenCount): TokenCount {
  if (one === null || other === null) return one ?? other;
  if (one === 'unknown' || other === 'unknown') return 'unknown';
  return combined(one, other, Math.max);
}

function combined(
  one: TurnTokens,
  other: TurnTokens,
  combine: (one: number, other: number) => number,
): TurnTokens {
  const sums = TOKENS.map((name) => [name, combine(one[name], other[name])] as const);
  return Object.fromEntries(sums) as unknown as TurnTokens;
}
