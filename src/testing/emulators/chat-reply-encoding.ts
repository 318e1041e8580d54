// A scripted reply as the events of a stream, in the styles that servers of the Chat Completions dialect have.
import type { ReplyPace } from './reply-stream.js';

export interface ReplyStyle {
  /** Where the usage stands. @default 'own-chunk' */
  readonly usagePlacement?: 'own-chunk' | 'last-chunk' | 'x_groq' | 'none';
  /**
   * How tool calls come. `fragments`: cut into pieces by index. `whole`: in one piece. `same-index`: all with index 0 and ids of
   * their own. `no-index`, `no-id`: without. @default 'fragments'
   */
  readonly toolCallStyle?: 'fragments' | 'whole' | 'same-index' | 'no-index' | 'no-id';
  /** Line ends of the stream. @default '\n' */
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Leaves out the last line. */
  readonly withoutDone?: boolean;
  /** Sent as it is between the chunks, like a comment or an event of another kind. */
  readonly noise?: string;
}

export interface EmulatedToolCall {
  readonly id?: string;
  readonly name: string;
  /** JSON text, as a model would write it. Anything else is sent as it is, as some servers do. */
  readonly arguments?: unknown;
}

/** What the model says next, and how the server sends it. */
export interface EmulatedReply extends ReplyStyle, ReplyPace {
  readonly text?: string;
  readonly toolCalls?: readonly EmulatedToolCall[];
  /** @default 'stop', or 'tool_calls' with tool calls; null leaves it out. */
  readonly finishReason?: string | null;
  readonly usage?: {
    readonly input: number;
    readonly cached?: number;
    readonly written?: number;
    readonly output: number;
  };
  /** What the stream says at `errorAfter`. */
  readonly error?: Readonly<Record<string, unknown>>;
}

const FRAGMENT = 7;

/** One buffer per step of the stream. */
export function encodeReply(reply: EmulatedReply, model: string): Buffer[] {
  const deltas: object[] = [{ role: 'assistant', content: '' }];
  for (const content of (reply.text ?? '').match(/(?<!\s)\s*\S+/g) ?? []) deltas.push({ content });
  deltas.push(...toolCallDeltas(reply.toolCalls ?? [], reply.toolCallStyle ?? 'fragments'));
  const { finishReason, usagePlacement = 'own-chunk' } = reply;
  const reason =
    finishReason === undefined ? ((reply.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop') : finishReason;
  const usage = toUsage(reply);
  const toChunk = (fields: object) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    ...fields,
  });
  const chunks = deltas.map((delta) => toChunk({ choices: [{ index: 0, delta, finish_reason: null }] }));
  if (reason !== null) {
    const last = { choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    const extra =
      usagePlacement === 'last-chunk' ? { usage } : usagePlacement === 'x_groq' ? { x_groq: { usage } } : {};
    chunks.push(toChunk({ ...last, ...extra }));
  }
  if (usagePlacement === 'own-chunk') chunks.push(toChunk({ choices: [], usage }));
  const lines = chunks.map((chunk) => JSON.stringify(chunk));
  if (reply.withoutDone !== true) lines.push('[DONE]');
  const end = reply.lineEnd ?? '\n';
  return lines.map((line) => Buffer.from(`${reply.noise ?? ''}data: ${line}${end}${end}`));
}

function toUsage({ usage, text = '' }: EmulatedReply): object {
  const {
    input,
    cached = 0,
    written = 0,
    output,
  } = usage ?? { input: 20, output: Math.ceil(text.length / 4) };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
    },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function toolCallDeltas(
  calls: readonly EmulatedToolCall[],
  style: NonNullable<ReplyStyle['toolCallStyle']>,
): object[] {
  return calls.flatMap(({ id = '', name, arguments: text }, position): object[] => {
    const head = {
      ...(style === 'no-index' ? {} : { index: style === 'same-index' ? 0 : position }),
      ...(style === 'no-id' ? {} : { id: id === '' ? `call_${position}` : id }),
      type: 'function',
    };
    if (typeof text !== 'string' || style === 'whole' || style === 'same-index' || style === 'no-index')
      return [{ tool_calls: [{ ...head, function: { name, arguments: text } }] }];
    const pieces = text.match(new RegExp(`[\\s\\S]{1,${FRAGMENT}}`, 'g')) ?? [];
    return [
      { tool_calls: [{ ...head, function: { name, arguments: '' } }] },
      ...pieces.map((piece) => ({ tool_calls: [{ index: position, function: { arguments: piece } }] })),
    ];
  });
}
