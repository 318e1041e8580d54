// Who has the floor, as values: the phase, what is being said, what can happen, what is to be done, and what follows from a state alone. How one state
// becomes the next is in `floor-step.ts`. Times are milliseconds, all of one clock.
import { type IdlePolicy, type IdleState, NOT_IDLE } from './idle.js';
import { LIMITS } from './limits.js';
import type { AgentEnd, OutsideEffect } from './outside.js';
import type { Ms } from './wait.js';

/** How something that the agent says is to be taken. */
export interface Manner {
  /** Whether the caller can interrupt it. @default as the agent's options say */
  readonly interruptible?: boolean;
  /** It interrupts a caller who speaks without end, and cannot be interrupted before they had the time to notice. */
  readonly cutsIn?: boolean;
  /** The call ends with it for this reason, unless the caller has something to say. */
  readonly ends?: AgentEnd;
  /** It is an aside, no part of what a model is told, before this: words, an answer that is owed, or the caller's turn. */
  readonly leadsTo?: Unsaid | 'answer' | 'nothing';
  /** Why the caller is back from elsewhere: they are told in any case, also where they have said something meanwhile. */
  readonly isNews?: boolean;
  /** Somebody outside has asked for it under this ID, and is told what becomes of it. */
  readonly request?: string;
}

/** Words that the caller has not heard, to be said word for word. */
export interface Unsaid {
  readonly text: string;
  readonly manner: Manner;
  /** They are all there is to say, and no part of an answer. @default nobody knows */
  readonly isOwn?: boolean;
}

/** Words that the call ends with, unless the caller has something to say. */
export interface Goodbye {
  /** What was not heard of them. */
  readonly text: string;
  readonly reason: AgentEnd;
}

/** One thing that the agent says, from the moment it is asked for. */
export interface Utterance {
  readonly id: number;
  readonly manner: Manner;
  /** What it says where nobody has to be asked for the words; null for an answer. */
  readonly text: string | null;
  /** Silenced until it is known whether a sound of the caller was meant. */
  readonly isPaused: boolean;
  /** All of its words are known. */
  readonly isWhole: boolean;
  /** An apology is said in the place of the rest. @default false */
  readonly isConcluded?: boolean;
}

/** Who has the floor. Each phase holds what only it has. */
export type Floor =
  /** Nobody speaks: it is the caller's turn. `rest`: of what was cut off, until it is known that words were meant by it. */
  | { readonly phase: 'listening'; readonly rest: Unsaid | null }
  /** The agent is about to speak, and the caller has heard nothing of it. */
  | { readonly phase: 'thinking'; readonly utterance: Utterance }
  /** The caller hears the agent. */
  | { readonly phase: 'speaking'; readonly utterance: Utterance; readonly audibleAt: Ms }
  /** What was said is being cut off: the driver answers at once with what was heard of it. */
  | {
      readonly phase: 'stopping';
      readonly utterance: Utterance | null;
      readonly rest: Unsaid | null;
      readonly next: Next;
    }
  /** Nobody listens for a while. What was cut off, or kept from beginning, is owed until somebody does. */
  | {
      readonly phase: 'held';
      readonly rest: Unsaid | null;
      /** An answer would have been given: the caller's, or what tools gave. */
      readonly owes: { readonly answer: boolean; readonly results: boolean };
    }
  /** The call is about to end, with what is being said at most. Nobody is listened to any more. */
  | {
      readonly phase: 'ending';
      readonly utterance: Utterance | null;
      readonly rest: Unsaid | null;
      /** Nobody listened already. @default false */
      readonly isHeld?: boolean;
      /** Why it is hung up, where that is decided: whoever goes on with the call does it. @default it is not */
      readonly hangUpFor?: AgentEnd;
    }
  | { readonly phase: 'over' };

/** What follows on a stop. */
export type Next =
  | { readonly kind: 'nothing' | 'keys' | 'take-up' }
  /** What was being said stays, for whoever goes on. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'hold'; readonly owed: Unsaid | null; readonly isAnswerOwed: boolean }
  /** The first request is said. `awaitsTools`: an answer follows by itself when they have their results. */
  | { readonly kind: 'request'; readonly awaitsTools: boolean }
  | { readonly kind: 'expect-words'; readonly end: EndOfTurn }
  | { readonly kind: 'answer'; readonly times: TurnTimes };

/** The caller has gone quiet, or speaks without end. */
export interface EndOfTurn {
  /** When the last voiced frame was. */
  readonly endedAt: Ms;
  /** The caller has not finished, but has spoken for so long that somebody else must have a say. */
  readonly isCutShort: boolean;
  /** The words have come to their end in a sound that goes on: more of it is no news. @default false */
  readonly isInSound?: boolean;
}

/** When the caller's last sound was, and when it was decided that it was the last. */
export interface TurnTimes {
  readonly speechEndedAt: Ms;
  readonly turnEndedAt: Ms;
  /** The caller was in the middle of a monologue: more words are for the next turn. */
  readonly isCutShort: boolean;
  /** The line is not silent: its sound is no news of the caller. */
  readonly isInSound: boolean;
}

/** What became of an utterance. */
export interface Account {
  readonly heard: string;
  readonly unheard: string;
  /** What was not heard, from the beginning of the sentence that was cut. */
  readonly rest: string;
  /** It was stopped behind its tools, before anything was heard of what follows from them. */
  readonly isOwed: boolean;
  /** What is left to say before the call ends; undefined where it does not end with it. */
  readonly goodbye: string | undefined;
}

export interface FloorState {
  readonly floor: Floor;
  /** How what the agent says, or has said last, is to be taken. */
  readonly manner: Manner;
  /** The caller has said something that is answered when the agent has finished. */
  readonly isCallerOwed: boolean;
  readonly idle: IdleState;
  /** What was asked for from outside and is not begun, in the order in which it is said. */
  readonly requests: readonly Unsaid[];
  /** Of the next utterance. */
  readonly nextId: number;
}

/** What stands beside the floor as an input comes. */
export interface View {
  /** The caller is listened to. */
  readonly isListening: boolean;
  /** There is a voice, and somebody to hear it. */
  readonly maySpeak: boolean;
  readonly caller: {
    /** They have said, or pressed, something that no turn has taken. */
    readonly hasText: boolean;
    readonly hasKeys: boolean;
    /** They press keys, and there may be more. */
    readonly isPressing: boolean;
    readonly isSounding: boolean;
    /** They make a sound, or words are still expected of one. */
    readonly isActive: boolean;
  };
  readonly turn: {
    /** What the caller said in the open turn; undefined where none is open. */
    readonly userText: string | undefined;
    /** An answer is owed that was asked for. */
    readonly isOwed: boolean;
    /** A tool has given a result that no answer has waited for. */
    readonly hasNews: boolean;
  };
  /** The caller waits since before this driver began. */
  readonly isTakenOver: boolean;
  /** An answer is to come that has not begun. */
  readonly isAwaited: boolean;
  /** Everything that came so far was heard. */
  readonly isCaughtUp: boolean;
  /** Whoever answers waits for the results of tools. */
  readonly awaitsTools: boolean;
}

export interface FloorPolicy {
  readonly interruptible: boolean;
  /** Keys interrupt the agent. */
  readonly keysInterrupt: boolean;
  readonly idle: IdlePolicy | undefined;
  /** Whoever answers knows by itself when the caller has finished, and what was heard of an answer that was cut off. */
  readonly endsTurns: boolean;
}

/** How a call goes on after a hold: with what was cut off, waiting for the caller, or with words that say why they are back. */
export type Resumption = 'continue' | 'listen' | { readonly news: string };

/** Everything that can happen. */
export type FloorInput =
  /** The agent is to say something of its own. */
  | { readonly type: 'say'; readonly text: string; readonly manner: Manner }
  /** Somebody outside wants it said: next, or (`interrupts`) now. `manner.request` is set. */
  | {
      readonly type: 'request';
      readonly text: string;
      readonly manner: Manner;
      readonly interrupts: boolean;
    }
  /** The caller has finished, `agoMs` ago, as whoever answers tells. */
  | { readonly type: 'caller.finished'; readonly agoMs: number }
  /** Whoever answers has been interrupted by the caller. */
  | { readonly type: 'cut-off' }
  /** An answer begins, asked for or not. */
  | { readonly type: 'began' }
  /** Tools have given results that an answer follows on: to what is being said (`isCurrent`), or was. */
  | { readonly type: 'results'; readonly isCurrent: boolean }
  /** A sound or words of the caller, over what the agent says: they are meant, may be, or were a sign of listening. */
  | { readonly type: 'interrupted' | 'doubted' | 'signed' }
  /** The caller has said or pressed something. */
  | { readonly type: 'caller.active' }
  /** The caller has gone quiet. `means`: what their sound over the agent's speech has come to. */
  | { readonly type: 'quiet'; readonly end: EndOfTurn; readonly means: 'interrupted' | 'signed' | 'unknown' }
  | { readonly type: 'key' }
  | { readonly type: 'keys.complete' }
  /** Everything there is of what the caller says has come, which may be nothing. */
  | { readonly type: 'caller.complete'; readonly times: TurnTimes }
  /** The caller can hear the utterance; all of its words are known; the call is to end with it. */
  | { readonly type: 'audible' | 'whole' | 'ends' }
  /** All of the utterance was heard. */
  | { readonly type: 'finished'; readonly answer: { readonly heard: string } }
  /** Nothing more comes of the utterance: the floor is the caller's. */
  | { readonly type: 'over' }
  /** What was asked for by `stop`; null where nothing was being said. */
  | { readonly type: 'stopped'; readonly account: Account | null }
  /** A tool has given a result that no answer waits for. */
  | { readonly type: 'news' }
  /** Whatever has silenced the agent, it goes on, or (`apologizes`) says so in the place of the rest. */
  | { readonly type: 'goes-on' | 'apologizes' }
  | { readonly type: 'hold' }
  | { readonly type: 'resume'; readonly how: Resumption }
  | { readonly type: 'due' }
  /** Another driver goes on: what is said is cut off in this moment, and stays for that one. */
  | { readonly type: 'gives-up' }
  /** The call cannot go on (`failing`), it is to end (`ending`), or there is nothing left of it. */
  | { readonly type: 'failing' | 'ending' | 'end' };

/** Everything to be done. */
export type FloorEffect =
  /** Opens a turn, in which `utterance` is said; where nobody can hear it, it is only opened. */
  | { readonly type: 'say'; readonly utterance: Utterance | null }
  /** Takes what the caller has said and pressed for a turn, and answers it. No times: it came while nobody could answer it. */
  | { readonly type: 'answer'; readonly utterance: Utterance | null; readonly times: TurnTimes | null }
  /** Answers once more, with the tools that the answer waits for. `isPostponed`: a request came before it. */
  | { readonly type: 'answer-again'; readonly utterance: Utterance | null; readonly isPostponed: boolean }
  /** Asks for an answer to what the caller has said, pressed or waits for. */
  | { readonly type: 'respond' }
  /** The caller is answered without being asked for it. */
  | { readonly type: 'expect-answer'; readonly agoMs: number }
  /** Opens a turn for an answer that begins by itself, or goes on with the one that is open. */
  | { readonly type: 'begin-answer' }
  /** An answer that nobody listens to is not given. */
  | { readonly type: 'suppress' }
  /** Nobody waits for tools any more before the caller is answered. */
  | { readonly type: 'postpone-tools' }
  /** What the caller has pressed is told to whoever answers. */
  | { readonly type: 'tell-keys' }
  /** Whether what is said now can be interrupted has changed. */
  | { readonly type: 'interruptible'; readonly value: boolean }
  /** Cuts off what is said, in this moment. `isOwn`: not because the caller was heard, so whoever answers has to be told. */
  | { readonly type: 'stop'; readonly isOwn: boolean }
  | { readonly type: 'pause' | 'go-on' }
  /** Asks the recognizer for what it still has. */
  | { readonly type: 'finish-utterance' }
  | {
      readonly type: 'expect-words';
      readonly end: EndOfTurn;
      readonly isResuming: boolean;
      readonly isTakenOver: boolean;
    }
  /** What the caller has said and pressed is no turn's any more: `taken` by the one that follows, or forgotten. */
  | { readonly type: 'take-words' | 'forget-sound' }
  | { readonly type: 'dismiss-words' }
  /** No words came of a sound: nobody waits for them (`wordless`), nor takes such a sound for the caller's (`heard-nothing`). */
  | { readonly type: 'wordless' | 'heard-nothing' }
  /** What was said last was heard as its account tells. `isAnswered`: to its end. `nothing`: nothing was said. */
  | {
      readonly type: 'complete-turn';
      readonly with: 'account' | 'nothing';
      readonly interrupted: boolean;
      readonly isAnswered?: boolean;
    }
  /** What was said was stopped before a word of it was heard: the turn stays open. */
  | { readonly type: 'drop-answer' }
  /** What became of a request that is not said any more. */
  | { readonly type: 'requested'; readonly id: string; readonly outcome: RequestOutcome }
  | { readonly type: 'wait'; readonly since: Ms }
  | { readonly type: 'wait-over' }
  | Extract<OutsideEffect, { type: 'hang-up' }>;

/** `interrupted`: not all of it was heard. */
export type RequestOutcome = 'heard' | 'interrupted';

export interface Step {
  readonly state: FloorState;
  readonly effects: readonly FloorEffect[];
}

export const NOBODY_SPEAKS: FloorState = {
  floor: { phase: 'listening', rest: null },
  manner: {},
  isCallerOwed: false,
  idle: NOT_IDLE,
  requests: [],
  nextId: 1,
};

/** What is being said, or about to be; undefined where nobody speaks. */
export function utteranceOf({ floor }: FloorState): Utterance | undefined {
  return 'utterance' in floor ? (floor.utterance ?? undefined) : undefined;
}

/** Nobody listens for a while, or what is said is being cut off for that. */
export function isHeld({ floor }: FloorState): boolean {
  switch (floor.phase) {
    case 'held':
      return true;
    case 'stopping':
      return floor.next.kind === 'hold';
    case 'ending':
      return floor.isHeld === true;
    default:
      return false;
  }
}

/** Somebody was told to say it, word for word, and the caller has heard nothing of it. */
export function isUnsaid({ floor }: FloorState): boolean {
  return floor.phase === 'thinking' && floor.utterance.text !== null;
}

/** True where there is something that the caller may interrupt. */
export function yields(state: FloorState, at: Ms, policy: FloorPolicy): boolean {
  const utterance = utteranceOf(state);
  if (utterance === undefined) return false;
  const { manner } = utterance;
  const { floor } = state;
  const isCuttingIn =
    manner.cutsIn === true && floor.phase === 'speaking' && at - floor.audibleAt < LIMITS.monologue.cutInMs;
  return !isCuttingIn && (manner.interruptible ?? policy.interruptible);
}

/** When `due` is wanted; null for not at all. */
export function deadlineOf({ idle }: FloorState): Ms | null {
  return idle.dueAt;
}

/** True while what is said is what the call ends with, and nobody has to be heard before it does; and once a hang-up is decided. */
export function isLeaving(state: FloorState, { caller }: Pick<View, 'caller'>): boolean {
  if (hangUpIn(state.floor) !== undefined) return true;
  const utterance = utteranceOf(state);
  if (utterance === undefined) return false;
  const { ends } = utterance.manner;
  return ends !== undefined && (ends !== 'idle' || !isOpposed(state, caller));
}

/** What is said is an aside. */
export function isAside(words: Pick<Utterance, 'manner'> | null | undefined): boolean {
  return words?.manner.leadsTo !== undefined;
}

/** What is owed of words that were cut off: of an aside nothing but what it leads to. */
export function owedOf<Words extends Pick<Utterance, 'manner'>>(words: Words | null): Words | Unsaid | null {
  const leadsTo = words?.manner.leadsTo;
  if (leadsTo === undefined) return words;
  return typeof leadsTo === 'object' ? leadsTo : null;
}

/** It is said in any case, whatever has cut it off. */
export function isCertain(words: Unsaid | null): boolean {
  return isAside(words) || words?.manner.request !== undefined || words?.isOwn === true;
}

/** Whatever else the caller is owed, they are told that, too: somebody outside wants it. */
export function isWanted(words: Pick<Utterance, 'manner'> | null): boolean {
  return words?.manner.request !== undefined || words?.manner.isNews === true;
}

/** Nobody has to be asked for the words that were on. */
export function isWordForWord(state: FloorState): boolean {
  return (utteranceOf(state)?.text ?? null) !== null || isCertain(restOf(state.floor));
}

/** True where something is owed when it was cut off. */
export function owesMore(words: Pick<Utterance, 'manner'> | null | undefined): boolean {
  return (words ?? null) !== null && words?.manner.leadsTo !== 'nothing';
}

/** What is left to say of what was cut off, word for word; null for nothing. */
export function unsaidOf(utterance: Utterance | undefined, manner: Manner, account: Account): Unsaid | null {
  const { heard, unheard, goodbye } = account;
  if (utterance !== undefined && isAside(utterance)) {
    const { leadsTo } = utterance.manner;
    return typeof leadsTo === 'object' ? leadsTo : null;
  }
  // Nothing of it was even begun.
  const own = utterance?.text ?? null;
  if (heard === '' && unheard === '' && own !== null) return { text: own, manner };
  return toUnsaid(account, goodbye ?? unheard, manner);
}

/** The goodbye that is left to say; undefined where the call goes on: a caller who was taken for silent, and has said something all the same, is answered. */
export function goodbyeOf(unsaid: Unsaid | null, { caller }: Pick<View, 'caller'>): Goodbye | undefined {
  const reason = unsaid?.manner.ends;
  if (unsaid === null || reason === undefined || (reason === 'idle' && hasMore(caller))) return undefined;
  return { text: unsaid.text, reason };
}

/** The hang-up that is decided, and may not be done yet. Undefined where none is. */
export function hangUpIn(floor: Floor): Goodbye | undefined {
  const reason = floor.phase === 'ending' ? floor.hangUpFor : undefined;
  return reason && { text: '', reason };
}

export function isOpposed({ isCallerOwed }: FloorState, caller: View['caller']): boolean {
  return isCallerOwed || hasMore(caller) || caller.isPressing || caller.isSounding;
}

export function toUnsaid({ goodbye }: Account, text: string, manner: Manner): Unsaid | null {
  const ends = goodbye === undefined ? undefined : (manner.ends ?? 'agent-hangup');
  if (text === '' && ends === undefined) return typeof manner.leadsTo === 'object' ? manner.leadsTo : null;
  return { text, manner: { ...manner, cutsIn: false, ...(ends && { ends }) } };
}

/** IDs of what was asked for from outside and is still to be said, or to be said on, maybe behind an aside. Each once. */
export function requestsIn(state: FloorState): string[] {
  const { floor, requests } = state;
  const owed = floor.phase === 'stopping' && floor.next.kind === 'hold' ? floor.next.owed : null;
  const ids: string[] = [];
  const note = (words: Pick<Utterance, 'manner'> | null | undefined) => {
    const request = owedOf(words ?? null)?.manner.request;
    if (request !== undefined) ids.push(request);
  };
  for (const each of requests) note(each);
  note(utteranceOf(state));
  note(restOf(floor));
  note(owed);
  return ids.filter((id, place) => ids.indexOf(id) === place);
}

/** What became of requests that are `gone`. `isHeard`: what was being said, which may be one of them, was heard to its end. */
export function outcomesOf(
  gone: readonly string[],
  { utterance, isHeard }: { readonly utterance: Utterance | undefined; readonly isHeard: boolean },
): readonly Extract<FloorEffect, { type: 'requested' }>[] {
  return gone.map((id) => {
    const isSaid = id === utterance?.manner.request;
    return { type: 'requested', id, outcome: isSaid && isHeard ? 'heard' : 'interrupted' };
  });
}

/** All of the words were heard. Whoever says them in its own way tells nothing of what it has not said. */
export function isHeardOut(
  utterance: Pick<Utterance, 'text' | 'isConcluded'> | null | undefined,
  { heard, unheard }: Pick<Account, 'heard' | 'unheard'>,
  { endsTurns }: Pick<FloorPolicy, 'endsTurns'>,
): boolean {
  if (utterance?.isConcluded === true) return utterance.text !== null && heard.startsWith(utterance.text);
  return heard !== '' && unheard === '' && (!endsTurns || heard === utterance?.text);
}

/** Nobody has begun to say anything with this state. */
export function isUnbegun({ nextId }: FloorState): boolean {
  return nextId === NOBODY_SPEAKS.nextId;
}

export function restOf(floor: Floor): Unsaid | null {
  return 'rest' in floor ? floor.rest : null;
}

export function hasMore({ hasText, hasKeys }: View['caller']): boolean {
  return hasText || hasKeys;
}
