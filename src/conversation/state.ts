// The conversation of one call as one value: plain data that can be stored, read again, and gone on with by another driver. Times are
// milliseconds since the call began, on the driver's clock; moments that records name are epoch milliseconds beside them.
import type { ChatMessage } from '../contract/chat-message.js';
import {
  deadlineOf as floorDeadline,
  type FloorState,
  type Goodbye,
  goodbyeOf,
  NOBODY_SPEAKS,
  type Unsaid,
  unsaidOf,
  utteranceOf,
} from './floor.js';
import type { Moment } from './tools.js';
import { NO_TROUBLE, type Trouble, deadlineOf as troubleDeadline } from './trouble.js';
import {
  type AnswerAccount,
  givenUp,
  historyOf,
  newsIn,
  NO_TURNS,
  deadlineOf as turnsDeadline,
  repeatableIn,
  type TurnFact,
  toolsLost,
  type Turns,
  unplacedTools,
} from './turns.js';
import type { Ms } from './wait.js';
import { type Watch, deadlineOf as watchDeadline, watching } from './watch.js';

/** Raised when a stored state of before can no longer be read as it is. */
export const STATE_VERSION = 1;

/**
 * What the caller is to hear before anything else. `greeting`: nobody has said it, or they heard nothing of it. `answer`: they have spoken
 * last, or heard only the beginning of an answer. `rest`: they heard only the beginning of words that nobody has to be asked for, such as the
 * greeting. `goodbye`: the call was to end with what they were told, and does with what is left of it. `nothing`: it is the caller's turn.
 */
export type Owed =
  | { readonly kind: 'nothing' | 'greeting' | 'answer' }
  | ({ readonly kind: 'rest' } & Unsaid)
  | ({ readonly kind: 'goodbye' } & Goodbye);

export interface ConversationState {
  readonly version: typeof STATE_VERSION;
  /** Who has the floor. */
  readonly floor: FloorState;
  /** What was said, done and heard. */
  readonly turns: Turns;
  /** How long the caller waits, and what is owed to them by a model that hears them by itself. */
  readonly watch: Watch;
  /** What has failed, as far as the caller is to be told. */
  readonly trouble: Trouble;
  /** What the driver that began with this state, or will, says first. */
  readonly owed: Owed;
  /** Since when nobody hears the caller, or what they say has no text: it has to be heard again. Null where nothing is missing. */
  readonly unheardSince: Ms | null;
  /** Since when the caller has waited, or a part of the driver before this one was of no use to them; null where neither is so. */
  readonly troubledSince: Ms | null;
}

/** What is known of a conversation as its driver leaves it, beside the state. Of several times the earliest counts. */
export interface Leaving {
  /** The agent owed something, or was in the middle of it. */
  readonly isCutOff: boolean;
  /** Undefined where the call was to go on. */
  readonly goodbye: Goodbye | undefined;
  /** What is left of words that nobody has to be asked for. @default nothing */
  readonly rest?: Unsaid | null;
  /** What the caller said last has no text: what they are to be answered is heard again. @default false */
  readonly isUnheard?: boolean | undefined;
  readonly unheardSince: readonly (Ms | null | undefined)[];
  readonly troubledSince: readonly (Ms | null | undefined)[];
}

/** A call in which nothing has happened. */
export function begun({ hasGreeting }: { hasGreeting: boolean }): ConversationState {
  return {
    version: STATE_VERSION,
    floor: NOBODY_SPEAKS,
    turns: NO_TURNS,
    watch: watching({ isReplaceable: false }),
    trouble: NO_TROUBLE,
    owed: { kind: hasGreeting ? 'greeting' : 'nothing' },
    unheardSince: null,
    troubledSince: null,
  };
}

/** What the next driver begins with: the conversation without what was the last one's own. Its turns were given up. */
export function leftBy({ turns, owed }: ConversationState, leaving: Leaving): ConversationState {
  const hasGreeting = owed.kind === 'greeting';
  return {
    ...begun({ hasGreeting }),
    turns,
    owed: owedIn(historyOf(turns), { ...leaving, hasGreeting }),
    unheardSince: earliest(leaving.unheardSince),
    troubledSince: earliest(leaving.troubledSince),
  };
}

/**
 * What a driver begins with when the one before it is gone without a word, as with its process: `state` was stored at any moment. Tools that
 * ran are lost with it, but for those that may be run again, which the next driver does. What the caller heard of the answer that was on is what they were known to have heard.
 */
export function restored(
  state: ConversationState,
  { at, transcribesCaller }: { at: Moment; transcribesCaller: boolean },
): { state: ConversationState; facts: readonly TurnFact[] } {
  const { floor, isCallerOwed } = state.floor;
  const { turns, watch, owed } = state;
  const utterance = utteranceOf(state.floor);
  const { heard = '', told = '' } = turns.open ?? {};
  // Of an answer no more is known than what is being said.
  const text = utterance?.text ?? told;
  const unheard = text.startsWith(heard) ? text.slice(heard.length).trim() : '';
  const account: AnswerAccount = {
    heard,
    unheard,
    // Called by the answer that was on: they stand in no step before it has its account.
    rounds: unplacedTools(turns).map((tools) => ({ text: heard, tools })),
    heardAfter: unplacedTools(turns).length === 0 ? heard : '',
    isOwed: false,
  };
  const end = { account, interrupted: unheard !== '', at };
  const change = givenUp(turns, end, { transcribesCaller });
  const lost = toolsLost(change.turns, repeatableIn(change.turns));
  // Whoever was to say first what is owed has said nothing.
  const left = state.floor.nextId === NOBODY_SPEAKS.nextId ? state : undefined;
  const unsaid = unsaidIn(state, account);
  const hasText = isCallerOwed || turns.words.speakingSince !== null;
  const caller = { hasText, hasKeys: false, isSounding: false, isActive: false };
  const isSpeaking = utterance !== undefined || ('rest' in floor && floor.rest !== null);
  const owes = floor.phase === 'held' && (floor.owes.answer || floor.owes.results);
  const isAwaited = isCallerOwed || turns.isOwed || watch.owed !== null || left?.owed.kind === 'answer';
  return {
    facts: [...change.facts, ...lost.facts],
    state: leftBy(
      { ...state, turns: lost.turns },
      {
        isCutOff: isSpeaking || owes || isAwaited || newsIn(lost.turns).length > 0,
        goodbye: left !== undefined && owed.kind === 'goodbye' ? owed : goodbyeOf(unsaid, { caller }),
        rest: (utterance?.text ?? null) === null ? null : unsaid,
        // Who has heard the beginning of an answer to it is told the rest.
        isUnheard: change.isUnheard && heard === '',
        unheardSince: [change.since, watch.lost?.since, left?.unheardSince],
        troubledSince: [watch.wait.since, watch.lost?.since, left?.troubledSince],
      },
    ),
  };
}

/** What is left to say word for word; of what the call ends with that may be nothing. Null where the caller is answered anew. */
function unsaidIn({ floor: state, turns, watch }: ConversationState, account: AnswerAccount): Unsaid | null {
  const { floor, manner, isCallerOwed } = state;
  const utterance = utteranceOf(state);
  if (utterance !== undefined) {
    const isKnown = utterance.text !== null || turns.open?.told !== '';
    const goodbye = isKnown && manner.ends !== undefined ? account.unheard : undefined;
    return unsaidOf(utterance, manner, { ...account, rest: '', goodbye });
  }
  if (floor.phase === 'held') return floor.rest;
  const isOver = floor.phase === 'ending' && turns.open === null && manner.ends !== undefined;
  return isOver && !isCallerOwed && watch.owed === null ? { text: '', manner } : null;
}

/** When one of the parts is to be told that it is time; null while nothing is due. */
export function deadlineOf(state: ConversationState): Ms | null {
  const times = PARTS.map((part) => deadlineOfPart(state, part)).filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The parts of a conversation that have something due. */
export type Part = 'turns' | 'floor' | 'watch' | 'trouble';

export const PARTS: readonly Part[] = ['turns', 'floor', 'watch', 'trouble'];

export function deadlineOfPart({ turns, floor, watch, trouble }: ConversationState, part: Part): Ms | null {
  switch (part) {
    case 'turns':
      return turnsDeadline(turns);
    case 'floor':
      return floorDeadline(floor);
    case 'watch':
      return watchDeadline(watch);
    case 'trouble':
      return troubleDeadline(trouble);
  }
}

function earliest(times: readonly (Ms | null | undefined)[]): Ms | null {
  const known = times.filter((at) => typeof at === 'number');
  return known.length === 0 ? null : Math.min(...known);
}

function owedIn(history: readonly ChatMessage[], leaving: Leaving & { readonly hasGreeting: boolean }): Owed {
  const { hasGreeting, isCutOff, goodbye, rest = null, isUnheard = false } = leaving;
  if (goodbye !== undefined) return { kind: 'goodbye', ...goodbye };
  const last = history.at(-1);
  if (last === undefined) return { kind: hasGreeting ? 'greeting' : 'nothing' };
  const isUnanswered = last.role !== 'assistant' || last.toolCalls !== undefined;
  if (isUnanswered) return { kind: 'answer' };
  if (isUnheard) return { kind: 'nothing' };
  return rest === null ? { kind: isCutOff ? 'answer' : 'nothing' } : { kind: 'rest', ...rest };
}
