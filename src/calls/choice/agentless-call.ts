// An inbound call that no agent talks to first: the carrier says a text and hangs up, or connects the caller with another number.
import type { CallAnswer } from '../../carriers/carrier.js';
import type { CallLine } from '../call-line.js';
import type { CallStanding } from '../call-standing.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import type { LastWords } from '../ending/last-words.js';
import type { CallMedia } from '../streams/call-media.js';
import type { CallTransfer } from '../transfer/transfer.js';
import type { AgentlessAnswer } from './call-choice.js';

/** How a call ends that was answered with a text. */
const SAID: CallEnding = { reason: 'agent-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' };

export interface AgentlessCallParts {
  readonly words: LastWords;
  readonly transfer: CallTransfer;
  readonly standing: CallStanding;
  readonly media: CallMedia;
}

export class AgentlessCall {
  readonly #answer: AgentlessAnswer;
  readonly #line: CallLine;
  readonly #parts: AgentlessCallParts;
  #isConnected = false;

  constructor(answer: AgentlessAnswer, line: CallLine, parts: AgentlessCallParts) {
    this.#answer = answer;
    this.#line = line;
    this.#parts = parts;
  }

  /** True once the carrier was asked for what the application has decided. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Another process has asked the carrier for it. */
  restore(): void {
    this.#isConnected = true;
  }

  /** The carrier answers the call, and does what is asked of it in the reply to its webhook. */
  instruct(): CallAnswer {
    const { words, transfer, standing } = this.#parts;
    this.#isConnected = true;
    standing.rings();
    standing.isNowAnswered();
    if (this.#answer.type === 'transfer')
      return { type: 'transfer', ...transfer.instructed(this.#answer.to) };
    const { announcement } = this.#answer;
    words.instructed(announcement, SAID);
    return { type: 'say', text: announcement.text, language: announcement.language };
  }

  /** Orders it of a carrier that is steered by commands, once. */
  order(): void {
    if (this.#isConnected) return;
    this.#isConnected = true;
    if (this.#answer.type === 'say') this.#parts.words.say(this.#answer.announcement, SAID);
    else void this.#transfer(this.#answer.to);
  }

  /** The server's agent takes a call that cannot be handed over. */
  async #transfer(to: string): Promise<void> {
    const { transfer, standing, media } = this.#parts;
    try {
      await transfer.order(to, () => {});
    } catch {
      // Logged where the carrier was asked.
      if (!this.#line.isOver && standing.over === undefined) media.open();
    }
  }
}
