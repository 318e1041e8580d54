// How long the caller hears nothing while something is owed to them, as a value. Whoever gives something a time asks here, so that several
// that hang in one turn keep the caller no longer than one. Pure: `at` is the time of what happens, on the driver's clock.
import { LIMITS } from './limits.js';

/** Milliseconds, of a time or between two. */
export type Ms = number;

/**
 * The caller's one wait. It goes on until it is ended, so who stops owing anything ends it: what is owed next does not begin with the time
 * of something else.
 */
export interface Wait {
  /** Somebody else can answer in the place of who does not. */
  readonly isReplaceable: boolean;
  /** Since when the caller waits, without what was excused; null while nobody waits. */
  readonly since: Ms | null;
  /** The same with what was excused. */
  readonly silentSince: Ms | null;
  /** When all the sound that there is for the caller will have been heard; null before the first. */
  readonly soundsUntil: Ms | null;
  /** Since when the voice has words that the caller has not heard. */
  readonly wordsSince: Ms | null;
  /** It is not over before that. */
  readonly grantedUntil: Ms | null;
  /** What the application took before that is excused. */
  readonly excusedUntil: Ms | null;
  /** Whoever had the call before has kept the caller waiting. */
  readonly takenOver: TakenOver | null;
}

interface TakenOver {
  /** Since when; null once that wait has ended. */
  readonly since: Ms | null;
  /** When the call was taken over. */
  readonly at: Ms;
  /** What an answer has in any case then. */
  readonly minMs: Ms;
}

/**
 * What is waited for. `words`: that there is something to say, in time to say it. `sound`: that the caller hears words, also while one who
 * makes sounds does not wait. `any`: whichever it is.
 */
export type Awaited = 'any' | 'words' | 'sound';

export const NOBODY_WAITS: Wait = {
  isReplaceable: false,
  since: null,
  silentSince: null,
  soundsUntil: null,
  wordsSince: null,
  grantedUntil: null,
  excusedUntil: null,
  takenOver: null,
};

/** The caller waits since then, unless they did so already. `minMs` are left in any case, or what a wait that was taken over leaves. */
export function beginWait(wait: Wait, { since, at, minMs = 0 }: { since: Ms; at: Ms; minMs?: Ms }): Wait {
  const { takenOver } = wait;
  const takenSince = takenOver?.since ?? null;
  const grantedMs = takenOver === null || takenSince === null ? minMs : Math.min(minMs, takenOver.minMs);
  return {
    ...wait,
    since: Math.min(since, wait.since ?? since, takenSince ?? since),
    silentSince: Math.min(since, wait.silentSince ?? since, takenSince ?? since),
    grantedUntil: later(wait.grantedUntil, at + grantedMs),
  };
}

/** The caller has been answered, is owed nothing, or makes a sound. */
export function endWait(wait: Wait, at: Ms): Wait {
  const { takenOver } = wait;
  // What is played again of the time before is no sound that the caller makes in it.
  if (takenOver !== null && at < takenOver.at) return wait;
  const forgotten = takenOver && { ...takenOver, since: null };
  return { ...wait, since: null, silentSince: null, takenOver: forgotten };
}

/** The wait goes on, or has begun at `since`. */
export function waitsAlready(wait: Wait, { since, at }: { since: Ms; at: Ms }): Wait {
  return wait.since === null ? beginWait(wait, { since, at }) : wait;
}

/** The wait is from now on, whatever it was before. */
export function restartWait(wait: Wait, at: Ms): Wait {
  return beginWait(endWait(wait, at), { since: at, at });
}

/** Goes on with the wait that whoever had the call before has left: what is said first belongs to it. */
export function takeOverWait(wait: Wait, left: Wait, at: Ms): Wait {
  if (left.since === null) return wait;
  const { minMs, minTakenOverMs } = LIMITS.answer;
  const waitedMs = silentMs(left, at);
  const leftMs = Math.min(minMs, LIMITS.silence.replaceableMs + minMs - waitedMs);
  const takenOver = { since: at - waitedMs, at, minMs: Math.max(minTakenOverMs, leftMs) };
  return beginWait({ ...wait, takenOver, grantedUntil: at + takenOver.minMs }, { since: at, at });
}

/** The same wait on a clock that shows `byMs` more. */
export function onClock(wait: Wait, byMs: Ms): Wait {
  const moved = (at: Ms | null) => (at === null ? null : at + byMs);
  const { takenOver } = wait;
  return {
    isReplaceable: wait.isReplaceable,
    since: moved(wait.since),
    silentSince: moved(wait.silentSince),
    soundsUntil: moved(wait.soundsUntil),
    wordsSince: moved(wait.wordsSince),
    grantedUntil: moved(wait.grantedUntil),
    excusedUntil: moved(wait.excusedUntil),
    takenOver: takenOver && { ...takenOver, since: moved(takenOver.since), at: takenOver.at + byMs },
  };
}

/** There is sound for the caller until then. */
export function withSound(wait: Wait, until: Ms): Wait {
  return { ...wait, soundsUntil: until };
}

/** There is no sound any more. */
export function withoutSound(wait: Wait, at: Ms): Wait {
  const { soundsUntil } = wait;
  return soundsUntil === null || soundsUntil <= at ? wait : { ...wait, soundsUntil: at };
}

/** The voice has words that the caller has not heard, or none. */
export function withWords(wait: Wait, { has, at }: { has: boolean; at: Ms }): Wait {
  return { ...wait, wordsSince: has ? (wait.wordsSince ?? at) : null };
}

/** What the application, or its tools, took since `from` is not the providers' time, but where the voice is late anyhow. */
export function excuse(wait: Wait, { from, at }: { from: Ms; at: Ms }): Wait {
  const { since, grantedUntil, soundsUntil, excusedUntil } = wait;
  if (since === null || isVoiceLate(wait, at)) return wait;
  const silentSince = later(soundsUntil, since);
  const excusedMs = at - later(excusedUntil, Math.max(silentSince, from));
  if (excusedMs <= 0) return wait;
  const granted = grantedUntil ?? at;
  return {
    ...wait,
    since: silentSince + excusedMs,
    // It may have been granted in this time, and nobody is granted more.
    grantedUntil: Math.min(granted + excusedMs, Math.max(granted, at + LIMITS.answer.minMs)),
    excusedUntil: at,
  };
}

/** When the caller has heard nothing for too long; null while nobody waits. */
export function deadlineOf(wait: Wait, awaited: Awaited, at: Ms): Ms | null {
  const { since, soundsUntil, wordsSince, grantedUntil } = wait;
  const limitMs = LIMITS.silence[wait.isReplaceable ? 'replaceableMs' : 'lastMs'];
  const end = since === null ? null : later(grantedUntil, later(soundsUntil, since) + limitMs);
  const { voiceMs } = LIMITS.silence;
  switch (awaited) {
    case 'any':
      return end;
    case 'words':
      // Nobody waits for something to say while there is something.
      if (end === null || isVoiceLate(wait, at)) return null;
      return later(grantedUntil, end - voiceMs);
    case 'sound': {
      if (wordsSince === null) return end;
      const own = later(soundsUntil, wordsSince) + limitMs;
      return Math.max(Math.min(end ?? own, own), wordsSince + voiceMs);
    }
  }
}

/** Until then, in milliseconds: less than nothing behind it, `Infinity` while nobody waits. */
export function leftMs(wait: Wait, awaited: Awaited, at: Ms): Ms {
  const deadline = deadlineOf(wait, awaited, at);
  return deadline === null ? Number.POSITIVE_INFINITY : deadline - at;
}

/** Since when they hear nothing, without what the application took, in milliseconds; 0 while nobody waits. */
export function waitedMs(wait: Wait, awaited: Awaited, at: Ms): Ms {
  return silenceSince(wait, awaited === 'sound' ? (wait.since ?? wait.wordsSince) : wait.since, at);
}

/** How long the caller has heard nothing while they wait, whoever took the time, in milliseconds. */
export function silentMs(wait: Wait, at: Ms): Ms {
  return silenceSince(wait, wait.silentSince, at);
}

/** How long there has been no sound for the caller, whether they wait or not, in milliseconds. */
export function soundlessMs({ soundsUntil }: Wait, at: Ms): Ms {
  return soundsUntil === null ? Number.POSITIVE_INFINITY : Math.max(0, at - soundsUntil);
}

/** True while a provider may be what the caller waits for. A wait that is long over was for nothing, or for the application. */
export function isWaiting(wait: Wait, at: Ms): boolean {
  return wait.since !== null && leftMs(wait, 'any', at) > -LIMITS.silence.lateMs;
}

/** True while the call has just been taken over, and the wait that was left goes on. */
export function isTakenOver({ takenOver }: Wait, at: Ms): boolean {
  return takenOver !== null && takenOver.at + takenOver.minMs > at;
}

/** What an answer has in any case until its first words, in milliseconds. */
export function minAnswerMs({ isReplaceable }: Wait): Ms {
  return LIMITS.answer[isReplaceable ? 'minReplaceableMs' : 'minMs'];
}

function isVoiceLate({ wordsSince, soundsUntil }: Wait, at: Ms): boolean {
  return wordsSince !== null && (soundsUntil ?? at) <= at;
}

function silenceSince({ soundsUntil }: Wait, since: Ms | null, at: Ms): Ms {
  return since === null ? 0 : Math.max(0, at - later(soundsUntil, since));
}

function later(one: Ms | null, other: Ms): Ms {
  return one === null ? other : Math.max(one, other);
}
