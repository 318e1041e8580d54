// A conversation as the AI SDK's models take it. The same conversation gives the same prompt, for the vendor's prompt cache.
import type { ChatMessage, ToolDefinition } from '../../language-model.js';
import { toArgumentsObject } from '../../wire/tool-arguments.js';

export function toAiSdkPrompt(messages: readonly ChatMessage[]): object[] {
  const prompt: { role: string; content: unknown }[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        prompt.push({ role: 'system', content: message.content });
        break;
      case 'user':
        prompt.push({ role: 'user', content: toText(message.content) });
        break;
      case 'assistant':
        for (const { id, name } of message.toolCalls ?? []) names.set(id, name);
        prompt.push({ role: 'assistant', content: toAssistant(message) });
        break;
      case 'tool': {
        const result = toResult(message, names.get(message.toolCallId));
        const last = prompt.at(-1);
        // Results of one round stand in one message.
        if (last?.role === 'tool') (last.content as object[]).push(result);
        else prompt.push({ role: 'tool', content: [result] });
      }
    }
  }
  return prompt;
}

export function toAiSdkTool({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', name, description, inputSchema: parameters };
}

function toText(text: string): object[] {
  return [{ type: 'text', text }];
}

type RoleMessage<Role> = Extract<ChatMessage, { role: Role }>;

function toResult({ toolCallId, content }: RoleMessage<'tool'>, toolName = 'unknown'): object {
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: content } };
}

function toAssistant({ content, toolCalls = [] }: RoleMessage<'assistant'>): object[] {
  const calls = toolCalls.map((call) => ({
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input: toArgumentsObject(call),
  }));
  return content === '' ? calls : [...toText(content), ...calls];
}
