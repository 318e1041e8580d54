// The conversation of one call as one value: plain data that can be stored, read again, and gone on with by another driver. Times are
// milliseconds since the call began, on the driver's clock; moments that records name are epoch milliseconds beside them.
import type { ChatMessage } from '../contract/chat-message.js';
import type { SessionHandle } from '../contract/session-handle.js';
import {
  deadlineOf as floorDeadline,
  type FloorState,
  type Goodbye,
  goodbyeOf,
  hangUpIn,
  isAside,
  isCertain,
  isUnbegun,
  isUnsaid,
  isWanted,
  isWordForWord,
  NOBODY_SPEAKS,
  owedOf,
  owesMore,
  type Unsaid,
  unsaidOf,
  utteranceOf,
} from './floor.js';
import { type Handoffs, isHandoffs } from './handoffs.js';
import { type CallLanguage, NO_LANGUAGE } from './language.js';
import type { Moment } from './tools.js';
import { NO_TROUBLE, type Trouble, deadlineOf as troubleDeadline } from './trouble.js';
import {
  type AnswerAccount,
  type Change,
  type End,
  givenUp,
  historyOf,
  indexOf,
  newsIn,
  NO_TURNS,
  deadlineOf as turnsDeadline,
  repeatableIn,
  says,
  type TurnFact,
  toolsLost,
  type Turns,
  type TurnsPolicy,
  unplacedTools,
} from './turns.js';
import { NOTHING_UNTAKEN, type Untaken } from './untaken.js';
import type { Ms } from './wait.js';
import { NOTHING_TOLD, type Watch, deadlineOf as watchDeadline, watching } from './watch.js';

/** Raised when a stored state of before can no longer be read as it is. */
export const STATE_VERSION = 2;

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
  /** Which language it is in, and what speaks for another one. */
  readonly language: CallLanguage;
  /** What the driver that began with this state, or will, says first. */
  readonly owed: Owed;
  /** What the caller has said and pressed that no turn has taken. Of whom nothing is gathered on this side, the keys alone. */
  readonly untaken: Untaken;
  /** Since when nobody hears the caller, or what they say has no text: it has to be heard again. Null where nothing is missing. */
  readonly unheardSince: Ms | null;
  /** Since when the caller has waited, or a part of the driver before this one was of no use to them; null where neither is so. */
  readonly troubledSince: Ms | null;
  /** How it stood as a driver gave it up that hears the caller by itself. @default none has */
  readonly standing?: Standing | undefined;
  /** Of a session at a provider that knows all of this, as it was said and heard. @default there is none, or it knows otherwise */
  readonly session?: SessionHandle | undefined;
  /** @default the caller is with the agent that the call began with */
  readonly handoffs?: Handoffs | undefined;
}

/** What nobody can tell any more once what was being said is cut off. */
export interface Standing {
  /** The agent owed something, or was in the middle of it. */
  readonly isBusy: boolean;
  /** Since when the caller had waited, or there was no connection; null where neither is so. */
  readonly troubledSince: Ms | null;
  /** Of what was being said. */
  readonly heard: string;
  readonly unheard: string;
  /** It was an answer, and its beginning was heard. */
  readonly isHalfHeard: boolean;
  /** It was words that nobody had to be asked for, and the caller had heard nothing of them. */
  readonly isUnsaid: boolean;
}

/** What is known of a conversation as its driver leaves it, beside the state. Of several times the earliest counts. */
export interface Leaving {
  /** The agent owed something, or was in the middle of it. */
  readonly isCutOff: boolean;
  /** Undefined where the call was to go on. */
  readonly goodbye: Goodbye | undefined;
  /** What is left of words that nobody has to be asked for. @default nothing */
  readonly rest?: Unsaid | null;
  /** It comes before an answer that is owed: the caller had heard nothing of it. @default false */
  readonly isRestFirst?: boolean | undefined;
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
    language: NO_LANGUAGE,
    owed: { kind: hasGreeting ? 'greeting' : 'nothing' },
    untaken: NOTHING_UNTAKEN,
    unheardSince: null,
    troubledSince: null,
  };
}

/** What was stored, where it can be gone on with; undefined where it is damaged, or of another version. */
export function readState(stored: unknown): ConversationState | undefined {
  const fresh = begun({ hasGreeting: false });
  const pattern = { ...fresh, floor: { ...fresh.floor, floor: { phase: '' } } };
  // It may be older than a field.
  const isOlder =
    isAs(stored, { watch: {}, untaken: {} }) &&
    !('language' in stored && 'barren' in stored.watch && 'ended' in stored.untaken);
  const whole = isOlder
    ? {
        language: NO_LANGUAGE,
        ...stored,
        watch: { ...NOTHING_TOLD, ...stored.watch },
        untaken: { ...NOTHING_UNTAKEN, ...stored.untaken },
      }
    : stored;
  if (!isAs(whole, pattern) || whole.version !== STATE_VERSION) return undefined;
  const state = whole as ConversationState;
  if (state.handoffs !== undefined && !isHandoffs(state.handoffs)) return undefined;
  try {
    restored(state, { at: { now: 0, wall: 0 }, transcribesCaller: true });
    return state;
  } catch {
    return undefined;
  }
}

/** It has all fields of the pattern, as far as that tells what they are. */
function isAs<Pattern>(value: unknown, pattern: Pattern): value is Pattern {
  if (pattern === null) return value !== undefined;
  if (typeof pattern !== 'object') return typeof value === typeof pattern;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(pattern))
    return false;
  return Object.entries(pattern).every(([key, each]) => isAs((value as Record<string, unknown>)[key], each));
}

/** What the next driver begins with: the conversation without what was the last one's own. Its turns were given up. */
export function leftBy(
  { turns, owed, floor, language, handoffs }: ConversationState,
  leaving: Leaving,
): ConversationState {
  const hasGreeting = owed.kind === 'greeting';
  const next = owedIn(turns, { ...leaving, hasGreeting });
  const { rest = null, isRestFirst = false } = leaving;
  // What somebody outside wants said is said behind what is owed first.
  const isWaiting = rest !== null && isWanted(rest) && next.kind !== 'rest';
  const requests = isWaiting ? [rest, ...floor.requests] : floor.requests;
  const isBefore = isRestFirst && isUnanswered(turns);
  const isCallerOwed = next.kind === 'rest' && (isBefore || (floor.isCallerOwed && isWanted(rest)));
  return {
    ...begun({ hasGreeting }),
    floor: { ...NOBODY_SPEAKS, requests, isCallerOwed },
    turns,
    language,
    owed: next,
    unheardSince: earliest(leaving.unheardSince),
    troubledSince: earliest(leaving.troubledSince),
    ...(handoffs && { handoffs }),
  };
}

/** What a driver begins with when the one before it is gone without a word. */
export interface Restored {
  readonly state: ConversationState;
  /** Of what was cut off. */
  readonly facts: readonly TurnFact[];
  /** The caller was in the middle of something, or what they are to be answered has no words. */
  readonly isCallerCutOff: boolean;
  /** Of the session that knows the conversation as it is; undefined where anything was owed or cut off. */
  readonly session: SessionHandle | undefined;
}

/**
 * What a driver begins with when the one before it is gone without a word, as with its process: `state` was stored at any moment. Tools that
 * ran are lost with it, but for those that may be run again, which the next driver does. What the caller heard of the answer that was on is what they were known to have heard.
 */
export function restored(
  stored: ConversationState,
  { at, transcribesCaller }: { at: Moment; transcribesCaller: boolean },
): Restored {
  const state = withoutCutOff(stored);
  const { floor, isCallerOwed } = state.floor;
  const { turns, untaken, watch } = state;
  const utterance = utteranceOf(state.floor);
  const { heard = '', told = '', isAside: isInAside = false } = turns.open ?? {};
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
  const isAnswered = heard !== '' && !isInAside;
  const left = givenUpWith(turns, { end, untaken, isBehind: heard !== '' }, { transcribesCaller });
  const lost = toolsLost(left.turns, repeatableIn(left.turns));
  // Whoever was to say first what is owed has said nothing.
  const before = isUnbegun(state.floor) ? state : undefined;
  const unsaid = unsaidIn(state, account);
  const isUnfinished = untaken.isPressing || untaken.ended !== null;
  const hasWords = untaken.entries.length > 0 || untaken.keys !== '' || untaken.isWordless || isUnfinished;
  const hasText = isCallerOwed || turns.words.speakingSince !== null || hasWords;
  const caller = { hasText, hasKeys: false, isPressing: false, isSounding: false, isActive: false };
  const isSpeaking = owesMore(utterance) || ('rest' in floor && owesMore(floor.rest));
  const owes = floor.phase === 'held' && (floor.owes.answer || floor.owes.results);
  const isAwaited = isCallerOwed || turns.isOwed || watch.owed !== null || before?.owed.kind === 'answer';
  // Who has heard the beginning of an answer to it is told the rest.
  const isUnheard = left.isUnheard && !isAnswered;
  const isTalking =
    turns.words.speakingSince !== null || isUnfinished || untaken.entries.some(({ final }) => !final);
  const isCallerCutOff = isUnheard || isTalking || untaken.isWordless;
  const facts = [...left.facts, ...lost.facts];
  const next = leftBy(
    { ...state, turns: lost.turns },
    {
      isCutOff: isSpeaking || owes || isAwaited || newsIn(lost.turns).length > 0,
      goodbye:
        hangUpIn(floor) ??
        goodbyeOf(unsaid ?? (before === undefined ? null : owedGoodbye(before)), { caller }),
      rest: before?.owed.kind === 'rest' ? before.owed : isWordForWord(state.floor) ? unsaid : null,
      isUnheard,
      unheardSince: [left.since, watch.lost?.since, before?.unheardSince],
      troubledSince: [watch.wait.since, watch.lost?.since, before?.troubledSince],
    },
  );
  const hasTools = Object.values(turns.tools).some(({ status }) => status === 'running');
  const isAtRest = next.owed.kind === 'nothing' && !isCallerCutOff && facts.length === 0 && !hasTools;
  const session = isAtRest ? validIn(state.session, at) : undefined;
  return { facts, isCallerCutOff, state: next, session };
}

/** What a driver was saying that has given the call up is over. */
function withoutCutOff(state: ConversationState): ConversationState {
  const { floor, standing } = state;
  if (standing === undefined || floor.floor.phase !== 'ending') return state;
  return { ...state, floor: { ...floor, floor: { ...floor.floor, utterance: null } } };
}

const HANDLE: SessionHandle = { handle: '', settingsDigest: '', expiresAt: 0 };

/** What was stored may be damaged there alone: the conversation is not. */
function validIn(session: unknown, { wall }: Moment): SessionHandle | undefined {
  return isAs(session, HANDLE) && session.handle !== '' && session.expiresAt > wall ? session : undefined;
}

/** As `givenUp`, with what the caller has said that no turn has taken: it belongs to the open turn, or is `isBehind` what was heard in that. */
function givenUpWith(
  turns: Turns,
  { end, untaken, isBehind }: { end: End; untaken: Untaken; isBehind: boolean },
  policy: TurnsPolicy,
): Change & { since: Ms | null; isUnheard: boolean } {
  if (!isBehind) {
    const said = saidBy(turns, untaken, end.at);
    const left = givenUp(said.turns, end, policy);
    return { ...left, facts: [...said.facts, ...left.facts] };
  }
  const first = givenUp(turns, end, policy);
  const said = saidBy(first.turns, untaken, end.at);
  const left = givenUp(said.turns, { ...end, account: NO_ANSWER, interrupted: false }, policy);
  return { ...first, turns: left.turns, facts: [...first.facts, ...said.facts, ...left.facts] };
}

const NO_ANSWER: AnswerAccount = { heard: '', unheard: '', rounds: [], heardAfter: '', isOwed: false };

/** What is final of it waits for an answer. What is not stays in the transcript as it is known. */
function saidBy(turns: Turns, { entries, keys }: Untaken, at: Moment): Change {
  const turnIndex = indexOf(turns);
  const final = entries.filter((entry) => entry.final);
  const text = [...final.map((entry) => entry.text), keys].filter((each) => each !== '').join(' ');
  const moved = entries.filter((entry) => !entry.final || entry.turnIndex !== turnIndex);
  const startedAt = entries[0]?.at ?? at.wall;
  const said = says(turns, text, { ...at, wall: startedAt });
  return {
    turns: text === '' ? turns : { ...said, words: { ...said.words, startedAt } },
    facts: moved.map((entry) => ({
      type: 'transcript.segment',
      entry: { ...entry, turnIndex: text === '' ? entry.turnIndex : turnIndex, final: true },
    })),
  };
}

/** What is left to say word for word; of what the call ends with that may be nothing. Null where the caller is answered anew. */
function unsaidIn({ floor: state, turns }: ConversationState, account: AnswerAccount): Unsaid | null {
  const { floor, manner } = state;
  const utterance = utteranceOf(state);
  if (utterance !== undefined) {
    const isKnown = utterance.text !== null || turns.open?.told !== '';
    const goodbye = isKnown && manner.ends !== undefined ? account.unheard : undefined;
    return unsaidOf(utterance, manner, { ...account, rest: '', goodbye });
  }
  if (floor.phase === 'held' || ('rest' in floor && isCertain(floor.rest))) return owedOf(floor.rest);
  return null;
}

/** The goodbye that whoever began with this state was to say first. */
export function owedGoodbye({ owed }: Pick<ConversationState, 'owed'>): Unsaid | null {
  return owed.kind === 'goodbye' ? { text: owed.text, manner: { ends: owed.reason } } : null;
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

/** How it stands before what is being said is cut off. */
export function standingIn({ floor: state, watch }: ConversationState): Standing {
  const { floor, isCallerOwed } = state;
  const utterance = utteranceOf(state);
  const owes = floor.phase === 'held' && (owesMore(floor.rest) || floor.owes.answer || floor.owes.results);
  const isSpeaking = utterance !== undefined || watch.owed !== null || owes;
  const isOwing = isAside(utterance) ? owesMore(utterance) : isSpeaking;
  return {
    isBusy: isOwing || isCallerOwed,
    troubledSince: earliest([watch.wait.since, watch.lost?.since]),
    heard: '',
    unheard: '',
    isHalfHeard: false,
    isUnsaid: isUnsaid(state),
  };
}

function lastIn(turns: Turns): ChatMessage | undefined {
  return historyOf(turns).findLast(({ role }) => role !== 'system');
}

/** Something was said or called behind which no answer was given. */
function isUnanswered(turns: Turns): boolean {
  const last = lastIn(turns);
  return last !== undefined && (last.role !== 'assistant' || last.toolCalls !== undefined);
}

function earliest(times: readonly (Ms | null | undefined)[]): Ms | null {
  const known = times.filter((at) => typeof at === 'number');
  return known.length === 0 ? null : Math.min(...known);
}

function owedIn(turns: Turns, leaving: Leaving & { readonly hasGreeting: boolean }): Owed {
  const { hasGreeting, isCutOff, goodbye, rest = null, isRestFirst = false, isUnheard = false } = leaving;
  if (goodbye !== undefined) return { kind: 'goodbye', ...goodbye };
  const last = lastIn(turns);
  if (last === undefined && hasGreeting) return { kind: 'greeting' };
  if (isUnanswered(turns) && !(isRestFirst && rest !== null)) return { kind: 'answer' };
  if (isUnheard) return { kind: 'nothing' };
  if (rest !== null) return { kind: 'rest', ...rest };
  return { kind: isCutOff && last !== undefined ? 'answer' : 'nothing' };
}
