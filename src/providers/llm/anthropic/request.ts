// A request of the Messages API. The same conversation gives the same bytes, so that the vendor's prompt cache fits.
import type { ChatMessage, ModelToolCall, ToolDefinition } from '../../language-model.js';
import { toArgumentsObject } from '../../wire/tool-arguments.js';

export interface MessagesBodyOptions {
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly effort: string | undefined;
  readonly cacheSystemPrompt: boolean;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
}

type Block = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** The vendor wants the user to have the first word and the last, also when the agent greets, or speaks into a silence. */
const CALL_ANSWERED = '(The call is answered.)';
const SILENCE = '(The caller is silent.)';

export function toMessagesBody(options: MessagesBodyOptions): Record<string, unknown> {
  const { temperature, effort, tools, messages } = options;
  const start = messages.findIndex(({ role }) => role !== 'system');
  const length = start === -1 ? messages.length : start;
  const system = toSystem(messages.slice(0, length), options.cacheSystemPrompt);
  return {
    model: options.model,
    stream: true,
    max_tokens: options.maxTokens,
    ...(effort === undefined ? {} : { output_config: { effort } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...options.extraBody,
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    ...(system.length === 0 ? {} : { system }),
    messages: toMessages(messages.slice(length)),
  };
}

function toTool({ name, description, parameters }: ToolDefinition): Block {
  return { name, description, input_schema: parameters };
}

/** The mark stands on the last block: what is cached is everything up to it, the tools included. */
function toSystem(messages: readonly ChatMessage[], cached: boolean): Block[] {
  const blocks: Block[] = messages.flatMap(({ content }) => textBlocks(content));
  const last = blocks.at(-1);
  if (last === undefined || !cached) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache_control: { type: 'ephemeral' } }];
}

/** What one side says in a row is one message: results of tools must stand together, before what the caller says next. */
function toMessages(messages: readonly ChatMessage[]): Message[] {
  const result: Message[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = toBlocks(message);
    if (content.length === 0) continue;
    if (result.length === 0 && role === 'assistant') result.push(userText(CALL_ANSWERED));
    const last = result.at(-1);
    if (last?.role === role) last.content.push(...content);
    else result.push({ role, content });
  }
  if (result.length === 0) return [userText(CALL_ANSWERED)];
  if (result.at(-1)?.role === 'assistant') result.push(userText(SILENCE));
  return result;
}

function userText(text: string): Message {
  return { role: 'user', content: textBlocks(text) };
}

function toBlocks(message: ChatMessage): Block[] {
  if (message.role === 'tool')
    return [
      { type: 'tool_result', tool_use_id: toId(message.toolCallId), content: textBlocks(message.content) },
    ];
  if (message.role !== 'assistant') return textBlocks(message.content);
  return [...textBlocks(message.content), ...(message.toolCalls ?? []).map(toToolUse)];
}

/** The vendor refuses a text of blanks alone. */
function textBlocks(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function toToolUse(call: ModelToolCall): Block {
  return { type: 'tool_use', id: toId(call.id), name: call.name, input: toArgumentsObject(call) };
}

/** Ids of another vendor, from before a fallback, may have characters that this one refuses. */
function toId(id: string): string {
  return id.replace(/[^\w-]/g, '_');
}
