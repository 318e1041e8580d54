// When another engine begins in the place of one that is at its end, and what it begins with. Pure, as `wait.ts`.
import {
  type Account,
  type FloorEffect,
  goodbyeOf,
  hangUpIn,
  isAside,
  isCertain,
  isHeardOut,
  isHeld,
  isOpposed,
  isUnbegun,
  isWordForWord,
  outcomesOf,
  owedOf,
  owesMore,
  requestsIn,
  restOf,
  type Resumption,
  unsaidOf,
  utteranceOf,
  type View,
} from './floor.js';
import { LIMITS } from './limits.js';
import { type ConversationState, type Leaving, owedGoodbye } from './state.js';
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

type Left = Pick<Leaving, 'isCutOff' | 'goodbye' | 'rest'>;

/** What is left to say and to answer. `account`: of what was being said. */
export function leftIn(
  state: ConversationState,
  account: Account | null,
  { caller, endsTurns }: Pick<View, 'caller'> & { readonly endsTurns: boolean },
): Left {
  const { floor, owed } = state;
  const left = leftOnFloor(state, account, { caller, endsTurns });
  // Whoever was to say first what is owed has said nothing.
  if (!isUnbegun(floor) || left.goodbye !== undefined || (left.rest ?? null) !== null) return left;
  const hasText = hasSay(state, caller);
  return {
    isCutOff: left.isCutOff || owed.kind === 'answer',
    goodbye: goodbyeOf(owedGoodbye(state), { caller: { ...caller, hasText } }),
    rest: owed.kind === 'rest' ? owed : null,
  };
}

/** Who has something to say is not idle: nobody takes leave of them. */
function hasSay({ floor, untaken }: ConversationState, caller: View['caller']): boolean {
  return isOpposed(floor, caller) || untaken.keys !== '';
}

/** The floor is as it was, but that nobody speaks. */
function leftOnFloor(
  conversation: ConversationState,
  account: Account | null,
  { caller, endsTurns }: Pick<View, 'caller'> & { readonly endsTurns: boolean },
): Left {
  const { floor: state, standing } = conversation;
  const hangUp = hangUpIn(state.floor);
  if (hangUp !== undefined) return { isCutOff: false, goodbye: hangUp, rest: null };
  const utterance = utteranceOf(state);
  const cut = restOf(state.floor);
  if (!endsTurns) {
    const isKept = isHeld(state) || isCertain(cut);
    const unsaid =
      account === null ? (isKept ? owedOf(cut) : null) : unsaidOf(utterance, state.manner, account);
    return {
      isCutOff: owesMore(utterance) || owedOf(cut) !== null,
      goodbye: goodbyeOf(unsaid, { caller }),
      rest: isWordForWord(state) ? unsaid : null,
    };
  }
  const { heard = '', unheard = '', isBusy = false } = standing ?? {};
  const words = utterance ?? (isHeld(state) ? cut : null);
  const { text = null, manner = {} } = owedOf(words) ?? {};
  // Nothing of what an aside leads to was begun, and what it was told to say the model may have said in its own way.
  const begun = isAside(words) ? '' : heard;
  const left = text?.startsWith(begun) === true ? text.slice(begun.length).trim() : '';
  if (manner.ends === 'idle' && hasSay(conversation, caller))
    return { isCutOff: isBusy, goodbye: undefined, rest: null };
  if (manner.ends === undefined)
    return { isCutOff: isBusy, goodbye: undefined, rest: left === '' ? null : { text: left, manner } };
  const isKnown = isAside(words) || (text !== null && text !== '' && text.startsWith(heard));
  return { isCutOff: isBusy, goodbye: { text: isKnown ? left : unheard, reason: manner.ends } };
}

/** What became of the requests that `next`, which whoever goes on begins with, does not have any more. */
export function requestsLeft(
  { floor, standing }: ConversationState,
  next: ConversationState,
  { account, endsTurns }: { readonly account: Account | null; readonly endsTurns: boolean },
): readonly Extract<FloorEffect, { type: 'requested' }>[] {
  const asked = requestsIn(floor);
  if (asked.length === 0) return [];
  const { owed } = next;
  const left = [...requestsIn(next.floor), ...(owed.kind === 'rest' ? [owed.manner.request] : [])];
  const utterance = utteranceOf(floor);
  const said = account ?? standing;
  const isHeard = said !== undefined && isHeardOut(utterance, said, { endsTurns });
  const gone = asked.filter((id) => !left.includes(id));
  return outcomesOf(gone, { utterance, isHeard });
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
