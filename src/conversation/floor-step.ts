// How the floor changes: what follows from what the caller, the agent, the line and whoever asks for words from outside do. Pure: state and
// input in, state and effects out.
import {
  type Account,
  type EndOfTurn,
  type Floor,
  type FloorEffect,
  type FloorInput,
  type FloorPolicy,
  type FloorState,
  hasMore,
  isAside,
  isHeardOut,
  isHeld,
  isOpposed,
  isUnsaid,
  isWanted,
  type Manner,
  type Next,
  outcomesOf,
  requestsIn,
  restOf,
  type Resumption,
  type Step,
  toUnsaid,
  type TurnTimes,
  type Unsaid,
  unsaidOf,
  type Utterance,
  utteranceOf,
  type View,
  yields,
} from './floor.js';
import { callerActive, idleDue, idlePaused, idleWaits } from './idle.js';
import type { AgentEnd } from './outside.js';
import type { Ms } from './wait.js';

function utteranceFor(
  { nextId: id }: FloorState,
  { text, manner }: Pick<Utterance, 'text' | 'manner'>,
): Utterance {
  return { id, manner, text, isPaused: false, isWhole: false };
}

/** The next state, and what is to be done. `at`: now. */
export function stepFloor(
  state: FloorState,
  input: FloorInput & { readonly at: Ms },
  view: View,
  policy: FloorPolicy,
): Step {
  return withOutcomes(state, input, stepped(state, input, view, policy), policy);
}

/** What becomes of a request that goes with the call is for the owner of the call to tell, and in a takeover for `leaves`. */
function withOutcomes(before: FloorState, input: FloorInput, step: Step, policy: FloorPolicy): Step {
  const { phase } = step.state.floor;
  const isFinished = input.type === 'finished';
  if (phase === 'over' || (phase === 'ending' && !isFinished)) return step;
  const asked = requestsIn(before);
  if (asked.length === 0) return step;
  const utterance = utteranceOf(before);
  // What it leads to follows.
  if (isFinished && isAside(utterance)) return step;
  const left = requestsIn(step.state);
  const gone = asked.filter((id) => !left.includes(id));
  if (gone.length === 0) return step;
  const account = input.type === 'stopped' ? input.account : null;
  const isHeard = isFinished
    ? utterance?.isConcluded !== true || isHeardOut(utterance, { ...input.answer, unheard: '' }, policy)
    : account !== null && isHeardOut(utterance, account, policy);
  return { state: step.state, effects: [...step.effects, ...outcomesOf(gone, { utterance, isHeard })] };
}

function stepped(
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

    case 'request': {
      const { text, manner, interrupts } = input;
      const { requests } = state;
      const request = { text, manner };
      const asked = { ...state, requests: interrupts ? [request, ...requests] : [...requests, request] };
      const isUnbegun = floor.phase === 'listening' && view.isAwaited && !view.caller.isSounding;
      const isCuttable =
        (floor.phase === 'thinking' || floor.phase === 'speaking') &&
        !floor.utterance.isPaused &&
        !isAside(utterance);
      if (!interrupts || !(isUnbegun || isCuttable)) return sayRequest(asked, view, policy);
      const { awaitsTools } = view;
      const effects: readonly FloorEffect[] = awaitsTools ? [{ type: 'postpone-tools' }] : [];
      const stopping = stop({ kind: 'request', awaitsTools }, effects, true);
      const isCallerOwed = state.isCallerOwed || (isUnbegun && !awaitsTools);
      return { ...stopping, state: { ...stopping.state, requests: asked.requests, isCallerOwed } };
    }

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
      return utterance === undefined ? takeUp(active, at, view, policy) : unchanged(active);
    }

    case 'caller.finished': {
      const { agoMs } = input;
      const idle = callerActive(state.idle, at, policy.idle);
      const yielding = utterance?.manner.interruptible ?? policy.interruptible;
      const postpones = view.awaitsTools && (yielding || utterance === undefined || view.isCaughtUp);
      // Some who answer are silent while they wait for a tool.
      const effects: readonly FloorEffect[] = postpones ? [{ type: 'postpone-tools' }] : [];
      if (yielding) {
        // Who answers them now answers what a request had put off as well.
        const isAnswered = utterance === undefined || utterance.manner.request !== undefined;
        const isCallerOwed = state.isCallerOwed && !isAnswered;
        const expects: FloorEffect = { type: 'expect-answer', agoMs };
        // A tool was called in the place of the words: the answer is none of them.
        const isReplaced = isUnsaid(state) && view.awaitsTools && !view.isAwaited;
        const left = isReplaced ? stop({ kind: 'nothing' }, effects) : { state, effects };
        return {
          state: { ...left.state, idle, isCallerOwed },
          effects: [...left.effects, expects],
        };
      }
      // What was to be said, and has no sound yet, is said first.
      if (utterance !== undefined && (!postpones || isUnsaid(state)))
        return { state: { ...state, idle, isCallerOwed: true }, effects };
      return { state: { ...state, idle }, effects: [...effects, { type: 'respond' }] };
    }
    case 'cut-off':
      return stop({ kind: 'nothing' });
    case 'gives-up':
      return policy.endsTurns && floor.phase !== 'held' ? stop({ kind: 'leave' }) : unchanged(ending(state));
    case 'began':
      return began(state, view);
    case 'results':
      return results(state, input, view);

    case 'caller.complete': {
      const { times } = input;
      if (!view.isListening) return unchanged(state);
      if (utterance === undefined) return answerCaller(state, times, view, policy);
      // The agent has begun to speak meanwhile. What it cannot be interrupted with is answered afterwards.
      if (!yields(state, at, policy)) return unchanged(state);
      if (hasMore(view.caller)) return stop({ kind: 'answer', times });
      if (!utterance.isPaused) return unchanged(state);
      if (utterance.isWhole) return stop({ kind: 'answer', times });
      // What it has not thought of yet would be lost. Who has heard nothing of it goes on waiting for it.
      const wordless: readonly FloorEffect[] = floor.phase === 'thinking' ? [] : [{ type: 'wordless' }];
      return {
        state: withUtterance(state, { isPaused: false }),
        effects: [{ type: 'heard-nothing' }, { type: 'go-on' }, ...wordless],
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
          { type: 'complete-turn', with: 'account', interrupted: false, isAnswered: !isAside(utterance) },
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
    case 'apologizes': {
      const concluded = withUtterance(state, { isPaused: false, isConcluded: true });
      return { state: concluded, effects: [{ type: 'go-on' }] };
    }

    case 'hold': {
      // Whoever forgets nothing needs no words of the rest but those that it was told to say.
      const isUnheard = utterance !== undefined && (!view.isCaughtUp || isUnsaid(state));
      const isCut = policy.endsTurns && (view.isAwaited || isUnheard);
      const { text = null, manner = {} } = utterance ?? {};
      const owed = isCut && text !== null ? { text, manner, isOwn: true } : null;
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

/** What can happen while nobody listens, and what cannot while the agent has something to say. */
const IN_A_HOLD: readonly FloorInput['type'][] = [
  'say',
  'request',
  'resume',
  'began',
  'results',
  'failing',
  'gives-up',
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

function withUtterance(state: FloorState, change: Partial<Utterance>): FloorState {
  const { floor } = state;
  if (floor.phase !== 'thinking' && floor.phase !== 'speaking') return state;
  return { ...state, floor: { ...floor, utterance: { ...floor.utterance, ...change } } };
}

function isOwed({ turn }: View): boolean {
  return turn.isOwed || turn.hasNews;
}

function listening(state: FloorState, rest: Unsaid | null): FloorState {
  const { floor } = state;
  return { ...state, floor: floor.phase === 'held' ? { ...floor, rest } : { phase: 'listening', rest } };
}

function ending(state: FloorState, hangUpFor?: AgentEnd): FloorState {
  const floor: Floor = {
    phase: 'ending',
    utterance: utteranceOf(state) ?? null,
    rest: restOf(state.floor),
    isHeld: isHeld(state),
    ...(hangUpFor && { hangUpFor }),
  };
  return { ...state, floor, idle: idlePaused(state.idle) };
}

/** Nothing that happens before it is done changes that it is. */
function hangUp(state: FloorState, reason: AgentEnd): Step {
  return { state: ending(state, reason), effects: [{ type: 'hang-up', isOutside: true, reason }] };
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
  const rest = text === null ? null : { text, manner, isOwn: true };
  if (!maySpeak || state.floor.phase === 'held')
    return { state: { ...listening(state, rest), idle }, utterance: null };
  const utterance = utteranceFor(state, { text, manner });
  const nextId = state.nextId + 1;
  // An answer is one to everything.
  const isCallerOwed = state.isCallerOwed && text !== null;
  const floor: Floor = { phase: 'thinking', utterance };
  return { state: { ...state, floor, manner, idle, nextId, isCallerOwed }, utterance };
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
  const isPostponed = state.isCallerOwed;
  return {
    state: begun.state,
    effects: [{ type: 'answer-again', utterance: begun.utterance, isPostponed }],
  };
}

/** Says what was asked for first, if neither side has the floor and nobody is owed an answer. */
function sayRequest(state: FloorState, view: View, policy: FloorPolicy): Step {
  const { floor, isCallerOwed } = state;
  const { caller } = view;
  const isCallers = caller.isActive || hasMore(caller) || isCallerOwed || isOwed(view) || view.isAwaited;
  const isFree = floor.phase === 'listening' && floor.rest === null && view.maySpeak && !isCallers;
  return isFree ? beginRequest(state, view, policy) : unchanged(state);
}

function beginRequest(state: FloorState, view: View, policy: FloorPolicy): Step {
  const [next, ...requests] = state.requests;
  if (next === undefined) return unchanged(state);
  const update = uninterruptible(next, policy, { value: false });
  return after(update, say({ ...state, requests }, next, view));
}

/** Answers what the caller has said. Where that is nothing, their sound may have cut off something that goes on. */
function answerCaller(state: FloorState, times: TurnTimes | null, view: View, policy: FloorPolicy): Step {
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
  if (isOwed(view) || state.isCallerOwed) return after(wordless, answerAgain(without, view));
  return after(wordless, rest === null ? sayRequest(without, view, policy) : sayOn(without, rest, view));
}

/** Answers what has come while nobody could answer it. */
function takeUp(state: FloorState, at: Ms, view: View, policy: FloorPolicy): Step {
  if (view.caller.hasText) return awaitWords(state, { endedAt: at, isCutShort: false }, view);
  return view.caller.hasKeys && view.isListening ? answerCaller(state, null, view, policy) : unchanged(state);
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
  const isPutOff = next.kind === 'request' && !next.awaitsTools && utterance?.text === null;
  const isLeft = next.kind === 'leave';
  if (account === null) {
    if (isLeft) return unchanged(ending(state));
    const left = withUnbegun(next, utterance, policy);
    const isCallerOwed = state.isCallerOwed || isPutOff;
    return follow({ ...listening(state, rest), isCallerOwed }, { at, next: left }, view, policy);
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
  if (isLeft) return { state: ending(state), effects };
  // An answer is given anew. What somebody outside wants is no answer.
  const isAnswer = !isHold || !isWanted(utterance);
  const untold = isUnheard && !isHold ? newsOf(utterance) : null;
  const wanted = untold ?? (isHold || utterance === null ? null : wantedBehind(utterance.manner));
  const cut =
    wanted === null ? state : withWanted(state, wanted, { behind: next.kind === 'request' ? 1 : 0 });
  const isAgain = (isUnheard && hasAsked && isAnswer) || untold !== null;
  const left = isAgain ? rest : restOfCut(cut, floor, account, policy);
  const isCallerOwed = state.isCallerOwed || (isPutOff && (isUnheard || account.isOwed));
  const silent = { ...listening(cut, left), idle, isCallerOwed };
  // What was heard to its end in this moment is not said again.
  const isOver = isHold && !isAside(utterance) && isHeardOut(utterance, account, policy);
  const then = isOver ? { ...next, owed: null } : next;
  return after(effects, follow(silent, { at, next: then }, { ...view, turn }, policy));
}

/** Who is told that something begins may hold the call in that moment: all of it is owed. */
function withUnbegun(next: Next, utterance: Utterance | null, { endsTurns }: FloorPolicy): Next {
  if (next.kind !== 'hold' || utterance === null) return next;
  const { text, manner } = utterance;
  return text === null
    ? { ...next, isAnswerOwed: endsTurns }
    : { ...next, owed: { text, manner, isOwn: true } };
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
  if (next.kind === 'hold') {
    const unsaid = unsaidOf(utterance ?? undefined, manner, account);
    return unsaid && (utterance?.text ?? null) !== null ? { ...unsaid, isOwn: true } : unsaid;
  }
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
    case 'leave':
      return unchanged(state);
    case 'hold': {
      const rest = next.owed ?? restOf(state.floor);
      const owes = { answer: next.isAnswerOwed, results: false };
      return unchanged({ ...state, floor: { phase: 'held', rest, owes }, idle: idlePaused(state.idle) });
    }
    // What keys or a request cut off is not said again.
    case 'keys':
      return unchanged(listening(state, null));
    case 'request':
      return beginRequest(listening(state, null), view, policy);
    case 'take-up': {
      const silent = listening(state, null);
      return policy.endsTurns ? answerKeys(silent, view) : takeUp(silent, at, view, policy);
    }
    case 'expect-words':
      return awaitWords(state, next.end, view);
    case 'answer':
      return answerCaller(state, next.times, view, policy);
  }
}

/** Whoever answers is told whether it can be interrupted, where that is not as usual for what is said. `value`: as usual again. */
function uninterruptible(
  utterance: Pick<Utterance, 'manner'> | null | undefined,
  policy: FloorPolicy,
  { value }: { value: boolean },
): readonly FloorEffect[] {
  const own = utterance?.manner.interruptible ?? policy.interruptible;
  const isSpecial = policy.endsTurns && own !== policy.interruptible;
  return isSpecial ? [{ type: 'interruptible', value: value ? policy.interruptible : own }] : [];
}

function answerKeys(state: FloorState, view: View): Step {
  const tell: FloorEffect = { type: 'tell-keys' };
  const postpone: readonly FloorEffect[] = view.awaitsTools ? [{ type: 'postpone-tools' }] : [];
  if (utteranceOf(state) !== undefined) {
    const effects = isUnsaid(state) ? [tell, ...postpone] : [tell];
    return { state: { ...state, isCallerOwed: true }, effects };
  }
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
  return { state: { ...state, floor: thinking, manner: {}, isCallerOwed, idle, nextId }, effects };
}

/** Who speaks now is answered with what tools gave anyway, and whom the agent takes leave of is told no more. */
function results(state: FloorState, { isCurrent }: { isCurrent: boolean }, view: View): Step {
  const { floor } = state;
  if (floor.phase === 'held')
    return unchanged({ ...state, floor: { ...floor, owes: { ...floor.owes, results: true } } });
  const ends = utteranceOf(state)?.manner.ends;
  if (ends === 'agent-hangup') return unchanged(state);
  // Who waits for a result is not idle. A request is said first, and so is what has no sound yet.
  const isRequested = utteranceOf(state)?.manner.request !== undefined;
  if (ends === 'idle' || isRequested || isUnsaid(state)) return unchanged({ ...state, isCallerOwed: true });
  return isCurrent || !view.caller.isSounding ? { state, effects: [{ type: 'respond' }] } : unchanged(state);
}

/** The floor is the caller's: words or keys that came while the agent could not be interrupted, or an agreement to what it said. */
function over(said: FloorState, at: Ms, view: View, policy: FloorPolicy): Step {
  const { caller } = view;
  const wanted = wantedBehind(said.manner);
  // A caller whom that had put off is answered behind it, and any other one before.
  if (wanted !== null && !hasMore(caller) && !isOwed(view)) return leadOn(said, wanted, view, policy);
  const state = wanted === null ? said : withWanted(said, wanted, { behind: 0 });
  const { manner } = state;
  const { leadsTo } = manner;
  if (manner.ends === 'agent-hangup') return hangUp(state, manner.ends);
  if (state.isCallerOwed && policy.endsTurns)
    return { state: { ...state, isCallerOwed: false }, effects: [{ type: 'respond' }] };
  if (hasMore(caller) && !caller.isSounding && view.isListening) return takeUp(state, at, view, policy);
  if ((isOwed(view) || state.isCallerOwed) && !caller.isSounding) return answerAgain(state, view);
  if (leadsTo === 'answer' && policy.endsTurns) return { state, effects: [{ type: 'respond' }] };
  if (typeof leadsTo === 'object') return leadOn(state, leadsTo, view, policy);
  // Where nobody hears them, nobody answers what the caller has to say either.
  if (manner.ends === 'idle' && !(view.isListening && isOpposed(state, caller)))
    return hangUp(state, manner.ends);
  return sayRequest({ ...state, idle: idleWaits(state.idle, at, policy.idle) }, view, policy);
}

/** What somebody outside wants said behind an aside. */
function wantedBehind({ leadsTo }: Manner): Unsaid | null {
  return typeof leadsTo === 'object' && isWanted(leadsTo) ? leadsTo : null;
}

/** News that is being said, word for word. */
function newsOf(utterance: Utterance | null): Unsaid | null {
  const { text = null, manner = {} } = utterance ?? {};
  return text !== null && manner.isNews === true ? { text, manner } : null;
}

/** It is said in any case: when the caller was answered, and `behind` so many of what was asked for. */
function withWanted(state: FloorState, wanted: Unsaid, { behind }: { behind: number }): FloorState {
  const { leadsTo: _, ...manner } = state.manner;
  return { ...state, manner, requests: state.requests.toSpliced(behind, 0, wanted) };
}

/** An aside was heard. Who makes a sound may have words that come first. */
function leadOn(state: FloorState, words: Unsaid, view: View, policy: FloorPolicy): Step {
  if (view.caller.isSounding && !policy.endsTurns) {
    const silent = listening(state, null);
    return unchanged(isWanted(words) ? withWanted(silent, words, { behind: 0 }) : listening(silent, words));
  }
  return after(uninterruptible(words, policy, { value: false }), sayOn(listening(state, null), words, view));
}

/**
 * After a hold: what it cut off is said after all where that is wanted, behind an answer that is owed to the caller. What somebody outside wants is
 * said before that.
 */
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
    // What somebody outside wants is said also where the words before it are dropped.
    const wanted = rest === null ? null : wantedBehind(rest.manner);
    const requests = wanted === null ? back.requests : [wanted, ...back.requests];
    const isCallerOwed = policy.endsTurns && back.isCallerOwed;
    const waiting = { ...listening(back, null), requests, isCallerOwed };
    const closed: readonly FloorEffect[] = [{ type: 'complete-turn', with: 'nothing', interrupted: true }];
    if (owes.results) return { state: waiting, effects: [...closed, { type: 'respond' }] };
    // What the caller has said before is answered behind it.
    if (typeof how === 'object' && !isOwed(view))
      return after(closed, say(waiting, { text: how.news, manner: { isNews: true } }, view));
    if (hasMore(view.caller)) return after(closed, takeUp(waiting, at, view, policy));
    // A caller who was not transferred is told so.
    return after(closed, isOwed(view) ? answerAgain(waiting, view) : sayRequest(waiting, view, policy));
  }
  const update = uninterruptible(rest, policy, { value: false });
  if (rest !== null && (isWanted(rest) || wantedBehind(rest.manner) !== null)) {
    const isCallerOwed = back.isCallerOwed || owes.answer || owes.results;
    return after(update, sayOn({ ...back, isCallerOwed }, rest, view));
  }
  const isPostponed = owes.answer && !policy.endsTurns;
  if (isPostponed) return answerAgain({ ...listening(back, null), isCallerOwed: true }, view);
  if (owes.results || owes.answer) return { state: listening(back, null), effects: [{ type: 'respond' }] };
  if (hasMore(view.caller)) return takeUp(back, at, view, policy);
  if (isOwed(view) || (view.turn.userText ?? '') !== '') return answerAgain(back, view);
  return rest === null ? sayRequest(back, view, policy) : after(update, sayOn(back, rest, view));
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
