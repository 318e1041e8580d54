// A language model of tests that hands the caller over to another agent.
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../src/index.js';

/** Hands over when it has said what comes `before`, and says goodbye where it cannot. */
export class HandingModel implements LanguageModel {
  readonly name: string;
  readonly requests: LanguageModelRequest[] = [];
  readonly #text: string;
  readonly #to: string | undefined;
  readonly #before: readonly string[];

  constructor(
    name: string,
    { text = '', to, before = [] }: { text?: string; to?: string | undefined; before?: readonly string[] },
  ) {
    this.name = name;
    this.#text = text;
    this.#to = to;
    this.#before = before;
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    this.requests.push(request);
    const before = this.#before[this.requests.length - 1];
    if (before !== undefined) {
      yield { type: 'text', delta: before };
      return;
    }
    const last = request.messages.findLast(({ role }) => role === 'tool');
    const isRefused = last?.content.includes('Not done') === true;
    if (this.#to === undefined || isRefused) {
      yield { type: 'text', delta: `${this.name} helps you. Goodbye.` };
      yield { type: 'end-call' };
      return;
    }
    if (this.#text !== '') yield { type: 'text', delta: this.#text };
    const args = { to: this.#to, summary: `A bill,\nsays ${this.name}.` };
    yield {
      type: 'tool-call',
      id: `call_${this.requests.length}`,
      name: 'hand_off',
      arguments: args,
      argumentsText: JSON.stringify(args),
    };
  }
}
