// An inbound call that no agent talks to first: the carrier says a text and hangs up, or connects the caller with another number.
import type { CallAnswer } from '../../carriers/carrier.js';
import type { SessionContext } from '../session-context.js';
import type { CallStanding } from '../call-standing.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import type { CarrierAnnouncement } from '../ending/carrier-announcement.js';
import type { CallMedia } from '../streams/call-media.js';
import type { CallTransfer } from '../transfer/transfer.js';
import type { AgentlessAnswer } from './call-choice.js';

/** How a call ends that was answered with a text. */
const SAID: CallEnding = { reason: 'agent-hangup', close: NORMAL_CLOSE, carrier: 'hang-up' };

export interface AgentlessCallParts {
  readonly announcement: CarrierAnnouncement;
  readonly transfer: CallTransfer;
  readonly standing: CallStanding;
  readonly media: CallMedia;
}

export class AgentlessCall {
  readonly #answer: AgentlessAnswer;
  readonly #context: SessionContext;
  readonly #parts: AgentlessCallParts;
  #isConnected = false;

  constructor(answer: AgentlessAnswer, context: SessionContext, parts: AgentlessCallParts) {
    this.#answer = answer;
    this.#context = context;
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
    const { announcement, transfer, standing } = this.#parts;
    this.#isConnected = true;
    standing.rings();
    standing.isNowAnswered();
    if (this.#answer.type === 'transfer')
      return { type: 'transfer', ...transfer.instructed(this.#answer.to) };
    const { text, language } = this.#answer.announcement;
    announcement.instructed(this.#answer.announcement, SAID);
    return { type: 'say', text, language };
  }

  /** Orders it of a carrier that is steered by commands, once. */
  order(): void {
    if (this.#isConnected) return;
    this.#isConnected = true;
    if (this.#answer.type === 'say') this.#parts.announcement.say(this.#answer.announcement, SAID);
    else void this.#transfer(this.#answer.to);
  }

  /** The server's agent takes a call that cannot be handed over. */
  async #transfer(to: string): Promise<void> {
    const { transfer, standing, media } = this.#parts;
    try {
      await transfer.order(to, () => {});
    } catch {
      // Logged where the carrier was asked.
      if (!this.#context.isOver && standing.over === undefined) media.open();
    }
  }
}
