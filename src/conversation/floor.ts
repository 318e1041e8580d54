// Who has the floor: what follows from what the caller, the agent and the line do. Pure: state and input in, state and effects out.
// Times are milliseconds, all of one clock.
import {
  callerActive,
  type IdlePolicy,
  type IdleState,
  idleDue,
  idlePaused,
  idleWaits,
  NOT_IDLE,
} from './idle.js';
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
}

/** Words that the caller has not heard, to be said word for word. */
export interface Unsaid {
  readonly text: string;
  readonly manner: Manner;
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
  | { readonly phase: 'ending'; readonly utterance: Utterance | null; readonly rest: Unsaid | null }
  | { readonly phase: 'over' };

/** What follows on a stop. */
export type Next =
  | { readonly kind: 'nothing' | 'keys' | 'take-up' }
  | { readonly kind: 'hold'; readonly owed: Unsaid | null; readonly isAnswerOwed: boolean }
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
  | { readonly type: 'key' | 'keys.complete' }
  /** Everything there is of what the caller says has come, which may be nothing. */
  | { readonly type: 'caller.complete'; readonly times: TurnTimes }
  /** The caller can hear the utterance; all of its words are known; the call is to end with it. */
  | { readonly type: 'audible' | 'whole' | 'ends' }
  /** All of the utterance was heard. */
  | { readonly type: 'finished' }
  /** Nothing more comes of the utterance: the floor is the caller's. */
  | { readonly type: 'over' }
  /** What was asked for by `stop`; null where nothing was being said. */
  | { readonly type: 'stopped'; readonly account: Account | null }
  /** A tool has given a result that no answer waits for. */
  | { readonly type: 'news' }
  /** Whatever has silenced the agent, it goes on. */
  | { readonly type: 'goes-on' }
  | { readonly type: 'hold' }
  | { readonly type: 'resume'; readonly how: Resumption }
  | { readonly type: 'due' }
  /** The call cannot go on (`failing`), it is to end (`ending`), or there is nothing left of it. */
  | { readonly type: 'failing' | 'ending' | 'end' };

/** Everything to be done. */
export type FloorEffect =
  /** Opens a turn, in which `utterance` is said; where nobody can hear it, it is only opened. */
  | { readonly type: 'say'; readonly utterance: Utterance | null }
  /** Takes what the caller has said and pressed for a turn, and answers it. No times: it came while nobody could answer it. */
  | { readonly type: 'answer'; readonly utterance: Utterance | null; readonly times: TurnTimes | null }
  /** Answers once more, with the tools that the answer waits for. */
  | { readonly type: 'answer-again'; readonly utterance: Utterance | null }
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
  | { readonly type: 'take-words' | 'dismiss-words' | 'forget-sound' }
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
  | { readonly type: 'wait'; readonly since: Ms }
  | { readonly type: 'wait-over' }
  | Extract<OutsideEffect, { type: 'hang-up' }>;

export interface Step {
  readonly state: FloorState;
  readonly effects: readonly FloorEffect[];
}

/** Who is interrupted has stopped by then, if they will. */
const CUT_IN_MS = 2000;

export const NOBODY_SPEAKS: FloorState = {
  floor: { phase: 'listening', rest: null },
  manner: {},
  isCallerOwed: false,
  idle: NOT_IDLE,
  nextId: 1,
};

function utteranceFor(
  { nextId: id }: FloorState,
  { text, manner }: Pick<Utterance, 'text' | 'manner'>,
): Utterance {
  return { id, manner, text, isPaused: false, isWhole: false };
}

/** What is being said, or about to be; undefined where nobody speaks. */
export function utteranceOf({ floor }: FloorState): Utterance | undefined {
  return 'utterance' in floor ? (floor.utterance ?? undefined) : undefined;
}

/** True where there is something that the caller may interrupt. */
export function yields(state: FloorState, at: Ms, policy: FloorPolicy): boolean {
  const utterance = utteranceOf(state);
  if (utterance === undefined) return false;
  const { manner } = utterance;
  const { floor } = state;
  const isCuttingIn =
    manner.cutsIn === true && floor.phase === 'speaking' && at - floor.audibleAt < CUT_IN_MS;
  return !isCuttingIn && (manner.interruptible ?? policy.interruptible);
}

/** The next state, and what is to be done. `at`: now. */
export function stepFloor(
  state: FloorState,
  input: FloorInput & { readonly at: Ms },
  view: View,
  policy: FloorPolicy,
): Step {
  const { at } = input;
  const { floor } = state;
  const utterance = utteranceOf(state);
  if (!isOf(floor, input)) return unchanged(state);
  const stop = (next: Next, effects: readonly FloorEffect[] = [], isOwn = false): Step => ({
    state: {
      ...state,
      floor: { phase: 'stopping', utterance: utterance ?? null, rest: restOf(floor), next },
    },
    effects: [...effects, { type: 'stop', isOwn }],
  });

  switch (input.type) {
    case 'say':
      return sayOn(state, input, view);

    case 'interrupted':
      return yields(state, at, policy) ? stop({ kind: 'nothing' }) : unchanged(state);
    case 'doubted':
      return yields(state, at, policy)
        ? { state: withUtterance(state, { isPaused: true }), effects: [{ type: 'pause' }] }
        : unchanged(state);
    case 'signed':
      return yields(state, at, policy) ? signed(state) : unchanged(state);

    case 'caller.active':
      return unchanged({ ...state, idle: callerActive(state.idle, at, policy.idle) });

    case 'quiet': {
      const { end, means } = input;
      const wait: FloorEffect = { type: 'wait', since: end.endedAt };
      if (utterance === undefined) return awaitWords(state, end, view);
      if (!yields(state, at, policy)) return { state, effects: [wait, { type: 'finish-utterance' }] };
      if (means === 'interrupted') return stop({ kind: 'expect-words', end }, [wait]);
      if (means === 'unknown' && utterance.isPaused) return awaitWords(state, end, view);
      const then = means === 'signed' ? signed(state) : unchanged(state);
      return { state: then.state, effects: [wait, ...then.effects, { type: 'forget-sound' }] };
    }

    case 'key':
    case 'keys.complete': {
      const idle = input.type === 'key' ? callerActive(state.idle, at, policy.idle) : state.idle;
      const then = input.type === 'key' ? 'keys' : 'take-up';
      const isUnbegun = utterance === undefined && view.isAwaited && policy.interruptible;
      if (policy.keysInterrupt && (isUnbegun || yields(state, at, policy))) {
        const stopped = stop({ kind: then }, [], true);
        return { ...stopped, state: { ...stopped.state, idle } };
      }
      const active = { ...state, idle };
      if (then === 'keys') return unchanged(active);
      if (policy.endsTurns) return answerKeys(active, view);
      return utterance === undefined ? takeUp(active, at, view) : unchanged(active);
    }

    case 'caller.finished': {
      const { agoMs } = input;
      const idle = callerActive(state.idle, at, policy.idle);
      const yielding = utterance?.manner.interruptible ?? policy.interruptible;
      const postpones = view.awaitsTools && (yielding || utterance === undefined || view.isCaughtUp);
      // Some who answer are silent while they wait for a tool.
      const effects: readonly FloorEffect[] = postpones ? [{ type: 'postpone-tools' }] : [];
      if (yielding)
        return { state: { ...state, idle }, effects: [...effects, { type: 'expect-answer', agoMs }] };
      if (utterance !== undefined && !postpones) return unchanged({ ...state, idle, isCallerOwed: true });
      return { state: { ...state, idle }, effects: [...effects, { type: 'respond' }] };
    }
    case 'cut-off':
      return stop({ kind: 'nothing' });
    case 'began':
      return began(state, view);
    case 'results':
      return results(state, input, view);

    case 'caller.complete': {
      const { times } = input;
      if (!view.isListening) return unchanged(state);
      if (utterance === undefined) return answerCaller(state, times, view);
      // The agent has begun to speak meanwhile. What it cannot be interrupted with is answered afterwards.
      if (!yields(state, at, policy)) return unchanged(state);
      if (hasMore(view.caller)) return stop({ kind: 'answer', times });
      if (!utterance.isPaused) return unchanged(state);
      if (utterance.isWhole) return stop({ kind: 'answer', times });
      // What it has not thought of yet would be lost.
      return {
        state: withUtterance(state, { isPaused: false }),
        effects: [{ type: 'heard-nothing' }, { type: 'go-on' }, { type: 'wordless' }],
      };
    }

    case 'audible':
      return floor.phase === 'thinking'
        ? unchanged({
            ...state,
            floor: { phase: 'speaking', utterance: floor.utterance, audibleAt: at },
          })
        : unchanged(state);
    case 'whole':
      return unchanged(withUtterance(state, { isWhole: true }));
    case 'ends': {
      const manner = { ...state.manner, ends: state.manner.ends ?? ('agent-hangup' as const) };
      return unchanged({ ...withUtterance(state, { manner }), manner });
    }

    case 'stopped':
      return floor.phase === 'stopping' ? stopped(state, floor, input, view, policy) : unchanged(state);

    case 'finished':
      return {
        state:
          floor.phase === 'ending'
            ? { ...state, floor: { ...floor, utterance: null } }
            : listening(state, null),
        effects: [
          { type: 'complete-turn', with: 'account', interrupted: false, isAnswered: true },
          ...uninterruptible(utterance, policy, { value: true }),
        ],
      };
    case 'over':
      return over(state, at, view, policy);

    case 'news': {
      const isQuiet = utterance === undefined && !hasMore(view.caller) && !view.caller.isActive;
      return view.isListening && isQuiet && isOwed(view) ? answerAgain(state, view) : unchanged(state);
    }
    case 'goes-on':
      return { state: withUtterance(state, { isPaused: false }), effects: [{ type: 'go-on' }] };

    case 'hold': {
      // Whoever forgets nothing needs no words of the rest but those that it was told to say.
      const isCut = policy.endsTurns && (view.isAwaited || (utterance !== undefined && !view.isCaughtUp));
      const { text = null, manner = {} } = utterance ?? {};
      const owed = isCut && text !== null ? { text, manner } : null;
      // What was said is over, and who is told of that holds the call before the caller is answered.
      const isCallerNext = utterance === undefined && state.isCallerOwed;
      const isAnswerOwed = (isCut && text === null) || isCallerNext;
      const { state: stopping, effects } = stop(
        { kind: 'hold', owed, isAnswerOwed },
        [{ type: 'wait-over' }],
        true,
      );
      return { state: { ...stopping, isCallerOwed: state.isCallerOwed && !isCallerNext }, effects };
    }
    case 'resume':
      return resume(state, input, view, policy);

    case 'due':
      return due(state, at, view, policy);

    case 'failing':
      return unchanged({ ...state, idle: idlePaused(state.idle) });
    case 'ending':
      return unchanged(ending(state));
    case 'end':
      return unchanged({ ...state, floor: { phase: 'over' }, idle: idlePaused(state.idle) });
  }
}

/** When `due` is wanted; null for not at all. */
export function deadlineOf({ idle }: FloorState): Ms | null {
  return idle.dueAt;
}

/** True while what is said is what the call ends with, and nobody has to be heard before it does. */
export function isLeaving(state: FloorState, { caller }: Pick<View, 'caller'>): boolean {
  const utterance = utteranceOf(state);
  if (utterance === undefined) return false;
  const { ends } = utterance.manner;
  return ends !== undefined && (ends !== 'idle' || !isOpposed(state, caller));
}

/** What is left to say of what was cut off, word for word; null for nothing. */
export function unsaidOf(utterance: Utterance | undefined, manner: Manner, account: Account): Unsaid | null {
  const { heard, unheard, goodbye } = account;
  // Nothing of it was even begun.
  const own = utterance?.text ?? null;
  if (heard === '' && unheard === '' && own !== null) return { text: own, manner };
  return toUnsaid(account, goodbye ?? unheard, manner);
}

/** The goodbye that is left to say; undefined where the call goes on. Who has said something all the same is answered first. */
export function goodbyeOf(unsaid: Unsaid | null, { caller }: Pick<View, 'caller'>): Goodbye | undefined {
  const reason = unsaid?.manner.ends;
  if (unsaid === null || reason === undefined || (reason === 'idle' && hasMore(caller))) return undefined;
  return { text: unsaid.text, reason };
}

/** What can happen while nobody listens, and what cannot while the agent has something to say. */
const IN_A_HOLD: readonly FloorInput['type'][] = [
  'say',
  'resume',
  'began',
  'results',
  'failing',
  'ending',
  'end',
];
const IN_SILENCE: readonly FloorInput['type'][] = ['say', 'resume', 'over', 'due'];

/** Whether an input means anything in this phase. */
function isOf(floor: Floor, { type }: FloorInput): boolean {
  switch (floor.phase) {
    case 'over':
      return false;
    case 'ending':
      return type === 'finished' || type === 'end';
    case 'held':
      return IN_A_HOLD.includes(type);
    case 'thinking':
    case 'speaking':
      return !IN_SILENCE.includes(type);
    case 'listening':
    case 'stopping':
      return true;
  }
}

function unchanged(state: FloorState): Step {
  return { state, effects: [] };
}

function isOpposed({ isCallerOwed }: FloorState, caller: View['caller']): boolean {
  return isCallerOwed || hasMore(caller) || caller.isSounding;
}

function toUnsaid({ goodbye }: Account, text: string, manner: Manner): Unsaid | null {
  const ends = goodbye === undefined ? undefined : (manner.ends ?? 'agent-hangup');
  if (text === '' && ends === undefined) return null;
  return { text, manner: { ...manner, cutsIn: false, ...(ends && { ends }) } };
}

function withUtterance(state: FloorState, change: Partial<Utterance>): FloorState {
  const { floor } = state;
  if (floor.phase !== 'thinking' && floor.phase !== 'speaking') return state;
  return { ...state, floor: { ...floor, utterance: { ...floor.utterance, ...change } } };
}

function restOf(floor: Floor): Unsaid | null {
  return 'rest' in floor ? floor.rest : null;
}

function hasMore({ hasText, hasKeys }: View['caller']): boolean {
  return hasText || hasKeys;
}

function isOwed({ turn }: View): boolean {
  return turn.isOwed || turn.hasNews;
}

function listening(state: FloorState, rest: Unsaid | null): FloorState {
  const { floor } = state;
  return { ...state, floor: floor.phase === 'held' ? { ...floor, rest } : { phase: 'listening', rest } };
}

function ending(state: FloorState): FloorState {
  const floor: Floor = {
    phase: 'ending',
    utterance: utteranceOf(state) ?? null,
    rest: restOf(state.floor),
  };
  return { ...state, floor, idle: idlePaused(state.idle) };
}

/** Nothing that happens before it is done changes that it is. */
function hangUp(state: FloorState, reason: AgentEnd): Step {
  return { state: ending(state), effects: [{ type: 'hang-up', isOutside: true, reason }] };
}

/** Effects first, then what follows on the state that they leave. */
function after(effects: readonly FloorEffect[], step: Step): Step {
  return { state: step.state, effects: [...effects, ...step.effects] };
}

function begin(
  state: FloorState,
  { text, manner }: { text: string | null; manner: Manner },
  { maySpeak }: View,
): { state: FloorState; utterance: Utterance | null } {
  const idle = idlePaused(state.idle);
  const rest = text === null ? null : { text, manner };
  if (!maySpeak || state.floor.phase === 'held')
    return { state: { ...listening(state, rest), idle }, utterance: null };
  const utterance = utteranceFor(state, { text, manner });
  const nextId = state.nextId + 1;
  return { state: { ...state, floor: { phase: 'thinking', utterance }, manner, idle, nextId }, utterance };
}

function say(state: FloorState, words: Unsaid, view: View): Step {
  const begun = begin(state, { text: words.text, manner: words.manner }, view);
  return { state: begun.state, effects: [{ type: 'say', utterance: begun.utterance }] };
}

/** Of what the call was to end with, all may have been heard. */
function sayOn(state: FloorState, rest: Unsaid, view: View): Step {
  const { text, manner } = rest;
  if (text === '' && manner.ends !== undefined) return hangUp(listening(state, null), manner.ends);
  return say(state, rest, view);
}

function answerAgain(state: FloorState, view: View): Step {
  const begun = begin(state, { text: null, manner: { cutsIn: false } }, view);
  return { state: begun.state, effects: [{ type: 'answer-again', utterance: begun.utterance }] };
}

/** Answers what the caller has said. Where that is nothing, their sound may have cut off something that goes on. */
function answerCaller(state: FloorState, times: TurnTimes | null, view: View): Step {
  const { caller, turn } = view;
  const rest = restOf(state.floor);
  const said = hasMore(caller);
  const nothing: readonly FloorEffect[] = said ? [] : [{ type: 'heard-nothing' }];
  if (said || (turn.userText ?? '') !== '') {
    const begun = begin(state, { text: null, manner: { cutsIn: times?.isCutShort === true } }, view);
    return after(nothing, {
      state: begun.state,
      effects: [{ type: 'answer', utterance: begun.utterance, times }],
    });
  }
  const without = listening(state, null);
  const wordless: readonly FloorEffect[] = [{ type: 'take-words' }, ...nothing, { type: 'wordless' }];
  if (state.manner.ends === 'idle') return after(wordless, hangUp(without, 'idle'));
  if (isOwed(view)) return after(wordless, answerAgain(without, view));
  return rest === null ? { state: without, effects: wordless } : after(wordless, sayOn(without, rest, view));
}

/** Answers what has come while nobody could answer it. */
function takeUp(state: FloorState, at: Ms, view: View): Step {
  if (view.caller.hasText) return awaitWords(state, { endedAt: at, isCutShort: false }, view);
  return view.caller.hasKeys && view.isListening ? answerCaller(state, null, view) : unchanged(state);
}

function awaitWords(state: FloorState, end: EndOfTurn, view: View): Step {
  const isResuming = utteranceOf(state)?.isPaused === true || restOf(state.floor) !== null || isOwed(view);
  const { isTakenOver } = view;
  return {
    state,
    effects: [
      { type: 'wait', since: end.endedAt },
      { type: 'expect-words', end, isResuming, isTakenOver },
    ],
  };
}

function signed(state: FloorState): Step {
  return {
    state: withUtterance(state, { isPaused: false }),
    effects: [{ type: 'dismiss-words' }, { type: 'go-on' }],
  };
}

/** The caller takes the floor, or nobody listens any more. */
function stopped(
  state: FloorState,
  floor: Extract<Floor, { phase: 'stopping' }>,
  { at, account }: { at: Ms; account: Account | null },
  view: View,
  policy: FloorPolicy,
): Step {
  const { utterance, rest, next } = floor;
  if (account === null) {
    const left = withUnbegun(next, utterance, policy);
    return follow(listening(state, rest), { at, next: left }, view, policy);
  }
  const isHold = next.kind === 'hold';
  const idle = idleWaits(state.idle, at, policy.idle);
  const isUnheard = account.heard === '';
  // Who has heard nothing of it goes on waiting: words may come late that were said before.
  const effects: FloorEffect[] = isUnheard ? [] : [{ type: 'wait-over' }];
  const hasAsked = policy.endsTurns || view.turn.userText !== '';
  const isDropped = isUnheard && (hasAsked || isHold);
  // What a hold came upon before it was heard is said in the same turn when it is over.
  if (isDropped) effects.push({ type: 'drop-answer' });
  else {
    const interrupted = !isHold || account.unheard !== '';
    effects.push({ type: 'complete-turn', with: 'account', interrupted });
  }
  effects.push(...uninterruptible(utterance, policy, { value: true }));
  const turn = {
    userText: isDropped ? view.turn.userText : undefined,
    isOwed: account.isOwed || (view.turn.isOwed && isUnheard),
    hasNews: view.turn.hasNews,
  };
  const left = isUnheard && hasAsked ? rest : restOfCut(state, floor, account, policy);
  return after(effects, follow({ ...listening(state, left), idle }, { at, next }, { ...view, turn }, policy));
}

/** Who is told that something begins may hold the call in that moment: all of it is owed. */
function withUnbegun(next: Next, utterance: Utterance | null, { endsTurns }: FloorPolicy): Next {
  if (next.kind !== 'hold' || utterance === null) return next;
  const { text, manner } = utterance;
  return text === null ? { ...next, isAnswerOwed: endsTurns } : { ...next, owed: { text, manner } };
}

/** What is said on where a sound was no words, or when a hold is over. */
function restOfCut(
  { manner }: FloorState,
  { utterance, next }: Extract<Floor, { phase: 'stopping' }>,
  account: Account,
  policy: FloorPolicy,
): Unsaid | null {
  if (policy.endsTurns) return null;
  // Who comes back after a hold has lost nothing of the sentence: it goes on where it was.
  if (next.kind === 'hold') return unsaidOf(utterance ?? undefined, manner, account);
  return toUnsaid(account, account.rest, manner);
}

function follow(
  state: FloorState,
  { at, next }: { at: Ms; next: Next },
  view: View,
  policy: FloorPolicy,
): Step {
  switch (next.kind) {
    case 'nothing':
      return unchanged(state);
    case 'hold': {
      const rest = next.owed ?? restOf(state.floor);
      const owes = { answer: next.isAnswerOwed, results: false };
      return unchanged({ ...state, floor: { phase: 'held', rest, owes }, idle: idlePaused(state.idle) });
    }
    // What keys cut off is not said again.
    case 'keys':
      return unchanged(listening(state, null));
    case 'take-up': {
      const silent = listening(state, null);
      return policy.endsTurns ? answerKeys(silent, view) : takeUp(silent, at, view);
    }
    case 'expect-words':
      return awaitWords(state, next.end, view);
    case 'answer':
      return answerCaller(state, next.times, view);
  }
}

/** Whoever answers is told whether it can be interrupted, where that is not as usual for what is said. */
function uninterruptible(
  utterance: Pick<Utterance, 'manner'> | null | undefined,
  policy: FloorPolicy,
  { value }: { value: boolean },
): readonly FloorEffect[] {
  const isSpecial = policy.endsTurns && policy.interruptible && utterance?.manner.interruptible === false;
  return isSpecial ? [{ type: 'interruptible', value }] : [];
}

function answerKeys(state: FloorState, view: View): Step {
  const tell: FloorEffect = { type: 'tell-keys' };
  if (utteranceOf(state) !== undefined) return { state: { ...state, isCallerOwed: true }, effects: [tell] };
  const postpone: readonly FloorEffect[] = view.awaitsTools ? [{ type: 'postpone-tools' }] : [];
  return { state, effects: [tell, ...postpone, { type: 'respond' }] };
}

/** An answer begins, asked for or not. */
function began(state: FloorState, view: View): Step {
  const { floor } = state;
  if (floor.phase === 'held') {
    const owes = { ...floor.owes, answer: floor.owes.answer || floor.rest === null };
    return { state: { ...state, floor: { ...floor, owes } }, effects: [{ type: 'suppress' }] };
  }
  // What nobody has asked for is an answer to the caller.
  const isCallerOwed = view.isAwaited && state.isCallerOwed;
  const idle = idlePaused(state.idle);
  const effects: readonly FloorEffect[] = [{ type: 'begin-answer' }];
  if (utteranceOf(state) !== undefined) return { state: { ...state, isCallerOwed, idle }, effects };
  const thinking: Floor = { phase: 'thinking', utterance: utteranceFor(state, { text: null, manner: {} }) };
  const nextId = state.nextId + 1;
  return { state: { floor: thinking, manner: {}, isCallerOwed, idle, nextId }, effects };
}

/** Who speaks now is answered with what tools gave anyway, and whom the agent takes leave of is told no more. */
function results(state: FloorState, { isCurrent }: { isCurrent: boolean }, view: View): Step {
  const { floor } = state;
  if (floor.phase === 'held')
    return unchanged({ ...state, floor: { ...floor, owes: { ...floor.owes, results: true } } });
  const ends = utteranceOf(state)?.manner.ends;
  if (ends === 'agent-hangup') return unchanged(state);
  // Who waits for a result is not idle.
  if (ends === 'idle') return unchanged({ ...state, isCallerOwed: true });
  return isCurrent || !view.caller.isSounding ? { state, effects: [{ type: 'respond' }] } : unchanged(state);
}

/** The floor is the caller's: words or keys that came while the agent could not be interrupted, or an agreement to what it said. */
function over(state: FloorState, at: Ms, view: View, policy: FloorPolicy): Step {
  const { caller } = view;
  const { manner } = state;
  if (manner.ends === 'agent-hangup') return hangUp(state, manner.ends);
  if (state.isCallerOwed) return { state: { ...state, isCallerOwed: false }, effects: [{ type: 'respond' }] };
  if (hasMore(caller) && !caller.isSounding) return takeUp(state, at, view);
  if (isOwed(view) && !caller.isSounding) return answerAgain(state, view);
  if (manner.ends === 'idle' && !isOpposed(state, caller)) return hangUp(state, manner.ends);
  return unchanged({ ...state, idle: idleWaits(state.idle, at, policy.idle) });
}

/** After a hold: words that came before it are answered, and what it cut off is said after all where that is wanted. */
function resume(
  state: FloorState,
  { at, how }: { at: Ms; how: Resumption },
  view: View,
  policy: FloorPolicy,
): Step {
  const idle = idleWaits(state.idle, at, policy.idle);
  const rest = restOf(state.floor);
  const owes = state.floor.phase === 'held' ? state.floor.owes : { answer: false, results: false };
  const back: FloorState = {
    ...state,
    floor: utteranceOf(state) === undefined ? { phase: 'listening', rest } : state.floor,
    idle,
  };
  if (how !== 'continue') {
    const waiting = listening(back, null);
    const closed: readonly FloorEffect[] = [{ type: 'complete-turn', with: 'nothing', interrupted: true }];
    if (owes.results) return { state: waiting, effects: [...closed, { type: 'respond' }] };
    // What the caller has said before is answered behind it.
    if (typeof how === 'object' && !isOwed(view))
      return after(closed, say(waiting, { text: how.news, manner: {} }, view));
    if (hasMore(view.caller)) return after(closed, takeUp(waiting, at, view));
    // A caller who was not transferred is told so.
    return isOwed(view) ? after(closed, answerAgain(waiting, view)) : { state: waiting, effects: closed };
  }
  if (owes.results || owes.answer) return { state: listening(back, null), effects: [{ type: 'respond' }] };
  if (hasMore(view.caller)) return takeUp(back, at, view);
  if (isOwed(view) || (view.turn.userText ?? '') !== '') return answerAgain(back, view);
  if (rest === null) return unchanged(back);
  const update = uninterruptible(rest, policy, { value: false });
  return after(update, sayOn(back, rest, view));
}

function due(state: FloorState, at: Ms, view: View, policy: FloorPolicy): Step {
  const look = idleDue(state.idle, { at, isSounding: view.caller.isActive }, policy.idle);
  const next = { ...state, idle: look.state };
  if (look.say === null) return unchanged(next);
  const { text, isLast } = look.say;
  // Music goes on behind a goodbye. Once is enough.
  if (isLast && state.manner.ends === 'idle') return hangUp(next, 'idle');
  if (!view.isListening) return unchanged(next);
  return say(next, { text, manner: isLast ? { ends: 'idle' } : {} }, view);
}
