// What the language model is told of the call so far: what was said, what was heard, and what tools gave.
import { type ChatMessage, GO_ON } from '../providers/language-model.js';
import type { Round } from './tools/rounds.js';
import type { ToolRun } from './tools/tool-run.js';

/** Something that happened: the caller said it, the caller heard it, or the agent called tools behind what was heard. */
export type Step =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | ({ readonly role: 'tools' } & Round);

/** The history of one call. Append-only, so that the start of every request is the same. */
export class Conversation {
  readonly #systemPrompt: string;
  readonly #steps: Step[];

  /** `before`: what has happened in the call already. */
  constructor(systemPrompt: string | undefined, before: readonly Step[] = []) {
    this.#systemPrompt = systemPrompt ?? '';
    this.#steps = [...before];
  }

  /** A turn is over. Steps without a text or tools leave nothing. */
  add(steps: readonly Step[]): void {
    this.#steps.push(...steps.filter((step) => step.role === 'tools' || step.text !== ''));
  }

  /**
   * Everything so far and `steps`, which are not over. What one side says twice in a row is one message. Where the agent has said the last
   * word, an engine before this one was in the middle of it: the rest is wanted.
   */
  asking(steps: readonly Step[]): ChatMessage[] {
    const messages: ChatMessage[] = [];
    if (this.#systemPrompt !== '') messages.push({ role: 'system', content: this.#systemPrompt });
    this.#append(messages, steps);
    const last = messages.at(-1);
    if (last?.role === 'assistant' && last.toolCalls === undefined)
      messages.push({ role: 'system', content: GO_ON });
    return messages;
  }

  /** The same without the instructions, and without results of tools that still run. */
  history(steps: readonly Step[] = []): ChatMessage[] {
    const running = new Set(this.unsettled(steps).map(({ call }) => call.id));
    return this.#append([], steps).filter(
      (message) => message.role !== 'tool' || !running.has(message.toolCallId),
    );
  }

  /** Tools whose results `asking` would lack: it must wait for them. */
  unsettled(steps: readonly Step[]): ToolRun[] {
    return [...this.#steps, ...steps]
      .flatMap((step) => (step.role === 'tools' ? step.runs : []))
      .filter((run) => !run.isSettled);
  }

  #append(messages: ChatMessage[], steps: readonly Step[]): ChatMessage[] {
    for (const step of [...this.#steps, ...steps]) {
      if (step.role === 'tools') appendTools(messages, step);
      else append(messages, step.role, step.text);
    }
    return messages;
  }
}

function append(messages: ChatMessage[], role: 'user' | 'assistant', content: string): void {
  if (content === '') return;
  const last = messages.at(-1);
  const isSame = last?.role === role && !(last.role === 'assistant' && last.toolCalls !== undefined);
  if (isSame) last.content = `${last.content} ${content}`;
  else messages.push({ role, content });
}

function appendTools(messages: ChatMessage[], { text, runs }: Round): void {
  messages.push({ role: 'assistant', content: text, toolCalls: runs.map(({ call }) => call) });
  for (const { call, resultText } of runs)
    messages.push({ role: 'tool', toolCallId: call.id, content: resultText });
}
