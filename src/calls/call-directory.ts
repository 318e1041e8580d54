// The live calls of this process: takes streams in, finds calls by either id, passes commands on, remembers what is over.
import { randomUUID } from 'node:crypto';
import { NotFoundError, RequestError } from '../base/errors.js';
import { maskPhone } from '../base/redact.js';
import type { CallOutcome, CallStatus } from '../contract/call-record.js';
import type { CallDesk, RefusedCall, StreamAdmission, StreamReceiver, StreamSocket } from './call-desk.js';
import { type CallEnvironment, CallSession } from './call-session.js';
import { EndedCalls } from './ended-calls.js';
import { FactStamp } from './fact-stamp.js';

/** Implements what the doors and the dashboard may ask of the calls. */
export class CallDirectory implements CallDesk {
  readonly #environment: CallEnvironment;
  readonly #sessions = new Map<string, CallSession>();
  readonly #byCarrierId = new Map<string, CallSession>();
  readonly #ended: EndedCalls;
  /** Requests to the carrier about calls that are over. */
  readonly #farewells = new Set<Promise<void>>();
  #shuttingDown = false;

  constructor(environment: CallEnvironment) {
    this.#environment = environment;
    this.#ended = new EndedCalls(environment.clock);
  }

  get liveCount(): number {
    return this.#sessions.size;
  }

  isLive(callId: string): boolean {
    return this.#find(callId) !== undefined;
  }

  hasEnded(callId: string): boolean {
    return this.#ended.has(callId);
  }

  admit(admission: StreamAdmission, socket: StreamSocket): StreamReceiver {
    const { carrierCallId } = admission;
    if (this.#shuttingDown) throw new RequestError('REQUEST_CONFLICT', 'The server is shutting down.');
    if (this.isLive(admission.callId) || (carrierCallId !== null && this.isLive(carrierCallId))) {
      throw new RequestError('REQUEST_CONFLICT', 'The call has a stream already.');
    }
    const session: CallSession = new CallSession(this.#renamed(admission), socket, {
      ...this.#environment,
      owner: {
        claim: (id) => this.#claim(id, session),
        ended: (farewell) => this.#remove(session, farewell),
      },
    });
    this.#sessions.set(session.callId, session);
    if (carrierCallId !== null) this.#byCarrierId.set(carrierCallId, session);
    return session;
  }

  refuse(call: RefusedCall): void {
    if (this.hasEnded(call.carrierCallId) || this.isLive(call.carrierCallId)) return;
    const { callId, ...parties } = call;
    const { carrier, logger } = this.#environment;
    const stamp = new FactStamp(callId, this.#environment);
    stamp.publish({ type: 'call.status', status: 'initiated', carrier: carrier.id, ...parties });
    stamp.publish({
      type: 'call.ended',
      endReason: 'over-capacity',
      outcome: 'busy',
      error: null,
      media: { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 },
    });
    this.#ended.add(callId, call.carrierCallId);
    logger.warn({ callId, caller: maskPhone(call.caller) }, 'call refused: too many calls');
  }

  report(carrierCallId: string, status: CallStatus, outcome: CallOutcome | null): void {
    if (status === 'completed') this.#byCarrierId.get(carrierCallId)?.carrierHungUp(outcome);
  }

  async hangUp(callId: string): Promise<void> {
    await this.#demand(callId).hangUp();
  }

  async transfer(callId: string, to: string): Promise<void> {
    await this.#demand(callId).transfer(to);
  }

  async shutDown(timeoutMs: number): Promise<void> {
    this.#shuttingDown = true;
    for (const session of [...this.#sessions.values()]) session.shutDown();
    let stopWaiting = () => {};
    const timeout = new Promise<void>((resolve) => {
      const timer = this.#environment.clock.after(timeoutMs, resolve);
      stopWaiting = () => timer.cancel();
    });
    await Promise.race([Promise.all(this.#farewells), timeout]);
    stopWaiting();
  }

  #find(callId: string): CallSession | undefined {
    return this.#sessions.get(callId) ?? this.#byCarrierId.get(callId);
  }

  #demand(callId: string): CallSession {
    const session = this.#find(callId);
    if (session !== undefined) return session;
    if (this.hasEnded(callId)) throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    throw new NotFoundError('There is no such call.');
  }

  /**
   * A stream for a call that is over is refused, or the facts of two calls would mix under one id. Without stream tokens the id
   * is whatever the peer wrote into the path, so there it only gets another one.
   */
  #renamed(admission: StreamAdmission): StreamAdmission {
    if (!this.hasEnded(admission.callId)) return admission;
    if (this.#environment.carrier.streamTokenKey === undefined) return { ...admission, callId: randomUUID() };
    throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
  }

  #claim(carrierCallId: string, session: CallSession): boolean {
    const holder = this.#byCarrierId.get(carrierCallId);
    if (holder !== undefined) return holder === session;
    this.#byCarrierId.set(carrierCallId, session);
    return true;
  }

  #remove(session: CallSession, farewell: Promise<void>): void {
    const { callId, carrierCallId } = session;
    this.#sessions.delete(callId);
    if (carrierCallId !== null && this.#byCarrierId.get(carrierCallId) === session) {
      this.#byCarrierId.delete(carrierCallId);
    }
    this.#ended.add(callId, carrierCallId);
    this.#farewells.add(farewell);
    void farewell.finally(() => this.#farewells.delete(farewell));
  }
}
