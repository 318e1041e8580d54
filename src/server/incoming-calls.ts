// The bell: who calls, whether there is room, and what the desk says. Knows no carrier's words.
import { createHash } from 'node:crypto';
import { describeError, type Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { CallDesk, WaitingCall } from '../calls/call-desk.js';
import type { CallAnswer, CarrierMessage } from '../carriers/carrier.js';
import type { Capacity } from './capacity.js';

export type IncomingCall = Extract<CarrierMessage, { type: 'incoming-call' }>;

/** What the bell works with. */
export interface BellOptions {
  readonly carrierId: string;
  readonly desk: CallDesk;
  readonly capacity: Capacity;
  readonly logger: Logger;
}

/** A call that waits for an answer, and how it can be answered: by the desk, if there is room, or with a farewell. */
type Ringing = { call: WaitingCall; kind: 'own' | 'known' | 'new' | 'stranger' };

/** Answers calls that ring, and outbound ones that were answered. */
export class Bell {
  readonly #options: BellOptions;

  constructor(options: BellOptions) {
    this.#options = options;
  }

  /** True when the call is over, so that only a farewell is left to be said. */
  isOver(message: IncomingCall): boolean {
    return this.#options.desk.hasEnded(this.#toCallId(message));
  }

  /** `failed`: the desk could not answer, and the same message may be tried again. Never throws. */
  answer(message: IncomingCall, host: string): { answer: CallAnswer; failed?: boolean } {
    const { desk, logger } = this.#options;
    const { call, kind } = this.#identify(message, host);
    const parties = { caller: maskPhone(call.caller), callee: maskPhone(call.callee) };
    try {
      const answer = this.#decide(call, kind);
      if (answer.type === 'busy') desk.refuse(call);
      logger.info({ callId: call.callId, answer: answer.type, ...parties }, 'call answered at the bell');
      return { answer };
    } catch (error) {
      logger.error({ callId: call.callId, ...describeError(error) }, 'call desk failed on a call');
      return { answer: { type: call.direction === 'inbound' ? 'reject' : 'hang-up' }, failed: true };
    }
  }

  #decide(call: WaitingCall, kind: Ringing['kind']): CallAnswer {
    const { desk, capacity } = this.#options;
    if (kind === 'stranger') return { type: 'hang-up' };
    if (kind === 'new' && capacity.isFull(call.callId)) return { type: 'busy' };
    const answer = desk.ring(call);
    if (answer.type === 'stream') capacity.promise(call.callId);
    return answer;
  }

  /**
   * An outbound call says in its callback which one it is. One that nobody here placed, or that is over, has nobody to talk to.
   * Whether a call of ours really is this leg, the desk knows. An inbound call's claim to an id is not listened to.
   */
  #identify(message: IncomingCall, host: string): Ringing {
    const { desk } = this.#options;
    const { carrierCallId, caller, callee, direction } = message;
    const callId = this.#toCallId(message);
    const call = { callId, carrierCallId, caller, callee, direction, host };
    if (isClaimed(message)) return { call, kind: desk.isLive(callId) ? 'own' : 'stranger' };
    // Calls that are up take no further place, however often their webhook comes.
    return { call, kind: desk.isLive(callId) || desk.isLive(carrierCallId) ? 'known' : 'new' };
  }

  /**
   * Our id of a call follows from the carrier's, so a repeated webhook names the same call on every process. It begins with a letter: a
   * spreadsheet takes other signs for the start of a formula.
   */
  #toCallId(message: IncomingCall): string {
    if (isClaimed(message)) return message.callId;
    const hash = createHash('sha256').update(`${this.#options.carrierId}:${message.carrierCallId}`).digest();
    return `c${hash.subarray(0, 16).toString('base64url')}`;
  }
}

/** True for an outbound call that carries an id of ours. */
function isClaimed(message: IncomingCall): message is IncomingCall & { callId: string } {
  return message.direction === 'outbound' && typeof message.callId === 'string';
}
