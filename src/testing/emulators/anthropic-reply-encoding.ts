// A scripted reply as the events of Anthropic's stream.
import type { EmulatedToolCall } from './chat-reply-encoding.js';
import type { ReplyPace } from './reply-stream.js';

/** What the model says next, and how the server sends it. */
export interface EmulatedAnthropicReply extends ReplyPace {
  /** Comes before the text, in a block of its own with a signature. */
  readonly thinking?: string;
  readonly text?: string;
  readonly toolCalls?: readonly EmulatedToolCall[];
  /** @default 'end_turn', or 'tool_use' with tool calls; null breaks off before it. */
  readonly stopReason?: string | null;
  /** `input` leaves out what was read from the cache (`cached`) and written there (`written`), as the vendor counts. */
  readonly usage?: {
    readonly input: number;
    readonly cached?: number;
    readonly written?: number;
    readonly output: number;
  };
  /** Sent as it is between the events. @default pings, as the vendor sends them */
  readonly noise?: string;
  /** What the stream says at `errorAfter`. */
  readonly error?: Readonly<Record<string, unknown>>;
}

const FRAGMENT = 7;
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** One buffer per step of the stream. */
export function encodeAnthropicReply(reply: EmulatedAnthropicReply, model: string): Buffer[] {
  const { text = '', thinking = '', toolCalls = [], noise = PING } = reply;
  const {
    input,
    cached = 0,
    written = 0,
    output,
  } = reply.usage ?? {
    input: 20,
    output: Math.ceil(text.length / 4),
  };
  const blocks: Block[] = [
    ...(thinking === '' ? [] : [thinkingBlock(thinking)]),
    ...(text === '' ? [] : [textBlock(text)]),
    ...toolCalls.map(toolBlock),
  ];
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: Math.min(output, 1),
  };
  const open = { content: [], stop_reason: null, stop_sequence: null, usage };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, ...open };
  const events: Event[] = [{ type: 'message_start', message }];
  blocks.forEach(({ start, deltas }, index) => {
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  });
  const usual = toolCalls.length > 0 ? 'tool_use' : 'end_turn';
  const reason = reply.stopReason === undefined ? usual : reply.stopReason;
  if (reason !== null) {
    // Counted up from the start of the message.
    const delta = { stop_reason: reason, stop_sequence: null };
    events.push({ type: 'message_delta', delta, usage: { output_tokens: output } }, { type: 'message_stop' });
  }
  return events.map((event) =>
    Buffer.from(`${noise}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  );
}

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function thinkingBlock(thinking: string): Block {
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ],
  };
}

function textBlock(text: string): Block {
  const words = text.match(/(?<!\s)\s*\S+/g) ?? [];
  return {
    start: { type: 'text', text: '' },
    deltas: words.map((word) => ({ type: 'text_delta', text: word })),
  };
}

function toolBlock({ id = '', name, arguments: text }: EmulatedToolCall, position: number): Block {
  const start = { type: 'tool_use', id: id === '' ? `toolu_${position}` : id, name, input: {} };
  if (typeof text !== 'string') return { start: { ...start, input: text }, deltas: [] };
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${FRAGMENT}}`, 'g')) ?? [];
  return {
    start,
    deltas: ['', ...pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  };
}
