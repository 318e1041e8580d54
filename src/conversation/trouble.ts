// What a caller is owed when something has failed: that somebody says so, and who. The agent apologizes where it still has a voice and
// nobody takes its place, else the carrier does. Pure, as `wait.ts`.
import type { ProviderStage } from '../contract/call-record.js';
import { LIMITS } from './limits.js';
import { beginWait, isWaiting, leftMs, type Ms, silentMs, type Wait } from './wait.js';

export type Trouble =
  /** Nothing has failed that is missed. */
  | { readonly phase: 'none' }
  /** The recognizer has failed in a goodbye. It is missed where the call goes on all the same. */
  | { readonly phase: 'unheard' }
  /**
   * The agent is to say that the call cannot go on. `silentSince`: when the silence began in which the caller waits. `isBehind`: something else
   * is heard before it. `hasBegun`: the voice has given something of it.
   */
  | {
      readonly phase: 'apologizing';
      readonly silentSince: Ms;
      readonly by: Ms;
      readonly isBehind: boolean;
      readonly hasBegun: boolean;
    }
  /** The call is over for who has it. `awaitedSince`: since when the caller had waited for the agent then. */
  | { readonly phase: 'over'; readonly awaitedSince: Ms | null };

/** What follows. */
export type Recourse =
  | { readonly type: 'nothing' }
  /** The agent apologizes for this turn, and the call goes on. */
  | { readonly type: 'apologize-for-turn' }
  /** Nobody listens any more, and the goodbye is said to its end. */
  | { readonly type: 'do-without' }
  /** The agent apologizes, and the call ends with that. */
  | { readonly type: 'apologize' }
  /** Another engine goes on, or the carrier apologizes to a caller who was told nothing. `stops`: what is being said is cut off. */
  | { readonly type: 'hand-over' | 'leave-to-carrier'; readonly silentSince: Ms; readonly stops: boolean }
  /** The agent has apologized. */
  | { readonly type: 'end' };

/** What has failed, and what stands beside it. */
export interface Failing {
  readonly stage: ProviderStage;
  /** It costs the turn, and not the call. */
  readonly isPassing: boolean;
  readonly hasFallback: boolean;
  /** The agent says what the call ends with. */
  readonly isLeaving: boolean;
  readonly hasVoice: boolean;
  /** Nobody listens to the agent. */
  readonly isHeld: boolean;
  /** The agent has something to say. */
  readonly isAwaited: boolean;
  /** Since when the caller waits for a sound of it; null where they do not. */
  readonly awaitedSince: Ms | null;
  readonly wait: Wait;
  readonly at: Ms;
}

export interface TroubleStep {
  readonly trouble: Trouble;
  readonly recourse: Recourse;
}

export const NO_TROUBLE: Trouble = { phase: 'none' };

const NOTHING: Recourse = { type: 'nothing' };

/** Something has failed. The first apology counts. */
export function failed(trouble: Trouble, failing: Failing): TroubleStep {
  const { stage, wait, at } = failing;
  if (trouble.phase === 'over') return { trouble, recourse: NOTHING };
  const isFirst = trouble.phase !== 'apologizing';
  if (failing.isPassing && isFirst && !failing.hasFallback)
    return { trouble, recourse: { type: 'apologize-for-turn' } };
  if (stage === 'stt' && (trouble.phase === 'unheard' || failing.isLeaving)) {
    if (trouble.phase !== 'none') return { trouble, recourse: NOTHING };
    return { trouble: { phase: 'unheard' }, recourse: { type: 'do-without' } };
  }
  const waits = failing.isAwaited || isWaiting(wait, at);
  const silentSince = isFirst ? at - (waits ? silentMs(wait, at) : 0) : trouble.silentSince;
  if (failing.hasFallback) {
    const { awaitedSince } = failing;
    return {
      trouble: { phase: 'over', awaitedSince },
      recourse: { type: 'hand-over', silentSince, stops: false },
    };
  }
  if (stage === 'tts' || !failing.hasVoice || failing.isHeld) return leaveToCarrier(silentSince);
  if (!isFirst) return { trouble, recourse: NOTHING };
  const own = isWaiting(wait, at) ? wait : beginWait(wait, { since: at, at });
  const by = at + Math.min(LIMITS.apology.soundMs, Math.max(0, leftMs(own, 'any', at)));
  return {
    trouble: { phase: 'apologizing', silentSince, by, isBehind: false, hasBegun: false },
    recourse: { type: 'apologize' },
  };
}

/** The call goes on where nobody is heard. */
export function missed(trouble: Trouble): Trouble {
  return trouble.phase === 'unheard' ? NO_TROUBLE : trouble;
}

/** The voice gives the first audio of the apology, which the caller has not heard. */
export function apologyBegun(trouble: Trouble, at: Ms): Trouble {
  if (trouble.phase !== 'apologizing' || trouble.hasBegun) return trouble;
  return { ...trouble, hasBegun: true, by: at + LIMITS.apology.longestMs };
}

/** All that there is to say was heard. */
export function saidAll(trouble: Trouble): TroubleStep {
  if (trouble.phase !== 'apologizing') return { trouble, recourse: NOTHING };
  return trouble.hasBegun ? told() : leaveToCarrier(trouble.silentSince);
}

/** Nobody listens any more. */
export function silenced(trouble: Trouble): TroubleStep {
  if (trouble.phase !== 'apologizing') return { trouble, recourse: NOTHING };
  return leaveToCarrier(trouble.silentSince, { stops: false });
}

/** The call ends, for whatever reason. */
export function ended(trouble: Trouble): Trouble {
  return trouble.phase === 'over' ? trouble : { phase: 'over', awaitedSince: null };
}

/** When `due` is wanted; null for not at all. */
export function deadlineOf(trouble: Trouble): Ms | null {
  return trouble.phase === 'apologizing' ? trouble.by : null;
}

/** The apology is late: it does not sound, or comes to no end. `isAudible`: something that the agent says is heard. */
export function due(trouble: Trouble, { isAudible, at }: { isAudible: boolean; at: Ms }): TroubleStep {
  if (trouble.phase !== 'apologizing' || at < trouble.by) return { trouble, recourse: NOTHING };
  if (trouble.hasBegun) return told();
  if (trouble.isBehind || !isAudible) return leaveToCarrier(trouble.silentSince);
  const { longestMs, soundMs } = LIMITS.apology;
  return { trouble: { ...trouble, isBehind: true, by: at + longestMs - soundMs }, recourse: NOTHING };
}

/** A model is gone that speaks by itself. */
export interface Gone {
  readonly hasFallback: boolean;
  readonly isLeaving: boolean;
  readonly isHeld: boolean;
  /** It was in the middle of an answer. */
  readonly isResponding: boolean;
  /** So much of it is still to be heard. */
  readonly inHandMs: Ms;
}

/**
 * True where what it has said is heard to its end before anybody else speaks. Who can go on hears the caller, and does so at once, unless
 * the call is to end with what is said and all of that is there.
 */
export function isHeardOut(gone: Gone): boolean {
  const isMissed = gone.hasFallback && (gone.isResponding || !gone.isLeaving);
  return !isMissed && gone.inHandMs <= LIMITS.session.inHandMs && !gone.isHeld;
}

function leaveToCarrier(silentSince: Ms, { stops } = { stops: true }): TroubleStep {
  return {
    trouble: { phase: 'over', awaitedSince: null },
    recourse: { type: 'leave-to-carrier', silentSince, stops },
  };
}

function told(): TroubleStep {
  return { trouble: { phase: 'over', awaitedSince: null }, recourse: { type: 'end' } };
}
