// When another engine begins in the place of one that is at its end, and what it begins with. Pure, as `wait.ts`.
import type { Resumption } from './floor.js';
import { LIMITS } from './limits.js';
import type { ConversationState } from './state.js';
import { type Ms, silentMs, type Wait } from './wait.js';

/** A conversation that an engine has left, and what the line knows of it. */
export interface LeftCall {
  readonly state: ConversationState;
  /** How the hold has ended in which it was left; null where there was none. */
  readonly resumption: Resumption | null;
  /** Tools that it has begun go on. */
  readonly hasTools: boolean;
  /** Audio of the caller that came while there was no engine. */
  readonly missedMs: Ms;
  readonly at: Ms;
}

/**
 * Whoever comes back from elsewhere no longer waits for what was owed before, but for what came of it. What somebody outside has asked for is still
 * said behind that.
 */
export function stillOwed({ state, resumption, hasTools }: LeftCall): ConversationState {
  if (resumption === null || resumption === 'continue' || hasTools) return state;
  const { floor, owed } = state;
  const isTold = typeof resumption === 'object';
  const isRequest = owed.kind === 'rest' && owed.manner.request !== undefined;
  const requests = isRequest ? [{ text: owed.text, manner: owed.manner }, ...floor.requests] : floor.requests;
  return {
    ...state,
    floor: { ...floor, requests },
    owed: isTold ? { kind: 'rest', text: resumption.news, manner: { isNews: true } } : { kind: 'nothing' },
  };
}

/** How much of what the caller said nobody has heard. */
export function unheardMs({ state: { unheardSince }, missedMs, at }: LeftCall): Ms {
  return Math.max(unheardSince === null ? 0 : at - unheardSince, missedMs);
}

/**
 * How long the caller has waited: for what is owed to them, or an answer to what nobody has heard. Undefined: for nothing. `callerMs`: how long
 * ago they spoke behind what the agent said, and `agentMs`: how long ago that was heard, as the line tells.
 */
export function waitedMs(
  left: LeftCall,
  { callerMs, agentMs }: { callerMs: Ms | undefined; agentMs: Ms },
): Ms | undefined {
  const isOwed = stillOwed(left).owed.kind !== 'nothing';
  // During a hold nobody waits.
  if (left.resumption !== null) return isOwed ? 0 : undefined;
  if (!isOwed && (callerMs === undefined || callerMs > unheardMs(left))) return undefined;
  return callerMs ?? agentMs;
}

/** True where a third engine in the same wait has no time any more: the carrier apologizes. */
export function isTooLate(wait: Wait, at: Ms): boolean {
  const { lastMs, minThirdMs } = LIMITS.silence;
  return wait.since !== null && silentMs(wait, at) > lastMs - minThirdMs;
}
