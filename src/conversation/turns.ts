// The turns of a call as a value: what the caller said, what the agent did on it and what was heard of that. Each function gives the
// next value and the facts that follow. At most one turn is open, and one that is over may wait for words that come late.
import type { CallFact } from '../contract/call-event.js';
import type { TranscriptEntry, Turn } from '../contract/call-record.js';
import type { ChatMessage, ModelToolCall } from '../contract/chat-message.js';
import * as callerWords from './caller-words.js';
import { type CallerWords, named, NO_WORDS, type Said, textOf, type WordsPolicy } from './caller-words.js';
import { isPrompt, type Round, type Step, toHistory, toolsIn, toRequest, withoutEmpty } from './history.js';
import { LIMITS } from './limits.js';
import { fillerSent, type Latency, latencyOf, type Milestone, reached, UNMEASURED } from './latency.js';
import {
  calledTool,
  goneOnWithout,
  type Id,
  isNews,
  lost,
  type Moment,
  type Settlement,
  settled,
  type Tools,
  type ToolState,
  toToolCall,
  toToolEntry,
} from './tools.js';

export type TurnFact = Extract<CallFact, { type: 'transcript.segment' | 'turn.started' | 'turn.completed' }>;

export interface Change {
  readonly turns: Turns;
  readonly facts: readonly TurnFact[];
}

export type TurnsPolicy = WordsPolicy;

/** What became of an answer. */
export interface AnswerAccount {
  readonly heard: string;
  readonly unheard: string;
  readonly rounds: readonly Round[];
  /** Heard after the last of the rounds. */
  readonly heardAfter: string;
  /** It was stopped behind its tools, before anything was heard of what follows from them. */
  readonly isOwed: boolean;
}

/** What happens in a turn that is not in the history yet: words of the caller are named, as they may still come. */
type TurnStep = Exclude<Step, { role: 'user' }> | { readonly role: 'said'; readonly id: Id };

export interface OpenTurn {
  readonly index: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly steps: readonly TurnStep[];
  /** What the agent says in it no model is told. */
  readonly isAside: boolean;
  /** Text of answers that were dropped before a word of them was heard. */
  readonly dropped: string;
  /** Which answer of the turn is on, counted from 1: what is told of one before it is not measured. */
  readonly answer: number;
  readonly latency: Latency;
  /** When the agent's transcript entry came up, in epoch milliseconds; null while there is none. */
  readonly agentAt: number | null;
  /** The text of that entry: what was heard of the answer that is on, and what is being said. */
  readonly told: string;
  /** What is known to have been heard of it: what the entry was before it last grew. */
  readonly heard: string;
}

/** A turn that is over, and whose fact is not stated: until `dueAt`, on the clock, it waits for words. */
export interface WaitingTurn extends OpenTurn {
  readonly account: AnswerAccount;
  readonly interrupted: boolean;
  /** When the caller had finished what it answers, in epoch milliseconds. @default not known */
  readonly speechEndedAt?: number | null;
  readonly dueAt: number;
}

export interface Turns {
  /** What happened in the turns before, as it was heard. */
  readonly history: readonly Step[];
  readonly tools: Tools;
  readonly words: CallerWords;
  readonly open: OpenTurn | null;
  readonly over: WaitingTurn | null;
  /** Up to when, on the clock, the caller's words are there, or the agent had the floor; null before either. */
  readonly heardUntil: number | null;
  /** An answer was stopped behind its tools, nothing heard of what follows from them, or another one was left to be given. */
  readonly isOwed: boolean;
  readonly nextIndex: number;
  readonly nextTool: number;
  /** Behind the names of entries of the transcript, so that those of whoever had the call before stay as they are. */
  readonly suffix: string;
}

/** One of the answers of a turn. */
export interface AnswerId {
  readonly turnIndex: number;
  readonly answer: number;
}

/** A call of a tool that the agent makes. `joins`: the one that does the same already, whose result it gives. */
export interface WantedTool {
  readonly call: ModelToolCall;
  readonly endsCall: boolean;
  /** @default false */
  readonly isIdempotent?: boolean | undefined;
  readonly joins: Id | undefined;
  /** Where it is done already, or was refused. */
  readonly settlement: Settlement | undefined;
}

export const NO_TURNS: Turns = {
  history: [],
  tools: {},
  words: NO_WORDS,
  open: null,
  over: null,
  heardUntil: null,
  isOwed: false,
  nextIndex: 0,
  nextTool: 1,
  suffix: '',
};

/** Index of the turn that words of the caller belong to while the agent is silent. */
export function indexOf({ open, nextIndex }: Turns): number {
  return open?.index ?? nextIndex;
}

/** What the caller said in the open turn. */
export function saidIn({ words, open }: Turns): Said[] {
  return saidOf(words, open?.steps ?? []);
}

/** What the caller said that the open turn answers: `unknown` where its words come late, or never. */
export function answeredIn(turns: Turns): 'words' | 'unknown' | 'nothing' {
  const said = saidIn(turns);
  if (textOf(said) !== '') return 'words';
  return said.some(({ isFinal }) => !isFinal) ? 'unknown' : 'nothing';
}

/** The answer that is on. */
export function answerIn(turns: Turns): AnswerId {
  return { turnIndex: indexOf(turns), answer: turns.open?.answer ?? 0 };
}

/** When `due` is wanted, on the clock; null for not at all. */
export function deadlineOf({ over }: Turns): number | null {
  return over?.dueAt ?? null;
}

/** The caller has begun to speak. */
export function speechStarted(turns: Turns, at: Moment): Turns {
  return { ...turns, words: callerWords.began(turns.words, at) };
}

/** The caller has finished; the words may come later, and have their place in the transcript already. */
export function speechEnded(
  turns: Turns,
  end: { itemId: string; agoMs: number; at: Moment },
  policy: TurnsPolicy,
): Change {
  return withWords(turns, callerWords.finished(turns.words, { ...end, turnIndex: turns.nextIndex }, policy));
}

/** What the caller said or pressed, and has its place in the transcript. */
export function says(turns: Turns, text: string, at: Moment): Turns {
  const { words, nextIndex: turnIndex } = turns;
  return text === '' ? turns : { ...turns, words: callerWords.added(words, { text, turnIndex, at }) };
}

/** What the caller said. An empty final text: there were no words. */
export function heard(
  turns: Turns,
  told: { itemId: string; text: string; isFinal: boolean; at: Moment },
  policy: TurnsPolicy,
): Change {
  const change = callerWords.worded(turns.words, { ...told, turnIndex: turns.nextIndex }, policy);
  const heardUntil = change.isNew && told.isFinal ? told.at.now : turns.heardUntil;
  return after(withWords({ ...turns, heardUntil }, change), (next) => {
    const { over, words } = next;
    const isWhole = over !== null && saidOf(words, over.steps).every(({ isFinal }) => isFinal);
    return isWhole ? settle(next, policy) : unchanged(next);
  });
}

/**
 * The connection is gone. What the caller had not finished on it, or has no words yet, is not known to the next one. `isAnswered`: the
 * open turn has done something on what it answers, which is not done twice.
 */
export function connectionLost(
  turns: Turns,
  { isAnswered, at }: { isAnswered: boolean; at: Moment },
  policy: TurnsPolicy,
): Turns {
  const answered = isAnswered ? [] : saidIn(turns).map(({ id }) => id);
  return { ...turns, words: callerWords.lost(turns.words, { answered, at }, policy) };
}

/** There is another one, which hears it again: it stands in the record once. `isEnded`: the caller had finished any of it. */
export function connectionBack(turns: Turns, policy: TurnsPolicy): Change & { isEnded: boolean } {
  const { words } = turns;
  const repeated = named(words, words.repeated);
  const change = callerWords.wordless({ ...words, repeated: [] }, repeated, policy);
  return { ...withWords(turns, change), isEnded: repeated.some(({ isEnded }) => isEnded) };
}

/** The agent answers, or speaks by itself. Opens a turn, or goes on with the one that is open. */
export function answer(turns: Turns, at: Moment, policy: TurnsPolicy): Change {
  const { words } = turns;
  return after(opened(turns, words.startedAt ?? at.wall), (next) => {
    const { open } = next;
    if (open === null) return unchanged(next);
    const { taken, ...change } = callerWords.taken(words, open.index, policy);
    const steps = [...open.steps, ...taken.map((id): TurnStep => ({ role: 'said', id }))];
    const times =
      words.endedAt === null ? open.latency.at : { ...open.latency.at, speechEnded: words.endedAt };
    const latency = { ...open.latency, at: times };
    return withWords({ ...next, open: { ...open, steps, latency } }, change);
  });
}

/**
 * The agent is asked for an answer to what the caller has said, and told what tools have given. It is measured afresh. `isPutOff`: words that
 * somebody outside asked for came before it.
 */
export function answerTo(
  turns: Turns,
  {
    text,
    startedAt,
    isPutOff = false,
    at,
  }: { text: string; startedAt: number; isPutOff?: boolean; at: Moment },
  policy: TurnsPolicy,
): Change {
  const news = newsIn(turns);
  return after(opened(toldOf(turns, news), startedAt), (next) => {
    const { open } = next;
    if (open === null) return unchanged(next);
    const steps: TurnStep[] = [
      ...(isPutOff ? [{ role: 'put-off' as const }] : []),
      ...(news.length === 0 ? [] : [{ role: 'news' as const, tools: news }]),
    ];
    const afresh: OpenTurn = {
      ...open,
      isAside: false,
      steps: [...open.steps, ...steps],
      answer: open.answer + 1,
      latency: { ...UNMEASURED, fillerMs: open.latency.fillerMs },
    };
    return answer(says({ ...next, open: afresh }, text, at), at, policy);
  });
}

/** The model is to know something that nobody hears: from now on, and before what the open turn answers. */
export function noted(turns: Turns, text: string): Turns {
  return { ...turns, history: [...turns.history, { role: 'note', text }] };
}

/** How often it was told such a thing. */
export function notesIn({ history }: Turns): number {
  return history.filter(({ role }) => role === 'note').length;
}

/** The agent says something that no model is told. Opens a turn, or goes on with the one that is open. */
export function aside(turns: Turns, at: Moment): Change {
  return after(opened(turns, at.wall), (next) => {
    const { open } = next;
    if (open === null) return unchanged(next);
    const { fillerMs } = open.latency;
    const latency = { ...UNMEASURED, fillerMs };
    return unchanged({ ...next, open: { ...open, isAside: true, answer: open.answer + 1, latency } });
  });
}

/** What began as an aside goes on as an answer. */
export function noAside(turns: Turns): Turns {
  return turns.open?.isAside === true ? { ...turns, open: { ...turns.open, isAside: false } } : turns;
}

/** A milestone of an answer: of the one that is on where `of` does not say which. */
export function measured(
  turns: Turns,
  { milestone, at, of }: { milestone: Milestone | 'heard'; at: number; of?: AnswerId | undefined },
): Turns {
  return withLatency(turns, of, (latency) => reached(latency, milestone, at));
}

/** The first frame of a filler was sent, so long after the caller began to wait. */
export function filled(turns: Turns, { afterMs, of }: { afterMs: number; of: AnswerId }): Turns {
  return withLatency(turns, of, (latency) => fillerSent(latency, afterMs));
}

/** The agent's entry grows. */
export function spoken(turns: Turns, text: string, at: Moment): Change {
  return tellAgent(turns, { text, final: false }, at);
}

/** What the next tools are known by. */
export function nextToolIds({ nextTool, suffix }: Turns, count: number): Id[] {
  return Array.from({ length: count }, (_, place) => `tool-${nextTool + place}${suffix}`);
}

/** The agent has called tools. Each has an entry in the transcript. */
export function called(turns: Turns, wanted: readonly WantedTool[], at: Moment): Change {
  const turnIndex = indexOf(turns);
  const ids = nextToolIds(turns, wanted.length);
  const made = wanted.map(({ call, endsCall, isIdempotent = false, joins = null, settlement }, place) => {
    const tool = calledTool(call, { turnIndex, endsCall, isIdempotent, joins, at });
    return [ids[place] ?? '', settlement === undefined ? tool : settled(tool, settlement, at.now)] as const;
  });
  const tools = { ...turns.tools, ...Object.fromEntries(made) };
  const joined = wanted.flatMap(({ joins }) => joins ?? []);
  return {
    turns: toldOf({ ...noAside(turns), tools, nextTool: turns.nextTool + made.length }, joined),
    facts: made.map(([id, tool]) => segment(toToolEntry(id, tool))),
  };
}

/** A tool has given its result. */
export function toolSettled(
  turns: Turns,
  { id, settlement, at }: { id: Id; settlement: Settlement; at: Moment },
): Change {
  const isRunning = turns.tools[id]?.status === 'running';
  return isRunning ? toldTools(turns, [id], (tool) => settled(tool, settlement, at.now)) : unchanged(turns);
}

/** Whoever ran the tools is gone, but for those that are named. */
export function toolsLost(turns: Turns, live: readonly Id[]): Change {
  const isRunning = (id: Id) => turns.tools[id]?.status === 'running';
  const gone = Object.keys(turns.tools).filter((id) => isRunning(id) && !live.includes(id));
  return toldTools(turns, gone, lost);
}

/** No answer waits for the results of these tools: the caller is told of them when they are there. */
export function goOnWithout(turns: Turns, ids: readonly Id[]): Turns {
  return withTools(turns, ids, goneOnWithout);
}

/** The model knows the results of these tools, which it did not wait for, in another way. */
export function toldOf(turns: Turns, ids: readonly Id[]): Turns {
  return withTools(turns, ids, (tool) => (tool.waitedFor ? tool : { ...tool, told: true }));
}

/** Tools of earlier answers that still run. */
export function runningIn(turns: Turns): Id[] {
  return toolsOf(turns).filter((id) => turns.tools[id]?.status === 'running');
}

/** A tool runs, beside the one that ends the call. */
export function isRunningIn({ tools }: Turns): boolean {
  return Object.values(tools).some(({ status, endsCall }) => status === 'running' && !endsCall);
}

/** Tools that ran where nobody may run any more, and that may be run again. */
export function repeatableIn(turns: Turns): Id[] {
  return Object.keys(turns.tools).filter((id) => {
    const tool = turns.tools[id];
    return tool?.status === 'running' && tool.isIdempotent;
  });
}

/** Those of them that no answer was given without. */
export function awaitedIn(turns: Turns): Id[] {
  return runningIn(turns).filter((id) => turns.tools[id]?.waitedFor === true);
}

/** Tools of earlier answers that have given a result which the model was not asked to wait for, and does not know of. */
export function newsIn(turns: Turns): Id[] {
  return toolsOf(turns).filter((id) => {
    const tool = turns.tools[id];
    return tool !== undefined && isNews(tool);
  });
}

/** An answer was stopped before a word was heard: the turn stays open for what the caller adds. */
export function dropAnswer(turns: Turns, account: AnswerAccount, at: Moment): Change {
  const { open } = turns;
  if (open === null) return unchanged(turns);
  const { firstFrameSent: _sent, heard: _heard, ...times } = open.latency.at;
  const dropped: OpenTurn = {
    ...open,
    isAside: false,
    dropped: `${open.dropped} ${account.unheard}`.trim(),
    // What tools have done is done, whatever was heard.
    steps: [...open.steps, ...roundSteps(account)],
    latency: { ...open.latency, at: times },
  };
  return withdrawAgent({ ...turns, open: dropped, isOwed: turns.isOwed || account.isOwed }, at);
}

export interface End {
  readonly account: AnswerAccount;
  readonly interrupted: boolean;
  readonly at: Moment;
}

/** The open turn is over. */
export function complete(turns: Turns, { account, interrupted, at }: End, policy: TurnsPolicy): Change {
  if (turns.open === null) return unchanged(turns);
  const told = { text: account.heard, final: true, ...(interrupted ? { interrupted } : {}) };
  const settledFirst = settle(turns, policy);
  const closed = after(settledFirst, (next) =>
    account.heard === '' ? withdrawAgent(next, at) : tellAgent(next, told, at),
  );
  return after(closed, (next) => {
    const { open, words } = next;
    if (open === null) return unchanged(next);
    const { isAside } = open;
    const steps = isAside ? open.steps : [...open.steps, ...answerSteps(account)];
    const speechEndedAt = wallOf(open.latency.at.speechEnded, at);
    const dueAt = at.now + LIMITS.words.textMs;
    // No turn begins behind what it answers: not by a rounded millisecond, nor where nobody has told when the caller began.
    const startedAt = Math.min(open.startedAt, speechEndedAt ?? open.startedAt);
    const over: WaitingTurn = { ...open, startedAt, steps, account, interrupted, speechEndedAt, dueAt };
    const isOwed = account.isOwed || (next.isOwed && (isAside || account.heard === ''));
    const left: Turns = { ...next, open: null, over, heardUntil: at.now, isOwed };
    const waits = policy.transcribesCaller && saidOf(words, steps).some(({ isFinal }) => !isFinal);
    return waits ? unchanged(left) : settle(left, policy);
  });
}

/** The time has come for which `deadlineOf` has asked. */
export function due(turns: Turns, { now }: Moment, policy: TurnsPolicy): Change {
  return turns.over !== null && now >= turns.over.dueAt ? settle(turns, policy) : unchanged(turns);
}

/** The call is over, or nobody is there any more who hears its words: nothing is waited for. */
export function closed(turns: Turns, policy: TurnsPolicy): Change {
  return after(settle(turns, policy), (next) =>
    withWords(next, callerWords.concluded(next.words, next.words.said, policy)),
  );
}

/**
 * Another engine takes the call over: nothing is waited for, what the caller said and nobody answered is a turn in any case, and one in
 * which nothing was said or done stays open for it. What has no text will be heard again, also what nobody has noticed yet. `since`:
 * from when on, on the clock; null where all has its text. `isUnheard`: what is to be answered has none.
 */
export function givenUp(
  turns: Turns,
  end: End,
  policy: TurnsPolicy,
): Change & { since: number | null; isUnheard: boolean } {
  const { open, words, heardUntil } = turns;
  const { at } = end;
  const all = [...saidIn(turns), ...named(words, [...words.unanswered, ...words.repeated])];
  const unheard = all.filter(({ isFinal }) => !isFinal);
  const starts = [words.speakingSince, ...unheard.map((said) => said.at)].filter((wall) => wall !== null);
  const told = withWords(turns, callerWords.wordless({ ...words, repeated: [] }, unheard, policy));
  const answered = after(told, (next) =>
    textOf(named(next.words, next.words.unanswered)) === '' ? unchanged(next) : answer(next, at, policy),
  );
  const left = after(answered, (next) =>
    isEmpty(next, end.account) ? withdrawAgent(next, at) : complete(next, end, policy),
  );
  const unnoticed = open === null && heardUntil !== null ? [heardUntil] : [];
  const times = [...starts.map((wall) => at.now - (at.wall - wall)), ...unnoticed];
  return {
    ...after(left, (next) => closed(next, policy)),
    since: times.length === 0 ? null : Math.min(...times),
    isUnheard: starts.length > 0,
  };
}

/** What another engine goes on with: the conversation, and the turn that is open as a new one. `live`: tools that still run. */
export function takenOver(turns: Turns, { live, at }: { live: readonly Id[]; at: Moment }): Change {
  const { nextIndex, nextTool, open, suffix } = turns;
  const history = turns.history.filter((step) => !isPrompt(step));
  const ids = toolsIn(history);
  const tools: Tools = Object.fromEntries(
    ids.flatMap((id) => (turns.tools[id] === undefined ? [] : [[id, turns.tools[id]]])),
  );
  const left = { ...NO_TURNS, history, tools, nextIndex, nextTool, suffix };
  const next = { ...left, open: open && begun(open.index, at.wall) };
  const done = ids.filter((id) => tools[id]?.status !== 'running');
  return toolsLost(toldOf(next, done), live);
}

/** Tools that the answer which is on has called: in a round of their own, as what was said before them is not known apart. */
export function unplacedTools({ open, tools }: Turns): Id[][] {
  const placed = toolsIn(open?.steps ?? []);
  const isUnplaced = (id: Id) => tools[id]?.turnIndex === open?.index && !placed.includes(id);
  const ids = Object.keys(tools).filter(isUnplaced);
  return ids.length === 0 ? [] : [ids];
}

/** What a model that is asked turn by turn is told: everything so far, and the rounds of the answer that is on. */
export function requestOf(turns: Turns, systemPrompt: string, rounds: readonly Round[] = []): ChatMessage[] {
  return toRequest(systemPrompt, [...stepsOf(turns), ...rounds.map(toStep)], turns.tools);
}

/** The conversation as it was heard; `account` is of the answer that is on. Tools that still run have no result in it. */
export function historyOf(turns: Turns, account?: AnswerAccount): ChatMessage[] {
  const { open, words } = turns;
  const answered = account === undefined || open?.isAside === true ? [] : answerSteps(account);
  const said = words.unanswered.map((id): TurnStep => ({ role: 'said', id }));
  return toHistory([...stepsOf(turns), ...resolved(words, [...answered, ...said])], turns.tools);
}

const UNTOLD = { agentAt: null, told: '', heard: '' };

function begun(index: number, startedAt: number): OpenTurn {
  return {
    index,
    startedAt,
    steps: [],
    isAside: false,
    dropped: '',
    answer: 0,
    latency: UNMEASURED,
    ...UNTOLD,
  };
}

function opened(turns: Turns, startedAt: number): Change {
  if (turns.open !== null) return unchanged(turns);
  const turnIndex = turns.nextIndex;
  return {
    turns: { ...turns, open: begun(turnIndex, startedAt), nextIndex: turnIndex + 1 },
    facts: [{ type: 'turn.started', turnIndex }],
  };
}

function unchanged(turns: Turns): Change {
  return { turns, facts: [] };
}

function after({ turns, facts }: Change, next: (turns: Turns) => Change): Change {
  const change = next(turns);
  return { turns: change.turns, facts: [...facts, ...change.facts] };
}

/** The turn that is over is told as it is. */
function settle(turns: Turns, policy: TurnsPolicy): Change {
  const { over, words } = turns;
  if (over === null) return unchanged(turns);
  const said = saidOf(words, over.steps).filter(({ text }) => text !== '');
  const history = [...turns.history, ...withoutEmpty(resolved(words, over.steps))];
  const told = withWords({ ...turns, over: null, history }, callerWords.concluded(words, said, policy));
  const completed: TurnFact = { type: 'turn.completed', turn: toRecord(turns, over) };
  return { turns: told.turns, facts: [...told.facts, completed] };
}

/** In epoch milliseconds; null for what was not reached. */
function wallOf(reachedAt: number | undefined, { now, wall }: Moment): number | null {
  return reachedAt === undefined ? null : Math.round(wall - (now - reachedAt));
}

function toRecord({ tools, words }: Turns, over: WaitingTurn): Turn {
  const { index, startedAt, speechEndedAt = null, steps, dropped, latency, account, interrupted } = over;
  const used = steps.flatMap((step) => (step.role === 'tools' ? step.tools : []));
  return {
    index,
    agent: null,
    startedAt,
    speechEndedAt,
    userText: textOf(saidOf(words, steps)),
    agentText: account.heard,
    agentTextUnheard: `${dropped} ${account.unheard}`.trim(),
    interrupted,
    latency: latencyOf(latency),
    fillerMs: latency.fillerMs,
    cost: null,
    tokens: null,
    toolCalls: used.flatMap((id) => {
      const tool = tools[id];
      return tool === undefined ? [] : [toToolCall(id, tool)];
    }),
  };
}

/** A turn is open in which nothing was said or done. */
function isEmpty({ open, words }: Turns, { heard: answered, rounds }: AnswerAccount): boolean {
  const isUntouched = open?.steps.every(({ role }) => role === 'said') === true && rounds.length === 0;
  return isUntouched && answered === '' && textOf(saidOf(words, open.steps)) === '';
}

function stepsOf({ history, over, open, words }: Turns): Step[] {
  return [...history, ...resolved(words, [...(over?.steps ?? []), ...(open?.steps ?? [])])];
}

/** The tools of earlier answers. Asked for with every word of the caller: what was said is not looked at. */
function toolsOf({ history, over, open }: Turns): Id[] {
  return [history, over?.steps ?? [], open?.steps ?? []].flatMap(toolsIn);
}

function saidOf(words: CallerWords, steps: readonly TurnStep[]): Said[] {
  const ids = steps.flatMap((step) => (step.role === 'said' ? [step.id] : []));
  return named(words, ids);
}

function resolved(words: CallerWords, steps: readonly TurnStep[]): Step[] {
  return steps.map((step) =>
    step.role === 'said' ? { role: 'user', text: textOf(named(words, [step.id])) } : step,
  );
}

function toStep(round: Round): Step & TurnStep {
  return { role: 'tools', ...round };
}

function roundSteps({ rounds }: AnswerAccount): TurnStep[] {
  return rounds.map(toStep);
}

function answerSteps(account: AnswerAccount): TurnStep[] {
  return [...roundSteps(account), { role: 'assistant', text: account.heardAfter }];
}

function segment(entry: TranscriptEntry): TurnFact {
  return { type: 'transcript.segment', entry };
}

function userSegment({ suffix }: Turns, entry: TranscriptEntry): TurnFact {
  return segment({ ...entry, id: `${entry.id}${suffix}` });
}

function withWords(turns: Turns, { words, entries }: callerWords.WordsChange): Change {
  return { turns: { ...turns, words }, facts: entries.map((entry) => userSegment(turns, entry)) };
}

/** The agent's entry in the transcript, of the open turn. */
function tellAgent(
  turns: Turns,
  told: { text: string; final: boolean; interrupted?: boolean },
  moment: Moment,
): Change {
  const { open } = turns;
  if (open === null) return unchanged(turns);
  const { index: turnIndex } = open;
  // What was heard may be known long after it began: the entry is dated by its first frame.
  const at = open.agentAt ?? wallOf(open.latency.at.firstFrameSent, moment) ?? moment.wall;
  const id = `agent-${turnIndex}${turns.suffix}`;
  const entry: TranscriptEntry = { id, turnIndex, role: 'agent', at, ...told };
  return {
    turns: { ...turns, open: { ...open, agentAt: at, told: told.text, heard: open.told } },
    facts: [segment(entry)],
  };
}

function withdrawAgent(turns: Turns, at: Moment): Change {
  if ((turns.open?.agentAt ?? null) === null) return unchanged(turns);
  return after(tellAgent(turns, { text: '', final: true }, at), (next) =>
    unchanged({ ...next, open: next.open && { ...next.open, ...UNTOLD } }),
  );
}

function withLatency(turns: Turns, of: AnswerId | undefined, change: (latency: Latency) => Latency): Turns {
  const { open } = turns;
  const isOther = of !== undefined && (open?.index !== of.turnIndex || open.answer !== of.answer);
  return open === null || isOther ? turns : { ...turns, open: { ...open, latency: change(open.latency) } };
}

function withTools(turns: Turns, ids: readonly Id[], change: (tool: ToolState) => ToolState): Turns {
  if (ids.length === 0) return turns;
  const tools = { ...turns.tools };
  for (const id of ids) if (tools[id] !== undefined) tools[id] = change(tools[id]);
  return { ...turns, tools };
}

/** With their entries in the transcript. */
function toldTools(turns: Turns, ids: readonly Id[], change: (tool: ToolState) => ToolState): Change {
  const next = withTools(turns, ids, change);
  const facts = ids.flatMap((id): TurnFact[] => {
    const tool = next.tools[id];
    if (tool === undefined) return [];
    const late = isStated(next, tool.turnIndex) ? { tool: toToolCall(id, tool) } : {};
    return [{ type: 'transcript.segment', entry: toToolEntry(id, tool), ...late }];
  });
  return { turns: next, facts };
}

/** The fact of the turn is out. */
function isStated({ open, over, nextIndex }: Turns, index: number): boolean {
  return index < nextIndex && index !== open?.index && index !== over?.index;
}
