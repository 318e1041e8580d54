// What a conversation is begun with, and what is said to it beside audio, in the words of the service.
import type { ChatMessage } from '../../language-model.js';
import { type Json, parseObject } from '../../wire/json.js';

/** What the recipe has settled. */
export interface AgentSettings {
  /** Which of the agent's settings are replaced. The agent's own security settings must allow each of them. */
  readonly overrides: {
    readonly prompt: boolean;
    readonly firstMessage: boolean;
    readonly language: boolean;
    /** Voice id. */
    readonly voice: string | undefined;
  };
  readonly dynamicVariables: Readonly<Record<string, string | number | boolean>>;
}

export interface ConversationStart {
  readonly callId: string;
  readonly instructions: string;
  /** BCP 47 tag. */
  readonly language: string | undefined;
  /** What the agent says first. Undefined leaves that to the agent. */
  readonly greeting: string | undefined;
  /** The conversation so far. Empty for a new one. */
  readonly history: readonly ChatMessage[];
}

/** The first message of a conversation. */
export function toInitiation({ overrides, dynamicVariables }: AgentSettings, start: ConversationStart): Json {
  const { callId, history, language } = start;
  const isSent = overrides.prompt && start.instructions !== '';
  const prompt = isSent ? [start.instructions, toHistory(history)].filter(Boolean).join('\n\n') : undefined;
  // With an empty first message the agent waits, instead of greeting a caller again.
  const hasBegun = history.some(({ role }) => role !== 'system');
  const greeting = start.greeting ?? (hasBegun ? '' : undefined);
  const agent = {
    ...(prompt === undefined ? {} : { prompt: { prompt } }),
    ...(overrides.firstMessage && greeting !== undefined ? { first_message: greeting } : {}),
    ...(overrides.language && language !== undefined ? { language: toLanguage(language) } : {}),
  };
  const override = {
    ...(Object.keys(agent).length === 0 ? {} : { agent }),
    ...(overrides.voice === undefined ? {} : { tts: { voice_id: overrides.voice } }),
  };
  return {
    type: 'conversation_initiation_client_data',
    ...(Object.keys(override).length === 0 ? {} : { conversation_config_override: override }),
    ...(Object.keys(dynamicVariables).length === 0 ? {} : { dynamic_variables: dynamicVariables }),
    user_id: callId,
  };
}

/** The history, for an agent whose prompt may not hold it; undefined where it needs none. */
export function toHistoryUpdate(
  { overrides }: AgentSettings,
  { instructions, history }: Pick<ConversationStart, 'instructions' | 'history'>,
): Json | undefined {
  const isInPrompt = overrides.prompt && instructions !== '';
  const text = isInPrompt ? '' : toHistory(history);
  return text === '' ? undefined : toContext(text);
}

/** Something the agent shall know, and not answer. */
export function toContext(text: string): Json {
  return { type: 'contextual_update', text };
}

/** Something the agent takes for the caller's words, and answers. */
export function toUserMessage(text: string): Json {
  return { type: 'user_message', text };
}

/** The service has no means to have a text spoken but the first message: the agent's language model is asked to. */
export function toSaying(text: string): string {
  return `(Say exactly this, word for word, and nothing before or after it:) ${JSON.stringify(text)}`;
}

/** Asks for an answer that the agent gave nobody, or owes. */
export const GO_ON = '(The caller waits for your answer.)';

export function toResult(toolCallId: string, result: string): Json {
  const isError = typeof parseObject(result)?.error === 'string';
  return { type: 'client_tool_result', tool_call_id: toolCallId, result, is_error: isError };
}

function toHistory(history: readonly ChatMessage[]): string {
  const lines = history.flatMap(toLines);
  return lines.length === 0 ? '' : `The conversation so far, which goes on now:\n${lines.join('\n')}`;
}

function toLines(message: ChatMessage): string[] {
  const { role, content } = message;
  if (role === 'tool') return [`(A tool gave: ${content})`];
  const said = content === '' ? [] : [content];
  if (role !== 'assistant') return said.map((text) => (role === 'user' ? `Caller: ${text}` : `(${text})`));
  const calls = message.toolCalls ?? [];
  return [
    ...said.map((text) => `You: ${text}`),
    ...calls.map(({ name, argumentsText }) => `(You used ${name}: ${argumentsText})`),
  ];
}

/** The service knows languages without regions, but for one. */
function toLanguage(tag: string): string {
  const lower = tag.toLowerCase();
  return lower === 'pt-br' ? lower : (lower.split('-')[0] ?? lower);
}
