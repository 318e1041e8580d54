// How much of the arguments and results of tools is kept: a part of each, and so much of a call.
import type { CallFact } from '../../contract/call-event.js';
import type { CallRecord, ToolCall, ToolText } from '../../contract/call-record.js';

const MAX_TEXT_BYTES = 4096;
/** Of one call, as JSON. Small enough for all of it to be in one fact, which senders and readers bound as well. */
const MAX_CALL_BYTES = 128 * 1024;

export class ToolTexts {
  /** Bytes of a tool that has been told, by its id: what is told of it again takes their place. */
  readonly #kept = new Map<string, number>();
  #left = MAX_CALL_BYTES;

  /** `before`: the record of a call that another process had. */
  constructor(before?: Pick<CallRecord, 'turns'>) {
    for (const { toolCalls } of before?.turns ?? []) for (const tool of toolCalls) this.#tool(tool);
  }

  /** The fact with as much of its texts as is kept. */
  bound(fact: CallFact): CallFact {
    if (fact.type === 'turn.completed') {
      const { turn } = fact;
      return { ...fact, turn: { ...turn, toolCalls: turn.toolCalls.map((tool) => this.#tool(tool)) } };
    }
    return fact.type === 'transcript.segment' && fact.tool !== undefined
      ? { ...fact, tool: this.#tool(fact.tool) }
      : fact;
  }

  #tool(tool: ToolCall): ToolCall {
    const { id } = tool;
    if (id !== null) this.#left += this.#kept.get(id) ?? 0;
    const leftBefore = this.#left;
    // Records of earlier versions have no texts.
    const bound = {
      ...tool,
      arguments: this.#text(tool.arguments ?? null),
      result: this.#text(tool.result ?? null),
    };
    if (id !== null) this.#kept.set(id, leftBefore - this.#left);
    return bound;
  }

  #text(whole: ToolText | null): ToolText | null {
    const text = whole && shortened(whole);
    const bytes = bytesOf(text);
    if (bytes > this.#left) return { text: '', cut: true };
    this.#left -= bytes;
    return text;
  }
}

/** Never within a character. */
function shortened({ text, cut }: ToolText): ToolText {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_TEXT_BYTES) return { text, cut };
  const isInside = (end: number) => ((bytes[end] ?? 0) & 0xc0) === 0x80;
  let end = MAX_TEXT_BYTES;
  while (isInside(end)) end -= 1;
  return { text: bytes.toString('utf8', 0, end), cut: true };
}

function bytesOf(text: ToolText | null): number {
  return text === null ? 0 : Buffer.byteLength(JSON.stringify(text.text));
}
