// The conversation as its record tells it, where the state that was stored is damaged, of another version, or older than the record. What a
// record does not have, or may not have as it was, is lost: the arguments of tools, and the words of a goodbye that was not said.
import type { CallRecord, TranscriptEntry } from '../contract/call-record.js';
import { NOBODY_SPEAKS } from './floor.js';
import { type Step, withoutEmpty } from './history.js';
import { NO_LANGUAGE } from './language.js';
import { begun, type ConversationState, readState } from './state.js';
import { calledTool, type Moment, readEntryText, settled, type Tools, type ToolState } from './tools.js';
import { answer, NO_TURNS, says, spoken, type Turns } from './turns.js';

export type Recorded = Pick<CallRecord, 'transcript' | 'turns'> &
  Partial<Pick<CallRecord, 'handoffs' | 'language'>>;

export interface RecallOptions {
  /** What callers are told whose call goes on in another process: no model is. */
  readonly message: string;
}

/** What a driver goes on with of what was stored, or else of the record. */
export function toResume(stored: unknown, record: Recorded, options: RecallOptions): ConversationState {
  const state = readState(stored);
  return state === undefined || isOutdated(state, record) ? recalled(record, options) : state;
}

/** As if it had been stored: what was cut off is still to be given up. */
export function recalled(
  { transcript, turns, handoffs = [], language = null }: Recorded,
  { message }: RecallOptions,
): ConversationState {
  const handoff = handoffs.at(-1);
  const state: ConversationState = {
    ...begun({ hasGreeting: transcript.length === 0 }),
    language: { ...NO_LANGUAGE, tag: language },
    ...(handoff && { handoffs: { count: handoffs.length, since: [handoff.to] } }),
  };
  const entries = transcript.filter((entry) => isPart(entry, message));
  const indexes = [...transcript, ...turns.map(({ index }) => ({ turnIndex: index }))];
  const nextIndex = Math.max(-1, ...indexes.map(({ turnIndex }) => turnIndex)) + 1;
  if (nextIndex === 0) return state;
  const last = nextIndex - 1;
  const isOpen = !turns.some(({ index }) => index === last);
  const isBefore = ({ turnIndex }: TranscriptEntry) => !isOpen || turnIndex < last;
  const own = transcript.filter((entry) => !isBefore(entry) && isTold(entry));
  const nextTool = transcript.filter(({ role }) => role === 'tool').length + 1;
  const left: Turns = {
    ...NO_TURNS,
    history: withoutEmpty(turnsOf(entries.filter(isBefore)).flatMap(stepsOf)),
    tools: toolsOf(entries),
    nextIndex: isOpen ? last : nextIndex,
    nextTool,
  };
  const floor = { ...NOBODY_SPEAKS, nextId: NOBODY_SPEAKS.nextId + 1 };
  // The caller's words alone may not have begun their turn.
  if (own.every(({ role }) => role === 'user'))
    return { ...state, floor, turns: left, untaken: { ...state.untaken, entries: own } };
  const open = opened(left, own, message);
  const utterance = { id: 1, manner: {}, text: null, isPaused: false, isWhole: false };
  return {
    ...state,
    turns: open,
    // It was in the middle of it.
    floor: { ...floor, floor: { phase: 'speaking', utterance, audibleAt: 0 } },
  };
}

/** The record has turns as over that the state does not. */
function isOutdated(state: ConversationState, { turns, handoffs = [] }: Recorded): boolean {
  const { open, over, nextIndex } = state.turns;
  if (handoffs.length > (state.handoffs?.count ?? 0)) return true;
  return turns.some(({ index }) => index >= nextIndex || index === open?.index || index === over?.index);
}

/** It was said or done, and no filler. */
function isTold({ id, text, final }: TranscriptEntry): boolean {
  return (text !== '' || !final) && !id.startsWith('filler-');
}

/** A model is told of it. */
function isPart(entry: TranscriptEntry, message: string): boolean {
  return isTold(entry) && !(entry.role === 'agent' && message.startsWith(entry.text));
}

function turnsOf(entries: readonly TranscriptEntry[]): TranscriptEntry[][] {
  const indexes = entries.map(({ turnIndex }) => turnIndex).sort((one, other) => one - other);
  const different = indexes.filter((index, place) => index !== indexes[place - 1]);
  return different.map((index) => entries.filter(({ turnIndex }) => turnIndex === index));
}

/** Where in an answer its tools were called the record does not tell: before its end. */
function stepsOf(entries: readonly TranscriptEntry[]): Step[] {
  const textOf = (role: TranscriptEntry['role']) =>
    entries.flatMap((entry) => (entry.role === role ? [entry.text] : [])).join(' ');
  const tools = entries.flatMap(({ id, role }) => (role === 'tool' ? [id] : []));
  return [
    { role: 'user', text: textOf('user') },
    ...(tools.length === 0 ? [] : [{ role: 'tools' as const, text: '', tools }]),
    { role: 'assistant', text: textOf('agent') },
  ];
}

/** The turn that is open: what the agent has said in it last may not have been heard. */
function opened(turns: Turns, entries: readonly TranscriptEntry[], message: string): Turns {
  const policy = { transcribesCaller: false };
  const [first] = entries;
  const agent = entries.findLast(({ role }) => role === 'agent');
  const at = momentOf(first?.at ?? 0);
  const text = entries.flatMap((entry) => (entry.role === 'user' ? [entry.text] : [])).join(' ');
  const { turns: answered } = answer(says(turns, text, at), at, policy);
  if (agent === undefined) return answered;
  const named = { ...answered, suffix: agent.id.slice(`agent-${agent.turnIndex}`.length) };
  const isAside = !isPart(agent, message);
  const { open } = named;
  const { turns: begun } = spoken(
    { ...named, open: open && { ...open, isAside } },
    agent.final ? agent.text : withoutLast(agent.text),
    momentOf(agent.at),
  );
  return spoken(begun, agent.text, momentOf(agent.at)).turns;
}

/** Without the sentence that it ends with. */
function withoutLast(text: string): string {
  return /^(.*[.!?…])\s+\S/s.exec(text)?.[1] ?? '';
}

function toolsOf(entries: readonly TranscriptEntry[]): Tools {
  const tools = entries.filter(({ role }) => role === 'tool');
  return Object.fromEntries(tools.map((entry) => [entry.id, toTool(entry)]));
}

function toTool({ id, turnIndex, text, at, final }: TranscriptEntry): ToolState {
  const { name, hasFailed, outcome } = readEntryText(text);
  const call = { id, name, arguments: {}, argumentsText: '' };
  const tool = calledTool(call, { turnIndex, endsCall: false, at: momentOf(at) });
  if (!final) return tool;
  const told = outcome ?? '';
  return { ...settled(tool, { text: told, error: hasFailed ? told : null }, 0), durationMs: null };
}

function momentOf(wall: number): Moment {
  return { now: 0, wall };
}
