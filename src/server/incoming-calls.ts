// Incoming calls: who calls, whether there is room, and what the desk says. Knows no carrier's words.
import { createHash } from 'node:crypto';
import { describeError, type Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { CallDesk, WaitingCall } from '../calls/call-desk.js';
import type { CallAnswer, CarrierMessage } from '../carriers/carrier.js';
import type { Capacity } from './capacity.js';

export type IncomingCall = Extract<CarrierMessage, { type: 'incoming-call' }>;

/** What they are answered with. */
export interface IncomingCallsOptions {
  readonly carrierId: string;
  readonly desk: CallDesk;
  readonly capacity: Capacity;
  /** As in `PhoneServerOptions`. */
  findRoom?: FindRoom | undefined;
  readonly logger: Logger;
}

/** Another process that has taken a place for a call. */
export interface FoundRoom {
  /** Public host that leads to it alone; undefined where there is none: the stream comes to any. */
  readonly streamHost: string | undefined;
}

/** Asks other processes for a place for a call that has none here. Resolves to undefined where all are full. Never rejects. */
export type FindRoom = (callId: string) => Promise<FoundRoom | undefined>;

/** How a call that waits for an answer can be answered: by the desk, if there is room, or with a refusal. */
type Kind = 'own' | 'known' | 'new' | 'stranger';

/** Answers calls that ring, and outbound ones that were answered. */
export class IncomingCalls {
  readonly #options: IncomingCallsOptions;

  constructor(options: IncomingCallsOptions) {
    this.#options = options;
  }

  /** `since`: as in `SharedPlaces`. `failed`: the desk could not answer, and the same message may be tried again. `callId` is what `toCallId` gave. No answer: the carrier is told later. Never rejects. */
  async answer(
    message: IncomingCall,
    callId: string,
    { host, since }: { readonly host: string; readonly since?: number | undefined },
  ): Promise<{ answer: CallAnswer | undefined; failed?: boolean }> {
    const { logger } = this.#options;
    const { carrierCallId, caller, callee, direction, details } = message;
    const call = { callId, carrierCallId, caller, callee, direction, host, details };
    const parties = { caller: maskPhone(call.caller), callee: maskPhone(call.callee) };
    try {
      const answer = await this.#decide(call, { kind: this.#kindOf(message, call), since });
      const type = answer?.type ?? 'undecided';
      logger.info({ callId: call.callId, answer: type, ...parties }, 'call answered');
      return { answer };
    } catch (error) {
      logger.error({ callId: call.callId, ...describeError(error) }, 'failed to handle a call');
      return { answer: { type: call.direction === 'inbound' ? 'reject' : 'hang-up' }, failed: true };
    }
  }

  #decide(
    call: WaitingCall,
    { kind, since }: { readonly kind: Kind; readonly since: number | undefined },
  ): ReturnType<CallDesk['ring']> | Promise<CallAnswer | undefined> {
    const { desk, capacity } = this.#options;
    if (kind === 'stranger') return { type: 'hang-up' };
    if (kind !== 'new') return desk.ring(call);
    const decide = (isTaken: boolean) => (isTaken ? desk.ring(call) : this.#ringElsewhere(call));
    const isTaken = capacity.takesCall(call.callId, { since });
    return typeof isTaken === 'boolean' ? decide(isTaken) : isTaken.then(decide);
  }

  /** This process is known to the carrier by now: it answers, for another one that takes the stream. */
  #ringElsewhere(call: WaitingCall): CallAnswer | Promise<CallAnswer | undefined> {
    const { desk, findRoom } = this.#options;
    if (findRoom === undefined) return this.#refuse(call);
    return findRoom(call.callId).then((room) =>
      room === undefined ? this.#refuse(call) : desk.ring({ ...call, streamHost: room.streamHost }),
    );
  }

  #refuse(call: WaitingCall): CallAnswer {
    this.#options.desk.refuse(call);
    return { type: 'busy' };
  }

  /**
   * An outbound call says in its callback which one it is. One that nobody here placed, or that is over, has nobody to talk to.
   * Whether a call of ours really is this leg, the desk knows. An inbound call's claim to an id is not listened to.
   */
  #kindOf(message: IncomingCall, { callId, carrierCallId }: WaitingCall): Kind {
    const { desk } = this.#options;
    if (isClaimed(message)) return desk.isLive(callId) ? 'own' : 'stranger';
    // Calls that are up take no further place, however often their webhook comes.
    return desk.isLive(callId) || desk.isLive(carrierCallId) ? 'known' : 'new';
  }

  /** As `callIdOf`. */
  toCallId(message: IncomingCall): string {
    return isClaimed(message) ? message.callId : callIdOf(this.#options.carrierId, message.carrierCallId);
  }
}

/**
 * Our id of an inbound call follows from the carrier's, so a repeated webhook names the same call on every process. It begins with a letter: a
 * spreadsheet takes other signs for the start of a formula.
 */
export function callIdOf(carrierId: string, carrierCallId: string): string {
  const hash = createHash('sha256').update(`${carrierId}:${carrierCallId}`).digest();
  return `c${hash.subarray(0, 16).toString('base64url')}`;
}

/** True for an outbound call that carries an id of ours. */
function isClaimed(message: IncomingCall): message is IncomingCall & { callId: string } {
  return message.direction === 'outbound' && typeof message.callId === 'string';
}
