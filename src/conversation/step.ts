// How a conversation changes: everything that can happen, and what follows. One state, one step: an input finds its parts here, and what the
// floor decides is carried out on the others in the same step. Pure: no clock, no promise, no voice mode.
import type { CallPhase, TranscriptEntry } from '../contract/call-record.js';
import type { SessionHandle } from '../contract/session-handle.js';
import { textOf } from './caller-words.js';
import {
  type Account,
  type FloorEffect,
  type FloorInput,
  type FloorPolicy,
  hangUpIn,
  isAside,
  isHeld,
  isLeaving as isFloorLeaving,
  isUnsaid,
  type TurnTimes,
  type Utterance,
  utteranceOf,
  type View,
} from './floor.js';
import { stepFloor } from './floor-step.js';
import { type SpokenPiece, turnSpoken } from './language.js';
import type { Milestone } from './latency.js';
import { phaseOf, type VoiceView } from './phase.js';
import {
  type ConversationState,
  deadlineOfPart,
  type Leaving,
  leftBy,
  PARTS,
  type Part,
  standingIn,
} from './state.js';
import { leftIn, requestsLeft } from './succession.js';
import type { Id, Moment, Settlement } from './tools.js';
import * as troubles from './trouble.js';
import type { Failing, Recourse, TroubleStep } from './trouble.js';
import * as turns from './turns.js';
import type { AnswerAccount, AnswerId, Change, TurnFact, Turns, TurnsPolicy, WantedTool } from './turns.js';
import * as callers from './untaken.js';
import type { Taken, Untaken } from './untaken.js';
import * as waits from './wait.js';
import type { Ms, Wait } from './wait.js';
import * as watches from './watch.js';
import type { Watch } from './watch.js';

/** What a conversation is led by. */
export interface Policy extends FloorPolicy, TurnsPolicy {}

/** What only a driver knows, because it is about sound and requests that are under way. */
export interface Live {
  /** There is a voice. */
  readonly hasVoice: boolean;
  /** Everything that came so far was heard. */
  readonly isCaughtUp: boolean;
  /** Whoever answers waits for the results of tools. */
  readonly awaitsTools: boolean;
}

/** What stands beside a state as an input comes. */
export interface Given {
  readonly at: Moment;
  readonly live: Live;
  readonly policy: Policy;
}

type Told<Type extends FloorInput['type']> = Extract<FloorInput, { type: Type }>;

/** Who has the floor. */
export type TurnTakingInput =
  | Exclude<
      FloorInput,
      Told<'began' | 'caller.complete' | 'caller.finished' | 'finished' | 'keys.complete' | 'stopped'>
    >
  /** A caller who is heard by whoever answers has begun to speak. */
  | { readonly type: 'caller.speaks' }
  /** `itemId`: what whoever hears them calls it. */
  | (Told<'caller.finished'> & { readonly itemId: string })
  /** The caller, whose sound is gathered on this side, makes one. `startedAt`: it is their voice, since then, in epoch milliseconds. */
  | { readonly type: 'caller.sounds'; readonly startedAt?: number }
  /** Words of them, as they stand in the transcript now; of a piece that a turn has taken (`isTaken`), they change that alone. */
  | { readonly type: 'caller.words'; readonly entry: TranscriptEntry; readonly isTaken: boolean }
  /** There should be words of what they have said, or (false) there are some. */
  | { readonly type: 'caller.wordless'; readonly is: boolean }
  /** Everything there is of what they said has come, which may be nothing. */
  | { readonly type: 'caller.complete' }
  /** Keys, in words, that are all. */
  | { readonly type: 'keys.complete'; readonly keys: string }
  /** `isMore`: of an answer that has sound already. */
  | { readonly type: 'began'; readonly isMore: boolean }
  /** `answer`: what stands in the record of it. */
  | { readonly type: 'stopped'; readonly account: Account | null; readonly answer: AnswerAccount | null }
  | { readonly type: 'finished'; readonly answer: AnswerAccount };

/** What is said, done and heard. */
export type RecordInput =
  /** The driver begins. Tools that go on, or are run again, with the result of those that have one. */
  | { readonly type: 'takes-over'; readonly runs: readonly TakenRun[] }
  /** What whoever hears the caller has understood of `itemId`. */
  | {
      readonly type: 'caller.text';
      readonly itemId: string;
      readonly text: string;
      readonly isFinal: boolean;
    }
  /** Keys, in words, that are all because nobody listens any more. */
  | { readonly type: 'pressed'; readonly text: string }
  /** The model is to know something that nobody hears. */
  | { readonly type: 'noted'; readonly text: string }
  /** A milestone of an answer: of the one that is on where `of` does not say which. */
  | {
      readonly type: 'reached';
      readonly milestone: Milestone | 'heard';
      readonly time: Ms;
      readonly of?: AnswerId;
    }
  | { readonly type: 'filler.sent'; readonly afterMs: Ms; readonly of: AnswerId }
  | { readonly type: 'spoken'; readonly text: string }
  /** The agent has called tools. Their ids are `nextToolIds`. */
  | { readonly type: 'tools.called'; readonly tools: readonly WantedTool[] }
  /** `isTold`: nobody else tells of it. */
  | {
      readonly type: 'tool.settled';
      readonly id: Id;
      readonly settlement: Settlement;
      readonly isTold: boolean;
    }
  /** No answer waits for these. */
  | { readonly type: 'tools.postponed'; readonly ids: readonly Id[] }
  /** The model has the results of these. */
  | { readonly type: 'tools.told'; readonly ids: readonly Id[] }
  /** The open turn is over, whatever has the floor. */
  | { readonly type: 'completed'; readonly answer: AnswerAccount; readonly interrupted: boolean }
  /** Nobody listens to the caller any more. What they have said and nobody has answered belongs to the turn that is open. */
  | { readonly type: 'concluded'; readonly answer: AnswerAccount; readonly interrupted: boolean }
  /** Nothing is waited for any more. */
  | { readonly type: 'closed' }
  /**
   * Another driver goes on, behind `gives-up`: the state that follows is what it begins with. What the caller has said and nobody has answered is
   * a turn in any case. `said`: what became of what was being said, where no `stopped` has told it.
   */
  | ({
      readonly type: 'leaves';
      readonly said: { readonly account: Account; readonly answer: AnswerAccount } | null;
    } & Pick<Leaving, 'unheardSince' | 'troubledSince'>)
  | {
      readonly type: 'language.heard';
      readonly pieces: readonly SpokenPiece[];
      readonly turnIndex: number;
      readonly languages: readonly string[];
    }
  | { readonly type: 'resumable'; readonly session: SessionHandle | undefined };

/** A tool that somebody before this driver has begun. */
export interface TakenRun {
  readonly id: Id;
  readonly settlement: Settlement | undefined;
  /** Nobody else tells of it. */
  readonly isTold: boolean;
}

/** How long the caller waits, and what is owed to them. */
export type WaitInput =
  /** The driver begins. `isReplaceable`: somebody else can answer in its place. */
  | { readonly type: 'starts'; readonly isReplaceable: boolean }
  | { readonly type: 'wait.begun'; readonly since: Ms; readonly minMs?: Ms }
  | { readonly type: 'wait.over' }
  /** The voice has words that the caller has not heard, or none. */
  | { readonly type: 'words.ready'; readonly has: boolean }
  /** There is sound for the caller until then, or none any more. */
  | { readonly type: 'sounds'; readonly until: Ms }
  | { readonly type: 'silenced' }
  /** What the application took since then is not the providers' time. */
  | { readonly type: 'excused'; readonly from: Ms }
  /** There is a connection to whoever answers. */
  | { readonly type: 'ready' }
  /** Signs of life, and sound for the caller, which come too often to be told of one by one. */
  | { readonly type: 'alive'; readonly since: Ms | undefined; readonly soundsUntil: Ms | undefined }
  /** The connection is gone. `isAnswered`: what is answered has been done something on. `unansweredMs`: as `watch.lost` has it. */
  | {
      readonly type: 'connection.lost';
      readonly agoMs: Ms;
      readonly unansweredMs: Ms | null;
      readonly isAnswered: boolean;
    }
  /** There is another one, which hears what was said last once more (`hearsAgain`). */
  | {
      readonly type: 'connection.back';
      readonly isResponding: boolean;
      readonly hearsAgain: boolean;
      readonly gapMs: Ms;
    }
  /** Whoever answers is asked for it, whatever has the floor. */
  | { readonly type: 'asked' }
  /** An answer is to come: one that was asked for, or that is given without that. */
  | { readonly type: 'owes'; readonly isAsked: boolean; readonly waitedMs?: Ms }
  /** What had begun is complete. `none`: nobody listened to it. */
  | {
      readonly type: 'response.ended';
      readonly answer: 'given' | 'empty' | 'none';
      readonly hasTools: boolean;
      /** Something was said before it in the same answer. @default false */
      readonly hasSound?: boolean;
    }
  /** The caller hears that it takes a moment. */
  | { readonly type: 'filler.said' }
  /** Words that whoever answers was told to say have no sound, and they do something else. */
  | { readonly type: 'unsaid' }
  /** Nothing is looked for any more. */
  | { readonly type: 'watch.closed' }
  /** Whoever hears the caller by itself is gone, and what it has said is heard out. */
  | { readonly type: 'unheard' };

/** What has failed. */
export type TroubleInput =
  | ({ readonly type: 'failed' } & Pick<
      Failing,
      'stage' | 'isPassing' | 'hasFallback' | 'isAwaited' | 'awaitedSince'
    >)
  /** The call goes on where nobody is heard. */
  | { readonly type: 'missed' }
  | { readonly type: 'apology.begun' };

/** Everything that can happen. */
export type Input =
  | TurnTakingInput
  | RecordInput
  | WaitInput
  | TroubleInput
  /** `deadlineOf` the state has come, or of what is audible to be looked at. */
  | { readonly type: 'due' };

type Carried = Exclude<
  FloorEffect,
  {
    type:
      | 'say'
      | 'answer'
      | 'answer-again'
      | 'take-words'
      | 'forget-sound'
      | 'tell-keys'
      | 'wait'
      | 'wait-over'
      | 'expect-answer'
      | 'complete-turn'
      | 'drop-answer';
  }
>;

/** Everything to be done. */
export type Effect =
  | Carried
  /** States facts, before anything else that follows. */
  | { readonly type: 'facts'; readonly facts: readonly TurnFact[] }
  /** Says it in the turn that is open. */
  | { readonly type: 'say' | 'answer-again'; readonly utterance: Utterance | null; readonly answer: AnswerId }
  /** Answers what the caller has said. No times: it came while nobody could answer it. */
  | {
      readonly type: 'answer';
      readonly utterance: Utterance | null;
      readonly times: TurnTimes | null;
      readonly answer: AnswerId;
      readonly taken: Taken;
    }
  /** The same without an answer. */
  | { readonly type: 'take-words'; readonly taken: Taken }
  /** What the caller has pressed is told to whoever answers. */
  | { readonly type: 'tell-keys'; readonly text: string }
  /** What was said last is in the record. */
  | { readonly type: 'answer-over' }
  /** Asks for what came to nothing once more: for an answer, or for these words. */
  | { readonly type: 'ask-again'; readonly text: string | null }
  /** No more comes of what is under way. */
  | { readonly type: 'end-response' }
  /** What was under way on the connection before is asked for on this one. */
  | { readonly type: 'take-up-response'; readonly hearsAgain: boolean; readonly gapMs: Ms }
  /** Whoever answers gives nothing (`silent`), or loses every connection on which it is asked (`barren`). */
  | { readonly type: 'silent' | 'barren' }
  /** `isFirst`: nothing else has failed that the call ends for. */
  | { readonly type: 'recourse'; readonly recourse: Recourse; readonly isFirst: boolean }
  /** What the caller experiences may have changed. */
  | { readonly type: 'tell-phase' };

export interface Step {
  readonly state: ConversationState;
  readonly effects: readonly Effect[];
}

/** One that breaks so many connections off when it is asked gives no answer on the next one either. */
const MAX_BARREN = 3;

const NO_TURN = { userText: undefined, isOwed: false, hasNews: false };

const NO_ANSWER: AnswerAccount = { heard: '', unheard: '', rounds: [], heardAfter: '', isOwed: false };

/** The next state, and what is to be done. */
export function step(state: ConversationState, input: Input, given: Given): Step {
  const { at, policy } = given;
  const { watch, turns: before, untaken } = state;
  const { now } = at;
  const withUntaken = (next: Untaken): Step => unchanged({ ...state, untaken: next });
  const withTurns = (change: Change): Step => recorded(state, change);
  const withTurnsOnly = (next: Turns): Step => unchanged({ ...state, turns: next });
  const withWatch = (next: Watch): Step => unchanged({ ...state, watch: next });
  const withWait = (wait: Wait): Step => withWatch({ ...watch, wait });
  const withTrouble = (next: TroubleStep): Step => troubled(state, next);

  switch (input.type) {
    case 'takes-over':
      return takesOver(state, input.runs, given);
    case 'caller.text':
      return withTurns(turns.heard(before, { ...input, at }, policy));
    case 'pressed':
      return policy.endsTurns
        ? withTurnsOnly(turns.says(before, input.text, at))
        : withUntaken(callers.pressed(untaken, input.text));
    case 'noted':
      return withTurnsOnly(turns.noted(before, input.text));
    case 'reached':
      return withTurnsOnly(turns.measured(before, { ...input, at: input.time }));
    case 'filler.sent':
      return withTurnsOnly(turns.filled(before, input));
    case 'spoken':
      return withTurns(turns.spoken(before, input.text, at));
    case 'tools.called':
      return withTurns(turns.called(before, input.tools, at));
    case 'tool.settled':
      return toolSettled(state, input, at);
    case 'tools.postponed':
      return withTurnsOnly(turns.goOnWithout(before, input.ids));
    case 'tools.told':
      return withTurnsOnly(turns.toldOf(before, input.ids));
    case 'completed':
      return withTurns(turns.complete(before, endOf(input, at), policy));
    case 'concluded':
      return concluded(state, { ...input, isLast: true }, given);
    case 'closed':
      return withTurns(turns.closed(before, policy));
    case 'leaves':
      return leaves(state, input, given);
    case 'language.heard':
      return unchanged({ ...state, language: turnSpoken(state.language, input, input.languages) });
    case 'resumable':
      return unchanged({ ...state, session: input.session });

    case 'starts': {
      const unheardSince = policy.endsTurns ? (state.unheardSince ?? now) : state.unheardSince;
      return unchanged({ ...state, watch: starts(watch, input, given), unheardSince });
    }
    case 'wait.begun':
      return withWait(waits.beginWait(watch.wait, { ...input, at: now }));
    case 'wait.over':
      return withWait(waits.endWait(watch.wait, now));
    case 'words.ready':
      return withWait(waits.withWords(watch.wait, { has: input.has, at: now }));
    case 'sounds':
      return withWait(waits.withSound(watch.wait, input.until));
    case 'silenced':
      return withWait(waits.withoutSound(watch.wait, now));
    case 'excused':
      return withWait(waits.excuse(watch.wait, { from: input.from, at: now }));
    case 'ready':
      return unchanged({ ...state, watch: watches.ready(watch, now), unheardSince: null });
    case 'alive':
      return withWatch(watches.signs(watch, input));
    case 'connection.lost':
      return unchanged({
        ...state,
        turns: turns.connectionLost(before, { isAnswered: input.isAnswered, at }, policy),
        watch: watches.lost(watch, { ...input, at: now }),
      });
    case 'connection.back':
      return connectionBack(state, input, given);
    case 'asked':
      return { state: owing(state, at), effects: [{ type: 'respond' }] };
    case 'owes':
      return withWatch(watches.owes(watch, { waitedMs: 0, ...input, at: now }));
    case 'response.ended':
      return responseEnded(state, input, given);
    case 'filler.said':
      return withWatch({ ...watch, hasFilled: true });
    case 'unsaid':
      return unsaid(state, at);
    case 'watch.closed':
      return withWatch(watches.closed(watch));
    case 'unheard':
      return unchanged({ ...state, unheardSince: state.unheardSince ?? now });

    case 'failed':
      return failed(state, input, given);
    case 'missed':
      return unchanged({ ...state, trouble: troubles.missed(state.trouble) });
    case 'apology.begun':
      return unchanged({ ...state, trouble: troubles.apologyBegun(state.trouble, now) });

    case 'due':
      return due(state, given);

    case 'caller.speaks': {
      const speaking = { ...state, turns: turns.speechStarted(before, at), watch: callerSpeaks(watch, true) };
      return floorStep(speaking, { type: 'caller.active' }, given);
    }
    case 'caller.finished': {
      const { itemId, agoMs } = input;
      const said = withTurns(turns.speechEnded(before, { itemId, agoMs, at }, policy));
      const silent = { ...said, state: { ...said.state, watch: callerSpeaks(watch, false) } };
      return then(silent, (next) => floorStep(next, { type: 'caller.finished', agoMs }, given));
    }
    case 'caller.sounds':
      return { ...withUntaken(callers.sounds(untaken, input.startedAt)), effects: [{ type: 'tell-phase' }] };
    case 'caller.words': {
      const { entry, isTaken } = input;
      const worded = isTaken ? untaken : callers.worded(untaken, entry);
      return stated({ ...state, untaken: worded }, [entry]);
    }
    case 'caller.wordless':
      return withUntaken({ ...untaken, isWordless: input.is });
    case 'caller.active':
      return floorStep({ ...state, untaken: callers.active(untaken) }, input, given);
    case 'quiet':
      return floorStep({ ...state, untaken: { ...untaken, isSounding: false } }, input, given);
    case 'caller.complete': {
      const { ended: times, isPressing } = untaken;
      const whole = { ...state, untaken: { ...untaken, ended: null } };
      // Keys that are still being pressed belong to the turn: they are waited for.
      if (times === null || isPressing) return unchanged(whole);
      return floorStep(whole, { type: 'caller.complete', times }, given);
    }
    case 'key':
      return floorStep({ ...state, untaken: { ...untaken, isPressing: true } }, input, given);
    case 'keys.complete': {
      const pressed = { ...state, untaken: callers.pressed(untaken, input.keys) };
      // What else is waited for they are answered with.
      const isWaited = !policy.endsTurns && callers.callerOf(untaken).isActive;
      return isWaited ? unchanged(pressed) : floorStep(pressed, { type: 'keys.complete' }, given);
    }
    case 'began':
      return begins(state, input, given);
    case 'hold': {
      const silent = { ...deaf(state), watch: callerSpeaks(watch, false) };
      const held = floorStep(silent, input, given);
      return then(held, (next) => troubled(next, troubles.silenced(next.trouble)));
    }
    case 'over':
      return isFailing(state)
        ? withTrouble(troubles.saidAll(state.trouble))
        : floorStep(state, { type: 'over' }, given);
    case 'ending':
    case 'end':
      return floorStep({ ...deaf(state), trouble: troubles.ended(state.trouble) }, input, given);
    case 'gives-up':
      return floorStep(policy.endsTurns ? { ...state, standing: standingIn(state) } : state, input, given);
    case 'stopped':
      return stopped(state, input, given);
    case 'finished':
      return floorStep(state, input, given, input.answer);
    default:
      return floorStep(state, input, given);
  }
}

/** What the caller experiences; undefined where the floor does not say. */
export function phaseIn(
  state: ConversationState,
  { policy, sound }: { policy: Policy; sound: VoiceView },
): CallPhase | undefined {
  const { turns: record, watch } = state;
  // An answer may follow on tools that an engine before this one has begun.
  const isAwaited = watch.owed !== null || (policy.endsTurns && record.isOwed && turns.isRunningIn(record));
  return phaseOf(state.floor, { caller: callerIn(state, policy), isAwaited }, sound);
}

/** True while what is said is what the call ends with, and nobody has to be heard before it does. */
export function isLeaving(state: ConversationState, policy: Policy): boolean {
  return isFloorLeaving(state.floor, { caller: callerIn(state, policy) });
}

/** What is heard of the caller. One who is answered without being asked for it has said what nobody on this side knows. */
export function callerIn({ untaken, watch }: ConversationState, { endsTurns }: Policy): View['caller'] {
  if (!endsTurns) return callers.callerOf(untaken);
  const { isCallerSpeaking: isSounding, owed } = watch;
  const { isPressing } = untaken;
  return { hasText: false, hasKeys: false, isPressing, isSounding, isActive: isSounding || owed !== null };
}

/** The call cannot go on. */
export function isFailing({ trouble: { phase } }: Pick<ConversationState, 'trouble'>): boolean {
  return phase === 'apologizing' || phase === 'over';
}

/** What the floor is to know of the rest. */
function viewOf(state: ConversationState, input: FloorInput, { at, live, policy }: Given): View {
  const { turns: record, watch, trouble } = state;
  const isOpen = input.type === 'resume' || !isHeld(state.floor);
  return {
    isListening: isOpen && trouble.phase === 'none',
    maySpeak: isOpen && live.hasVoice,
    caller: callerIn(state, policy),
    turn: policy.endsTurns ? NO_TURN : turnIn(record),
    isTakenOver: waits.isTakenOver(watch.wait, at.now),
    isAwaited: watch.owed !== null,
    isCaughtUp: live.isCaughtUp,
    awaitsTools: live.awaitsTools,
  };
}

/** Looked up where it is asked for: it takes a look at the whole conversation. */
function turnIn(record: Turns): View['turn'] {
  return {
    get userText() {
      return record.open === null ? undefined : textOf(turns.saidIn(record));
    },
    isOwed: record.isOwed,
    get hasNews() {
      return turns.newsIn(record).length > 0;
    },
  };
}

function unchanged(state: ConversationState): Step {
  return { state, effects: [] };
}

function then(first: Step, next: (state: ConversationState) => Step): Step {
  const { state, effects } = next(first.state);
  return { state, effects: [...first.effects, ...effects] };
}

function recorded(state: ConversationState, { turns: next, facts }: Change): Step {
  // Also where there are none: what is left of a step before is stated with them.
  return { state: { ...state, turns: next }, effects: [{ type: 'facts', facts }] };
}

/** These entries of the transcript have changed. */
function stated(state: ConversationState, entries: readonly TranscriptEntry[]): Step {
  const facts = entries.map((entry): TurnFact => ({ type: 'transcript.segment', entry }));
  return { state, effects: facts.length === 0 ? [] : [{ type: 'facts', facts }] };
}

/** Nobody listens to the caller. */
function deaf(state: ConversationState): ConversationState {
  return { ...state, untaken: callers.unheard(state.untaken) };
}

/** A turn takes what the caller has said and pressed: the one that is open, or the next. */
function takes(state: ConversationState): Step & { readonly taken: Taken } {
  const { untaken, taken } = callers.take(state.untaken, turns.indexOf(state.turns));
  return { ...stated({ ...state, untaken }, taken.moved), taken };
}

/** It is what the open turn answers, or a new one. */
function answered(state: ConversationState, { text, startedAt }: Taken, { at, policy }: Given): Step {
  return recorded(state, turns.answerTo(state.turns, { text, startedAt: startedAt ?? at.wall, at }, policy));
}

function troubled(state: ConversationState, { trouble, recourse }: TroubleStep): Step {
  const isFirst = !isFailing(state);
  const next = { ...state, trouble };
  return recourse.type === 'nothing'
    ? unchanged(next)
    : { state: next, effects: [{ type: 'recourse', recourse, isFirst }] };
}

function callerSpeaks(watch: Watch, isCallerSpeaking: boolean): Watch {
  return watch.isCallerSpeaking === isCallerSpeaking ? watch : { ...watch, isCallerSpeaking };
}

function endOf(
  { answer: account, interrupted }: { answer: AnswerAccount; interrupted: boolean },
  at: Moment,
) {
  return { account, interrupted, at };
}

/** The floor decides, and the rest follows. `answer`: what stands in the record of what was being said. */
function floorStep(
  state: ConversationState,
  input: FloorInput,
  given: Given,
  answer: AnswerAccount | null = null,
): Step {
  const timed = { ...input, at: given.at.now };
  const decided = stepFloor(state.floor, timed, viewOf(state, input, given), given.policy);
  const effects: Effect[] = [];
  let next: ConversationState = { ...state, floor: decided.state };
  for (const effect of decided.effects) {
    const done = carriedOut(next, effect, answer, given);
    next = done.state;
    effects.push(...done.effects);
  }
  // What follows on these comes in the same tick: the floor is handed over, or the call ends.
  if (input.type !== 'finished' && input.type !== 'failing') effects.push({ type: 'tell-phase' });
  return { state: next, effects };
}

/** What began as an aside, and has sound, goes on as an answer. */
function begins(state: ConversationState, { isMore }: { isMore: boolean }, given: Given): Step {
  const begun = floorStep(state, { type: 'began' }, given);
  if (!isMore || begun.effects.every(({ type }) => type !== 'begin-answer')) return begun;
  return { ...begun, state: { ...begun.state, turns: turns.noAside(begun.state.turns) } };
}

/** What the floor has decided, on the other parts. What is left is the driver's. */
function carriedOut(
  state: ConversationState,
  effect: FloorEffect,
  answer: AnswerAccount | null,
  given: Given,
): Step {
  const { at, policy } = given;
  const { endsTurns } = policy;
  const { watch, turns: before, untaken } = state;
  const passed = (next: ConversationState): Step => ({ state: next, effects: [effect as Carried] });
  switch (effect.type) {
    case 'say': {
      const { utterance } = effect;
      if (endsTurns && utterance === null) return unchanged(state);
      const opened = isAside(utterance)
        ? turns.aside(before, at)
        : endsTurns
          ? turns.answer(before, at, policy)
          : turns.answerTo(before, { text: '', startedAt: at.wall, at }, policy);
      return then(recorded(endsTurns ? toldToSay(state, at) : state, opened), (next) => saying(next, effect));
    }
    case 'answer': {
      const { taken, ...left } = takes(state);
      const asked = then(left, (next) => answered(next, taken, given));
      return then(asked, (next) => {
        return { state: next, effects: [{ ...effect, answer: turns.answerIn(next.turns), taken }] };
      });
    }
    case 'take-words': {
      const { taken, ...left } = takes(state);
      return then(left, (next) => ({ state: next, effects: [{ type: 'take-words', taken }] }));
    }
    case 'dismiss-words': {
      const { untaken: left, dropped } = callers.dismiss(untaken);
      return then(stated({ ...state, untaken: left }, dropped), (next) => ({
        state: next,
        effects: [effect],
      }));
    }
    case 'forget-sound':
      return unchanged({ ...state, untaken: { ...untaken, startedAt: null } });
    case 'expect-words': {
      const { endedAt, isCutShort, isInSound = false } = effect.end;
      const ended = { speechEndedAt: endedAt, turnEndedAt: at.now, isCutShort, isInSound };
      return passed({ ...state, untaken: { ...untaken, ended } });
    }
    case 'answer-again': {
      const afresh = { text: '', startedAt: at.wall, isPutOff: effect.isPostponed, at };
      return then(recorded(state, turns.answerTo(before, afresh, policy)), (next) => saying(next, effect));
    }
    case 'respond':
      return passed(owing(state, at));
    case 'expect-answer':
      return unchanged({ ...state, watch: watches.owesCaller(watch, { agoMs: effect.agoMs, at: at.now }) });
    case 'begin-answer': {
      const begun = { ...state, watch: watches.began(watch, at.now) };
      return then(recorded(begun, turns.answer(before, at, policy)), passed);
    }
    case 'tell-keys': {
      const { keys: text } = state.untaken;
      const said = turns.says(before, text, at);
      const next = { ...state, turns: said, untaken: { ...state.untaken, keys: '' } };
      return { state: next, effects: [{ type: 'tell-keys', text }] };
    }
    case 'stop':
      return passed(endsTurns ? { ...state, watch: watches.rest(watch, at.now) } : state);
    case 'complete-turn': {
      const hasAnswer = effect.with === 'account' && answer !== null;
      const end = { account: hasAnswer ? answer : NO_ANSWER, interrupted: effect.interrupted, at };
      const left = recorded(state, turns.complete(before, end, policy));
      return then(left, (next) => {
        // Whatever was said, an answer was given to its end.
        const isPaid = effect.isAnswered === true && !endsTurns;
        const paid = isPaid ? { ...next, turns: { ...next.turns, isOwed: false } } : next;
        return hasAnswer ? answerOver(paid) : unchanged(paid);
      });
    }
    case 'drop-answer':
      return then(
        answer === null ? unchanged(state) : recorded(state, turns.dropAnswer(before, answer, at)),
        answerOver,
      );
    case 'wait':
      return unchanged(
        endsTurns ? state : withWait(state, waits.beginWait(watch.wait, { since: effect.since, at: at.now })),
      );
    case 'wait-over':
      return unchanged(endsTurns ? state : withWait(state, waits.endWait(watch.wait, at.now)));
    default:
      return passed(state);
  }
}

function withWait(state: ConversationState, wait: Wait): ConversationState {
  return { ...state, watch: { ...state.watch, wait } };
}

function owing(state: ConversationState, { now }: Moment): ConversationState {
  return { ...state, watch: watches.owes(state.watch, { isAsked: true, waitedMs: 0, at: now }) };
}

/** Whoever answers is told to say something: what was special about the words before is over. */
function toldToSay(state: ConversationState, at: Moment): ConversationState {
  const { watch, ...rest } = owing(state, at);
  return { ...rest, watch: { ...watch, hasFilled: false, isRepeated: false } };
}

function saying(
  state: ConversationState,
  { type, utterance }: Extract<FloorEffect, { type: 'say' | 'answer-again' }>,
): Step {
  return { state, effects: [{ type, utterance, answer: turns.answerIn(state.turns) }] };
}

/** With the answer is over what was special about it. */
function answerOver(state: ConversationState): Step {
  const watch = { ...state.watch, hasFilled: false };
  return { state: { ...state, watch }, effects: [{ type: 'answer-over' }] };
}

/** Each part that is due, in their order. */
function due(state: ConversationState, given: Given): Step {
  const { now } = given.at;
  const isDue = (part: Part) => (deadlineOfPart(state, part) ?? Number.POSITIVE_INFINITY) <= now;
  let next: Step = unchanged(state);
  for (const part of PARTS.filter(isDue)) next = then(next, (from) => duePart(from, part, given));
  return next;
}

function duePart(state: ConversationState, part: Part, given: Given): Step {
  const { at, policy } = given;
  const isAudible = state.floor.floor.phase === 'speaking';
  switch (part) {
    case 'turns':
      return recorded(state, turns.due(state.turns, at, policy));
    case 'floor':
      return floorStep(state, { type: 'due' }, given);
    case 'watch': {
      const { watch, found } = watches.due(state.watch, at.now);
      const looked = { ...state, watch };
      if (found === 'late') return { state: owing(looked, at), effects: [{ type: 'respond' }] };
      return { state: looked, effects: found === 'silent' ? [{ type: 'silent' }] : [] };
    }
    case 'trouble':
      return troubled(state, troubles.due(state.trouble, { isAudible, at: at.now }));
  }
}

/** What somebody before this driver has begun is waited for by the answer that they left to be given, and else by nobody. */
function takesOver(state: ConversationState, runs: readonly TakenRun[], { at }: Given): Step {
  const live = runs.map(({ id }) => id);
  return then(recorded(state, turns.takenOver(state.turns, { live, at })), (next) => {
    let taken = unchanged({ ...next, turns: { ...next.turns, isOwed: state.owed.kind === 'answer' } });
    for (const { id, settlement, isTold } of runs)
      if (settlement !== undefined)
        taken = then(taken, (from) => toolSettled(from, { id, settlement, isTold }, at));
    return then(taken, (from) => {
      const awaited = from.turns.isOwed ? turns.awaitedIn(from.turns) : [];
      const others = turns.runningIn(from.turns).filter((id) => !awaited.includes(id));
      return unchanged({ ...from, turns: turns.goOnWithout(from.turns, others) });
    });
  });
}

function toolSettled(
  state: ConversationState,
  { id, settlement, isTold }: { id: Id; settlement: Settlement; isTold: boolean },
  at: Moment,
): Step {
  const change = turns.toolSettled(state.turns, { id, settlement, at });
  return isTold ? recorded(state, change) : unchanged({ ...state, turns: change.turns });
}

function concluded(
  state: ConversationState,
  input: { readonly answer: AnswerAccount; readonly interrupted: boolean; readonly isLast: boolean },
  given: Given,
): Step {
  const { at, policy } = given;
  const over = (from: ConversationState, end: { answer: AnswerAccount; interrupted: boolean }) =>
    recorded(from, turns.complete(from.turns, endOf(end, at), policy));
  return then(input.answer.heard === '' ? unchanged(state) : over(state, input), (heard) => {
    const isOpen = heard.turns.open !== null;
    const { taken, ...left } = takes(heard);
    const isTurn = taken.text !== '' && (isOpen || !input.isLast);
    const said = then(left, (next) => (isTurn ? answered(next, taken, given) : unchanged(next)));
    return then(said, (next) => {
      // What is open then, whoever goes on completes.
      if (!isOpen) return over(next, { answer: NO_ANSWER, interrupted: false });
      return input.isLast ? over(next, input) : unchanged(next);
    });
  });
}

/** What a driver cuts off that gives the call up is kept for the next one. */
function stopped(state: ConversationState, input: Extract<Input, { type: 'stopped' }>, given: Given): Step {
  const done = floorStep(state, input, given, input.answer);
  const { standing, turns: before } = state;
  if (standing === undefined || input.account === null) return done;
  const { heard, unheard } = input.account;
  const isHalfHeard = before.open?.isAside === false && done.state.turns.open === null;
  return { ...done, state: { ...done.state, standing: { ...standing, heard, unheard, isHalfHeard } } };
}

/** Keys that were to be told of as whoever was to be told of them was lost. */
function withKeysTold(state: ConversationState, at: Moment): ConversationState {
  const { turns: before, untaken } = state;
  if (untaken.keys === '') return state;
  return { ...state, turns: turns.says(before, untaken.keys, at), untaken: { ...untaken, keys: '' } };
}

/** Whoever hears the caller by itself may have missed something of them. */
function leaves(state: ConversationState, input: Extract<Input, { type: 'leaves' }>, given: Given): Step {
  const { at, policy } = given;
  const { endsTurns } = policy;
  const { standing, watch } = state;
  const { account = null, answer = NO_ANSWER } = input.said ?? {};
  const leaving = leftIn(state, account, { caller: callerIn(state, policy), endsTurns });
  const interrupted = answer.unheard !== '';
  const said = endsTurns
    ? unchanged(withKeysTold(state, at))
    : concluded(state, { answer, interrupted, isLast: false }, given);
  return then(said, (from) => {
    const end = { account: from.turns.open === null ? NO_ANSWER : answer, interrupted, at };
    const left = turns.givenUp(from.turns, end, policy);
    const own = endsTurns ? [left.since, watch.lost?.since, from.unheardSince] : [];
    return then(recorded(from, left), (over) => {
      const isOwed = over.turns.isOwed || turns.newsIn(over.turns).length > 0;
      const next = leftBy(over, {
        ...leaving,
        isCutOff: leaving.isCutOff || (!endsTurns && isOwed),
        isRestFirst: standing?.isUnsaid,
        isUnheard: left.isUnheard && endsTurns && standing?.isHalfHeard !== true,
        unheardSince: [...input.unheardSince, ...own],
        troubledSince: [...input.troubledSince, standing?.troubledSince],
      });
      return { state: next, effects: requestsLeft(state, next, { account, endsTurns }) };
    });
  });
}

/** A wait that was left goes on. */
function starts(
  { wait }: Watch,
  { isReplaceable }: { isReplaceable: boolean },
  { at: { now: at }, policy }: Given,
): Watch {
  const fresh = watches.watching({ isReplaceable });
  if (!policy.endsTurns) return { ...fresh, wait: waits.takeOverWait(fresh.wait, wait, at) };
  return watches.opening(fresh, { left: wait.since === null ? undefined : wait, at });
}

/** Another connection knows the conversation as text; what was under way is asked for again, unless it comes by itself. */
function connectionBack(
  state: ConversationState,
  { isResponding, hearsAgain, gapMs }: Extract<Input, { type: 'connection.back' }>,
  { at, policy }: Given,
): Step {
  const told = turns.connectionBack(state.turns, policy);
  const watch = callerSpeaks(watches.back(state.watch, at.now), false);
  return then(recorded({ ...state, watch }, told), (next) => {
    if (isHeld(next.floor) || !(isResponding || watch.owed !== null)) return unchanged(next);
    const barren = watch.barren + 1;
    const tried = { ...next, watch: { ...watch, barren } };
    if (barren > MAX_BARREN) return { state: tried, effects: [{ type: 'barren' }] };
    return {
      state: tried,
      effects: [{ type: 'take-up-response', hearsAgain: hearsAgain || told.isEnded, gapMs }],
    };
  });
}

/** Nobody else says them: they are asked for once more, and then whoever was told is given up. */
function unsaid(state: ConversationState, { now: at }: Moment): Step {
  const { floor, watch } = state;
  if (!isUnsaid(floor) || watch.owed !== null) return unchanged(state);
  if (watch.isRepeated) return { state, effects: [{ type: 'silent' }] };
  return askedAgain(state, { text: utteranceOf(floor)?.text ?? null, at });
}

function askedAgain(state: ConversationState, { text, at }: { text: string | null; at: Ms }): Step {
  const watch = watches.cameToNothing({ ...state.watch, isRepeated: true }, at);
  return { state: { ...state, watch }, effects: [{ type: 'ask-again', text }] };
}

/** An answer without a sound: where one is owed it is asked for once more, and then given up. */
function responseEnded(
  state: ConversationState,
  { answer, hasTools, hasSound = false }: Extract<Input, { type: 'response.ended' }>,
  { at: { now: at } }: Given,
): Step {
  const watch = watches.ended(state.watch, at);
  const next = { ...state, watch };
  if (answer === 'none') return unchanged(next);
  const end: Effect = { type: 'end-response' };
  // What has a sound was said before the tools, and before a filler.
  const wasSaid = hasTools && (hasSound || watch.hasFilled);
  const text = wasSaid ? null : (utteranceOf(state.floor)?.text ?? null);
  if (answer === 'given') {
    // Who calls tools in the place of words has not said them.
    const isRepeated = watch.isRepeated && hasTools && text !== null;
    return { state: { ...next, watch: { ...watch, isRepeated } }, effects: [end] };
  }
  const answered = turns.answeredIn(state.turns);
  const isSure = text !== null || hasTools || answered === 'words';
  const isRepeated = !watch.isRepeated && (isSure || answered === 'unknown');
  if (isRepeated) {
    const asked = askedAgain(next, { text, at });
    return { ...asked, effects: [...asked.effects, end] };
  }
  const given = { ...next, watch: { ...watch, isRepeated } };
  return { state: given, effects: [watch.isRepeated && isSure && !hasSound ? { type: 'silent' } : end] };
}

/** Whom the agent hangs up on hears no apology any more, nor anybody else. */
function failed(state: ConversationState, input: Extract<Input, { type: 'failed' }>, given: Given): Step {
  if (hangUpIn(state.floor.floor) !== undefined) return unchanged(state);
  const { live, policy } = given;
  const { now: at } = given.at;
  const next = troubles.failed(state.trouble, {
    ...input,
    isLeaving: isLeaving(state, policy),
    hasVoice: live.hasVoice,
    isHeld: isHeld(state.floor),
    wait: state.watch.wait,
    at,
  });
  const { type } = next.recourse;
  const told = troubled(state, next);
  if (type === 'nothing' || type === 'apologize-for-turn') return told;
  return then(told, (from) =>
    floorStep(deaf(from), { type: type === 'do-without' ? 'goes-on' : 'failing' }, given),
  );
}
