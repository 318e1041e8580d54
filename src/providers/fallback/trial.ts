// How long a provider is tried that has another one behind it.
import type { Patience } from '../patience.js';

export interface Trial {
  /** Since when a provider is tried, on the clock. */
  readonly since: number;
  readonly now: number;
  /** What it has at most. */
  readonly ownMs: number;
  /** What the one behind it needs. */
  readonly nextMs: number;
}

/** What is left to a provider that is tried. */
export interface TrialLeft {
  readonly leftMs: number;
  /** It has had enough time already that not to answer says something about it, and not about the caller's wait. */
  readonly isFair: boolean;
}

/** How much longer a provider may take that has another one behind it. Where there is little time, they have half of it each. */
export function leftOfTrial(patience: Patience | undefined, { since, now, ownMs, nextMs }: Trial): TrialLeft {
  const passedMs = now - since;
  const allMs = (patience?.leftMs() ?? Number.POSITIVE_INFINITY) + passedMs;
  const leftMs = Math.min(ownMs, Math.max(allMs - nextMs, allMs / 2)) - passedMs;
  return { leftMs, isFair: passedMs >= ownMs / 2 };
}
