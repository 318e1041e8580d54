// What the language model is told of the call so far: what was said, and what was heard.
import type { ChatMessage } from '../providers/language-model.js';

/** The history of one call. Append-only, so that the start of every request is the same. */
export class Conversation {
  readonly #messages: ChatMessage[] = [];

  constructor(systemPrompt: string | undefined) {
    if (systemPrompt !== undefined && systemPrompt !== '')
      this.#messages.push({ role: 'system', content: systemPrompt });
  }

  /** A turn is over. Empty texts leave no message; what one side says twice in a row is one message. */
  add(userText: string, heardText: string): void {
    append(this.#messages, 'user', userText);
    append(this.#messages, 'assistant', heardText);
  }

  /** Everything so far, and `userText` as the message to answer. */
  asking(userText: string): ChatMessage[] {
    const messages = this.#messages.map((message) => ({ ...message }));
    append(messages, 'user', userText);
    return messages;
  }
}

function append(messages: ChatMessage[], role: 'user' | 'assistant', content: string): void {
  if (content === '') return;
  const last = messages.at(-1);
  if (last?.role === role) last.content = `${last.content} ${content}`;
  else messages.push({ role, content });
}
