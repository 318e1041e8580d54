// What a fact says where the operator keeps no words, or no keys: the last thing that is done to it before anybody hears it.
import type { CallFact } from '../../contract/call-event.js';
import type { ToolCall, TranscriptEntry } from '../../contract/call-record.js';
import { NO_SUCH_TOOL, readEntryText } from '../../conversation/tools.js';
import { KEYS_TEXT } from '../../engines/pressed-keys.js';

/** What of a call is told and kept. */
export interface PrivacyPolicy {
  /** What was said. */
  readonly transcript: 'full' | 'redacted' | 'none';
  /** Keys that were pressed or sent. */
  readonly keys: 'full' | 'none';
}

/** Begins the entry of a transcript for keys that were sent. */
export const SENT_KEYS = 'Sent keys ';
/** Stands in a transcript for keys that are not kept. */
export const KEYS_LEFT_OUT = '[keys]';

/** Stands for the name of a tool that nobody has: the model's own words, which may be the caller's. */
export const UNKNOWN_TOOL = '[unknown tool]';

const PRESSED = new RegExp(`${KEYS_TEXT}[0-9A-D*#](?: [0-9A-D*#](?!\\w))*`, 'g');
const TOOL_FAILED = 'The tool failed.';

/** The fact without words or keys, where none are kept; undefined where nothing is left of it. */
export function privateFact(fact: CallFact, policy: PrivacyPolicy): CallFact | undefined {
  if (policy.transcript === 'full' && policy.keys === 'full') return fact;
  if (fact.type === 'dtmf.received') return policy.keys === 'none' ? undefined : fact;
  if (fact.type === 'transcript.segment') {
    const entry = privateEntry(fact.entry, policy);
    return fact.tool === undefined
      ? { ...fact, entry }
      : { ...fact, entry, tool: privateTool(fact.tool, policy) };
  }
  if (fact.type === 'agent.changed') return { ...fact, summary: privateText(fact.summary, policy) };
  if (fact.type !== 'turn.completed') return fact;
  const { turn } = fact;
  return {
    ...fact,
    turn: {
      ...turn,
      userText: privateText(turn.userText, policy),
      agentText: privateText(turn.agentText, policy),
      agentTextUnheard: privateText(turn.agentTextUnheard, policy),
      toolCalls: turn.toolCalls.map((tool) => privateTool(tool, policy)),
    },
  };
}

/** The text with letters in the place of pressed keys, as long as before: `keys` says what becomes of these. */
export function maskPressed(text: string): string {
  return text.replace(PRESSED, (keys) => 'x'.repeat(keys.length));
}

/** Empty and final, it says when somebody spoke, and puts nothing into the transcript. */
function privateEntry(entry: TranscriptEntry, policy: PrivacyPolicy): TranscriptEntry {
  if (policy.transcript === 'none') return { ...entry, text: '', final: true };
  if (entry.role === 'tool') return { ...entry, text: toolText(entry, policy) };
  return { ...entry, text: privateText(entry.text, policy) };
}

function privateText(text: string, { transcript, keys }: PrivacyPolicy): string {
  if (transcript === 'none') return '';
  return keys === 'none' ? text.replace(PRESSED, `${KEYS_TEXT}${KEYS_LEFT_OUT}`) : text;
}

/** What it was called with, and what it gave, may say anything in any form: it is kept whole, or not at all. An error is redacted like words. */
function privateTool(tool: ToolCall, { transcript, keys }: PrivacyPolicy): ToolCall {
  const isQuoting = transcript === 'none' || keys === 'none';
  const error = isQuoting && tool.error !== null ? TOOL_FAILED : tool.error;
  const name = tool.error === NO_SUCH_TOOL ? UNKNOWN_TOOL : tool.name;
  return { ...tool, name, arguments: null, result: null, error };
}

/** The entry of a tool without its result, and without its error where that may quote keys. */
function toolText({ text, final }: TranscriptEntry, { keys }: PrivacyPolicy): string {
  // A name that was made up may read like anything.
  const told = text.endsWith(` failed: ${NO_SUCH_TOOL}`) ? `${UNKNOWN_TOOL} failed: ${NO_SUCH_TOOL}` : text;
  const { name, hasFailed } = readEntryText(told);
  if (!final) return name;
  if (!hasFailed) return `${name}: done`;
  return keys === 'none' ? `${name} failed` : told;
}
