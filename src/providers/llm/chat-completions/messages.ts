// A request in the Chat Completions dialect. The same conversation gives the same bytes, so that the vendor's prompt cache fits.
import type { ChatMessage, ToolDefinition } from '../../language-model.js';
import { toArgumentsText } from '../../wire/tool-arguments.js';
import type { ChatDialect } from './services.js';

export interface ChatBodyOptions {
  readonly model: string;
  readonly dialect: ChatDialect;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly reasoningEffort: string | undefined;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
}

export function toChatBody(options: ChatBodyOptions): Record<string, unknown> {
  const { dialect, temperature, reasoningEffort, tools } = options;
  return {
    model: options.model,
    stream: true,
    ...(dialect.streamOptions === undefined ? {} : { stream_options: dialect.streamOptions }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    ...(temperature === undefined ? {} : { temperature }),
    [dialect.maxTokensField]: options.maxTokens,
    ...options.extraBody,
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    messages: options.messages.map((message) => toMessage(message, dialect)),
  };
}

function toTool({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', function: { name, description, parameters } };
}

function toMessage(message: ChatMessage, dialect: ChatDialect): object {
  switch (message.role) {
    case 'system':
      return { role: dialect.systemRole, content: message.content };
    case 'user':
      return { role: 'user', content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const { content, toolCalls = [] } = message;
      if (toolCalls.length === 0) return { role: 'assistant', content };
      const calls = toolCalls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: toArgumentsText(call) },
      }));
      return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
    }
  }
}
