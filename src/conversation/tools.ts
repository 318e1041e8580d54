// The tools that a call has used: what was asked for, and what became of it. What runs is elsewhere, and known by its id.
import type { ToolCall, ToolText, TranscriptEntry } from '../contract/call-record.js';
import type { ModelToolCall } from '../contract/chat-message.js';

export type Id = string;

/** A time on both clocks: one that never jumps, and epoch milliseconds. */
export interface Moment {
  readonly now: number;
  readonly wall: number;
}

export interface Settlement {
  /** For the model. */
  readonly text: string;
  /** For the record; null when all went well. */
  readonly error: string | null;
  /** What the record has of it. @default `text` */
  readonly shown?: string | undefined;
}

/** One call of a tool. `lost`: nobody runs it any more, and its result will not be known. */
export interface ToolState {
  readonly call: ModelToolCall;
  readonly turnIndex: number;
  readonly status: 'running' | 'settled' | 'failed' | 'lost';
  readonly startedAt: Moment;
  readonly durationMs: number | null;
  /** What came of it; null while it runs. */
  readonly settlement: Settlement | null;
  /** True for the one that ends the call: the answer that carries it settles it. */
  readonly endsCall: boolean;
  /** The model waits for the result. Else it answers without it, and has to be told when it is there. */
  readonly waitedFor: boolean;
  /** It was told so. */
  readonly told: boolean;
  /** Whoever goes on with the conversation where nobody runs it any more may run it again, under the same key. */
  readonly isIdempotent: boolean;
  /** The one that did the same already, whose result it gives; null where it is a call of its own. */
  readonly joins: Id | null;
}

export type Tools = Readonly<Record<Id, ToolState>>;

const STILL_RUNNING = JSON.stringify({
  status: 'still running',
  note: 'Answer the caller now, without it, and do not call it again. Its result follows.',
});

const LOST = 'The result of the tool was lost.';

/** The model must neither promise it nor do it again by itself. */
const LOST_TO_MODEL = `${LOST} It may have been done: say so, and do not call the tool again unless the caller agrees.`;

/** Of a tool that the model called and nobody has: its name is the model's own words. It is known before anything is told of it. */
export const NO_SUCH_TOOL = 'There is no tool of that name.';

/** Longest name that is shown of what a model made up. */
const MAX_NAME_CHARS = 64;

/** Longest text of a tool that is handed on: as long as a result that models are given. */
const MAX_TEXT_CHARS = 16_384;

/** Longest piece of a result that a transcript shows. */
const MAX_SHOWN_CHARS = 200;

/**
 * What tells one call of a tool apart from all others, for whoever must not do it twice. The same after the conversation was stored and read
 * again, since the ID is minted in its state.
 */
export function idempotencyKeyOf(callId: string, id: Id): string {
  return `${callId}.${id}`;
}

/** An error as the model reads it. */
export function toErrorText(sentence: string): string {
  return JSON.stringify({ error: sentence });
}

export function calledTool(
  call: ModelToolCall,
  {
    turnIndex,
    endsCall,
    isIdempotent = false,
    joins = null,
    at,
  }: { turnIndex: number; endsCall: boolean; isIdempotent?: boolean; joins?: Id | null; at: Moment },
): ToolState {
  return {
    call,
    turnIndex,
    status: 'running',
    startedAt: at,
    durationMs: null,
    settlement: null,
    endsCall,
    waitedFor: true,
    told: false,
    isIdempotent,
    joins,
  };
}

/** The first result counts. */
export function settled(tool: ToolState, settlement: Settlement, now: number): ToolState {
  if (tool.status !== 'running') return tool;
  const status = settlement.error === null ? 'settled' : 'failed';
  return { ...tool, status, settlement, durationMs: Math.round(now - tool.startedAt.now) };
}

/** Nobody runs it any more. */
export function lost(tool: ToolState): ToolState {
  if (tool.status !== 'running') return tool;
  return { ...tool, status: 'lost', settlement: { text: toErrorText(LOST_TO_MODEL), error: LOST } };
}

/** The model answers without waiting for it: of the result it has to be told when it is there. */
export function goneOnWithout(tool: ToolState): ToolState {
  return tool.status === 'running' ? { ...tool, waitedFor: false } : tool;
}

/** There is a result of which the model does not know yet. */
export function isNews({ status, waitedFor, told }: ToolState): boolean {
  return status !== 'running' && !waitedFor && !told;
}

/** What the model is told: while it runs, that it does. */
export function resultOf({ settlement }: ToolState): string {
  return settlement?.text ?? STILL_RUNNING;
}

/** As it is now: without a duration and a result while it runs. Of its texts the owner of the call keeps less. */
export function toToolCall(id: Id, tool: ToolState): ToolCall {
  const { call, startedAt, durationMs, settlement } = tool;
  const argumentsText = argumentsOf(call);
  return {
    id,
    name: nameOf(tool),
    arguments: argumentsText === '' ? null : toToolText(argumentsText),
    result: settlement && toToolText(shownOf(settlement)),
    startedAt: startedAt.wall,
    durationMs,
    error: settlement?.error ?? null,
  };
}

/** A model in JavaScript may give the arguments alone, and so may a state that was stored. */
function argumentsOf(
  call: Omit<ModelToolCall, 'argumentsText'> & { readonly argumentsText?: string },
): string {
  return call.argumentsText ?? JSON.stringify(call.arguments ?? {});
}

function toToolText(text: string): ToolText {
  return { text: text.slice(0, MAX_TEXT_CHARS), cut: text.length > MAX_TEXT_CHARS };
}

/** As it is shown, whatever a model made up. */
export function nameOf({ call }: ToolState): string {
  return call.name.slice(0, MAX_NAME_CHARS);
}

/** Its place in the transcript, final with its result, also when that comes after the end of the turn. */
export function toToolEntry(id: Id, tool: ToolState): TranscriptEntry {
  const { turnIndex, startedAt, status } = tool;
  const final = status !== 'running';
  return { id, turnIndex, role: 'tool', text: toEntryText(tool), at: startedAt.wall, final };
}

/** The name while it runs; then the name with the error, or with the beginning of the result. */
export function toEntryText(tool: ToolState): string {
  const name = nameOf(tool);
  const { settlement } = tool;
  if (settlement === null) return name;
  if (settlement.error !== null) return `${name} failed: ${settlement.error}`;
  const result = shorten(shownOf(settlement));
  return result === '' || result === 'null' ? `${name}: done` : `${name}: ${result}`;
}

/** What an entry of a transcript says of its tool. */
export interface EntryText {
  readonly name: string;
  readonly hasFailed: boolean;
  /** The error, or the beginning of the result; null where none is told. */
  readonly outcome: string | null;
}

/** `toEntryText` the other way round. The name ends where an outcome begins: one that a model made up may have blanks. */
export function readEntryText(text: string): EntryText {
  const [, name = '', failed, error, result] = /^(.*?)(?:( failed)(?:: (.*))?|: (.*))?$/s.exec(text) ?? [];
  return { name, hasFailed: failed !== undefined, outcome: error ?? result ?? null };
}

function shownOf({ shown, text }: Settlement): string {
  return shown ?? text;
}

function shorten(text: string): string {
  const line = text
    .slice(0, 4 * MAX_SHOWN_CHARS)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= MAX_SHOWN_CHARS ? line : `${characters.slice(0, MAX_SHOWN_CHARS).join('')}…`;
}
