// What a model owes that hears the caller by itself and speaks, as a value: a connection, an answer that has not begun, or the rest of one
// that has. It must show a sign of life every few seconds; a silent one leaves the caller with a dead line. Pure, as `wait.ts`.
import { LIMITS } from './limits.js';
import {
  endWait,
  type Ms,
  NOBODY_WAITS,
  restartWait,
  silentMs,
  type Wait,
  waitsAlready,
  withSound,
} from './wait.js';

export interface Watch {
  /** Of the caller, from one sign of life to the next. */
  readonly wait: Wait;
  /** By when there has to be a first connection; null where there is one, or it was found missing. */
  readonly openBy: Ms | null;
  readonly isReady: boolean;
  /** There is no connection in the place of one that was lost; `by` as `openBy`. */
  readonly lost: { readonly since: Ms; readonly by: Ms | null } | null;
  /** An answer is to come that has not begun. */
  readonly owed: Owed | null;
  /** Since when the time runs in which there has to be a sign; null where it does not run. */
  readonly runsSince: Ms | null;
  /** How long the caller had waited when the answer that is on began. */
  readonly beganAfterMs: Ms;
  /** When a caller who waited before this model was there must be answered. */
  readonly answerBy: Ms | null;
  /** The caller speaks, as the model tells. */
  readonly isCallerSpeaking: boolean;
  /** Connections that were asked, one after the other, and lost before anything was heard. */
  readonly barren: number;
  /** An answer was empty, and is asked for once more. */
  readonly isRepeated: boolean;
  /** The caller has heard in this answer that it takes a moment. */
  readonly hasFilled: boolean;
  /** Nothing is looked for any more. */
  readonly isClosed: boolean;
}

interface Owed {
  /** It was asked for, and does not come by itself. */
  readonly isAsked: boolean;
  /** It did not come by itself. */
  readonly isLate: boolean;
  /** How long the caller had waited already when it came to be owed. */
  readonly waitedMs: Ms;
}

/** Before the model has told, or given, anything. */
export const NOTHING_TOLD = { isCallerSpeaking: false, barren: 0, isRepeated: false, hasFilled: false };

/** What is found when something is due. `late`: the model may have missed that the caller has finished: it is asked. `silent`: it is gone. */
export type Finding = 'late' | 'silent';

export function watching({ isReplaceable }: Pick<Wait, 'isReplaceable'>): Watch {
  return {
    wait: { ...NOBODY_WAITS, isReplaceable },
    openBy: null,
    isReady: false,
    lost: null,
    owed: null,
    runsSince: null,
    beganAfterMs: 0,
    answerBy: null,
    ...NOTHING_TOLD,
    isClosed: false,
  };
}

/** A connection is being made. What is owed meanwhile counts from when there is one. `left`: the wait of a caller from before. */
export function opening(watch: Watch, { left, at }: { left: Wait | undefined; at: Ms }): Watch {
  const { openingMs } = limitsOf(watch);
  const wait = restartWait(watch.wait, at);
  if (left === undefined) return { ...watch, wait, openBy: at + openingMs };
  const answerBy = at + Math.max(LIMITS.session.minTakenOverMs, openingMs - silentMs(left, at));
  return { ...watch, wait, openBy: answerBy, answerBy };
}

/** There is a connection. */
export function ready(watch: Watch, at: Ms): Watch {
  const open = { ...watch, isReady: true, openBy: null, runsSince: null };
  return watch.owed === null ? nobodyWaits(open, at) : runs(open, at);
}

/**
 * The connection is gone since `agoMs`, and another one is being made. `unansweredMs`: how long ago the caller finished what nobody has
 * answered; null where nobody knows.
 */
export function lost(
  watch: Watch,
  { agoMs, unansweredMs, at }: { agoMs: Ms; unansweredMs: Ms | null; at: Ms },
): Watch {
  const { lostMs, minLostMs } = limitsOf(watch);
  // A model that was there long enough behind the caller's sound, and owed nothing, had nothing to say to that.
  const unnoticedMs = watch.owed === null ? agoMs + LIMITS.session.noticedMs : Number.POSITIVE_INFINITY;
  const leftMs = LIMITS.silence.replaceableMs - Math.min(unnoticedMs, unansweredMs ?? 0);
  // The caller may have finished before, and the model not have said so any more.
  const limitMs = unansweredMs === null ? lostMs : Math.min(lostMs, Math.max(minLostMs, leftMs));
  return {
    ...watch,
    wait: waitsAlready(watch.wait, { since: at - agoMs, at }),
    lost: { since: watch.lost?.since ?? at, by: at + limitMs },
  };
}

/** There is another connection. Whoever is asked on it is asked for the first time. */
export function back(watch: Watch, at: Ms): Watch {
  const { openBy, owed, runsSince, wait } = watch;
  const isDue = openBy !== null || runsSince !== null;
  return {
    ...watch,
    lost: null,
    owed: owed && { ...owed, isAsked: false, isLate: false },
    wait: isDue ? wait : endWait(wait, at),
  };
}

/** An answer is to come: one that was asked for, or that the model gives by itself. The caller may have waited for a while. */
export function owes(
  watch: Watch,
  { isAsked, waitedMs, at }: { isAsked: boolean; waitedMs: Ms; at: Ms },
): Watch {
  const { owed, wait } = watch;
  if (owed === null) {
    const fresh = { isAsked, isLate: false, waitedMs };
    return runs({ ...watch, owed: fresh, wait: waitsAlready(wait, { since: at, at }) }, at);
  }
  const still = { ...owed, isAsked: owed.isAsked || isAsked };
  return runs({ ...watch, owed: owed.isLate ? still : { ...still, waitedMs } }, at);
}

/** The caller has finished, `agoMs` ago, and the model answers by itself. */
export function owesCaller(watch: Watch, { agoMs, at }: { agoMs: Ms; at: Ms }): Watch {
  return owes(watch, { isAsked: false, waitedMs: Math.max(0, agoMs - LIMITS.session.noticedMs), at });
}

/** The answer has begun. */
export function began(watch: Watch, at: Ms): Watch {
  const { owed, wait } = watch;
  const beganAfterMs = (owed?.waitedMs ?? 0) + at - (wait.since ?? at);
  return runs({ ...watch, owed: null, answerBy: null, beganAfterMs, wait: restartWait(wait, at) }, at);
}

/** A sign of life. */
export function alive(watch: Watch, at: Ms): Watch {
  if (!watch.isReady || watch.runsSince === null) return watch;
  return runs({ ...watch, wait: restartWait(watch.wait, at) }, at);
}

/** Signs of life since then, and sound until then: of those that came together, the last. */
export function signs(
  watch: Watch,
  { since, soundsUntil }: { since: Ms | undefined; soundsUntil: Ms | undefined },
): Watch {
  const known = since === undefined ? watch : alive(watch, since);
  if (soundsUntil === undefined) return known;
  return { ...known, barren: 0, wait: withSound(known.wait, soundsUntil) };
}

/** What had begun is complete. */
export function ended(watch: Watch, at: Ms): Watch {
  return watch.owed === null ? rest(watch, at) : watch;
}

/** What had begun was nothing: it is asked for once more, in the time that the caller still waits. */
export function cameToNothing(watch: Watch, at: Ms): Watch {
  return owes(watch, { isAsked: true, waitedMs: watch.beganAfterMs, at });
}

/** Nothing is owed any more. */
export function rest(watch: Watch, at: Ms): Watch {
  const free = { ...watch, owed: null, answerBy: null };
  return watch.isReady ? nobodyWaits({ ...free, runsSince: null }, at) : free;
}

/** The call is about to end. */
export function closed(watch: Watch): Watch {
  return { ...watch, isClosed: true };
}

/** When it is to be looked again; null while nothing is due. */
export function deadlineOf(watch: Watch): Ms | null {
  if (watch.isClosed) return null;
  const times = [watch.openBy, watch.lost?.by ?? null, signBy(watch)].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** What is found at `at`; nothing before the deadline. Each is found once. */
export function due(watch: Watch, at: Ms): { watch: Watch; found: Finding | undefined } {
  const { lost, openBy, owed } = watch;
  const deadline = deadlineOf(watch);
  if (deadline === null || at < deadline) return { watch, found: undefined };
  if (openBy === deadline) return { watch: { ...watch, openBy: null }, found: 'silent' };
  if (lost?.by === deadline) return { watch: { ...watch, lost: { ...lost, by: null } }, found: 'silent' };
  const stopped = { ...watch, runsSince: null };
  if (owed === null || owed.isAsked) return { watch: stopped, found: 'silent' };
  return { watch: { ...stopped, owed: { ...owed, isLate: true } }, found: 'late' };
}

/** Half of the time is for an answer that may have to be asked for, the other half for when it was. */
function signBy(watch: Watch): Ms | null {
  const { answerBy, owed, runsSince } = watch;
  if (runsSince === null) return null;
  const restMs = Math.max(LIMITS.session.minAnswerMs, limitsOf(watch).silentMs - (owed?.waitedMs ?? 0));
  const ownMs = owed?.isLate === true ? restMs / 2 : restMs;
  const limitMs = answerBy === null ? ownMs : Math.max(0, answerBy - runsSince);
  return runsSince + (owed === null || owed.isAsked ? limitMs : limitMs / 2);
}

function limitsOf({ wait }: Watch): Record<'openingMs' | 'silentMs' | 'lostMs' | 'minLostMs', Ms> {
  return LIMITS.session[wait.isReplaceable ? 'replaceable' : 'last'];
}

function runs(watch: Watch, at: Ms): Watch {
  return watch.isReady ? { ...watch, runsSince: at } : watch;
}

function nobodyWaits(watch: Watch, at: Ms): Watch {
  return { ...watch, answerBy: null, wait: endWait(watch.wait, at) };
}
