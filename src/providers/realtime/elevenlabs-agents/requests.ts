// What the agent is to answer. It answers the caller and the results of its tools by itself, and may not be asked a second time for
// that; what it does not hear is put to it as if the caller had said it, one after the other. Knows no socket.
import { GO_ON } from './settings.js';

export interface RequestsOptions {
  /** Puts a text to the agent, which answers it. */
  readonly ask: (text: string) => void;
  /** The agent speaks, or what it said still comes. */
  readonly isSpeaking: () => boolean;
  /** An answer that has not begun is not wanted, or is after all. */
  readonly skipNext: (skips: boolean) => void;
  /** An answer was asked for, and there is nothing to say. */
  readonly nothing: () => void;
}

export class ElevenLabsAgentsRequests {
  readonly #options: RequestsOptions;
  /** Not spoken by the caller, and not told to the agent: that may only be done together with the wish for an answer. */
  #notes: string[] = [];
  #wishes: string[] = [];
  /** The agent was told something that it answers by itself. */
  #isComing = false;
  /** What the agent was told last has an answer that somebody wanted. */
  #isAnswered = true;
  #isOpen = false;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** The agent can be asked. One that has been told of the conversation anew owes an answer, if anybody wants one. */
  open({ isFirst }: { isFirst: boolean }): void {
    this.#isOpen = true;
    if (!isFirst) this.#isAnswered = false;
    this.pump();
  }

  /** The conversation is gone, and with it all that was asked there. What was wanted before the first one stays. */
  lost(): void {
    if (this.#isOpen) {
      this.#wishes = [];
      this.#notes = [];
    }
    this.#isOpen = false;
    this.#isComing = false;
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  /** Notes that nobody has asked an answer to. */
  takeNotes(): string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Wants an answer to what there is. */
  respond(): void {
    const notes = this.takeNotes();
    if (notes.length > 0) this.want(notes.join('\n'));
    else if (this.#isComing || this.#wishes.length > 0) return;
    else if (this.#isAnswered) this.#options.nothing();
    else this.want(GO_ON);
  }

  /** Wants `text` answered, soon. The same one that waits already is not wanted twice. */
  want(text: string): void {
    if (!this.#wishes.includes(text)) this.#wishes.push(text);
    this.pump();
  }

  /** Forgets what has not begun. `isSpeaking`: the answer that is under way is not wanted either. */
  forget({ isSpeaking }: { isSpeaking: boolean }): void {
    this.#wishes = [];
    if (!isSpeaking && !this.#isComing) return;
    if (!isSpeaking) this.#options.skipNext(true);
    this.#isAnswered = false;
  }

  /** The caller takes the floor: what waits is not asked for any more. */
  yields(): void {
    this.#wishes = [];
  }

  /** The agent has been told something that it answers by itself. */
  expect(): void {
    this.#options.skipNext(false);
    this.#isComing = true;
    this.#isAnswered = false;
  }

  /** The agent has been told something that it does not answer by itself. */
  owes(): void {
    this.#isAnswered = false;
  }

  get isComing(): boolean {
    return this.#isComing;
  }

  /** An answer has begun. */
  began(): void {
    this.#isComing = false;
    this.#isAnswered = true;
  }

  /** One that nobody wanted is over. */
  skipped(): void {
    this.#isComing = false;
  }

  /** Asks for the next answer, when the agent is free. */
  pump(): void {
    if (!this.#isOpen || this.#isComing || this.#options.isSpeaking()) return;
    const text = this.#wishes.shift();
    if (text === undefined) return;
    this.expect();
    this.#options.ask(text);
  }
}
