// What the language model is told of the call so far: what was said, what was heard, and what tools gave.
import { GO_ON, STILL_OWED } from '../base/owed-words.js';
import type { ChatMessage } from '../contract/chat-message.js';
import { type Id, nameOf, resultOf, type Tools } from './tools.js';

/** What was said in one go, as spoken or as far as it was heard, and the tools that were called behind it. */
export interface Round {
  readonly text: string;
  readonly tools: readonly Id[];
}

/**
 * Something that happened: the caller said it, the caller heard it, or the agent called tools behind what was heard. `news`: tools whose
 * results were not waited for have given them. `note`: what the application told the model, and nobody heard. `put-off`: words that somebody
 * outside asked for were said before the answer that is still wanted.
 */
export type Step =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string }
  | { readonly role: 'note'; readonly text: string }
  | { readonly role: 'news'; readonly tools: readonly Id[] }
  | { readonly role: 'put-off' }
  | ({ readonly role: 'tools' } & Round);

/** Without the steps that leave nothing: those without a text and without tools. */
export function withoutEmpty(steps: readonly Step[]): Step[] {
  return steps.filter((step) => !('text' in step) || step.role === 'tools' || step.text !== '');
}

/** True for what is said to a model for the answer that is on, and to nobody else. */
export function isPrompt({ role }: { readonly role: string }): boolean {
  return role === 'news' || role === 'put-off';
}

/** The tools that steps name, in the order in which they were called. */
export function toolsIn(steps: readonly (Step | { readonly role: 'said' })[]): Id[] {
  const ids: Id[] = [];
  for (const step of steps) if (step.role === 'tools') ids.push(...step.tools);
  return ids;
}

/**
 * What a model is asked with. What one side says twice in a row is one message. Where the agent has said the last word, whoever spoke
 * for it before was in the middle of it: the rest is wanted.
 */
export function toRequest(systemPrompt: string, steps: readonly Step[], tools: Tools): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (systemPrompt !== '') messages.push({ role: 'system', content: systemPrompt });
  for (const step of steps) append(messages, step, tools);
  const last = messages.findLast((message) => message.role !== 'system' || message.isNote !== true);
  if (last?.role === 'assistant' && last.toolCalls === undefined)
    messages.push({ role: 'system', content: GO_ON });
  return messages;
}

/** The same without any instructions, and without results of tools that still run. */
export function toHistory(steps: readonly Step[], tools: Tools): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const step of steps) if (!isPrompt(step)) append(messages, step, tools);
  const running = toolsIn(steps).flatMap((id) =>
    tools[id]?.status === 'running' ? [tools[id].call.id] : [],
  );
  return messages.filter((message) => message.role !== 'tool' || !running.includes(message.toolCallId));
}

function append(messages: ChatMessage[], step: Step, tools: Tools): void {
  if (step.role === 'tools') appendTools(messages, step, tools);
  else if (step.role === 'news') messages.push({ role: 'system', content: newsOf(step.tools, tools) });
  else if (step.role === 'put-off') messages.push({ role: 'system', content: STILL_OWED });
  else if (step.role === 'note') messages.push({ role: 'system', content: step.text, isNote: true });
  else appendText(messages, step.role, step.text);
}

/** Without the results: those stand with their calls, and none of them speaks for the system. */
function newsOf(ids: readonly Id[], tools: Tools): string {
  const names = ids.flatMap((id) => tools[id] ?? []).map(nameOf);
  return `Tools have finished that were still running: ${names.join(', ')}. Tell the caller what matters of their results.`;
}

function appendText(messages: ChatMessage[], role: 'user' | 'assistant', content: string): void {
  if (content === '') return;
  const last = messages.at(-1);
  const isSame = last?.role === role && !(last.role === 'assistant' && last.toolCalls !== undefined);
  if (isSame) last.content = `${last.content} ${content}`;
  else messages.push({ role, content });
}

function appendTools(messages: ChatMessage[], { text, tools: ids }: Round, tools: Tools): void {
  const called = ids.flatMap((id) => tools[id] ?? []);
  messages.push({ role: 'assistant', content: text, toolCalls: called.map(({ call }) => call) });
  for (const tool of called)
    messages.push({ role: 'tool', toolCallId: tool.call.id, content: resultOf(tool) });
}
