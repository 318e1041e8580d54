// Placing an outbound call: the request, and what is done when its answer is late, lost or never comes.
import { CarrierError, ConfigError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import type { CallOutcome } from '../../contract/call-record.js';
import type { OutboundRequest } from '../call-desk.js';
import { carrierLimitSeconds } from '../ending/carrier-limit.js';
import { type SessionContext, leavesOpen, onceKept, toFailure, webhookBaseUrl } from '../session-context.js';

/** A call whose request has no answer is proven by a report within this time, or counts as not placed. */
const PROOF_MS = 10_000;
/** A carrier reports within this time after the ringing that nobody has answered. */
const RING_GRACE_MS = 30_000;

export interface OutboundEvents {
  /** The answer to the request names the call. */
  placed(carrierCallId: string): void;
  /** Nothing shows that the carrier has taken what another process asked for. */
  unplaced(): void;
  /** The carrier has not said for too long that somebody has answered; this is what it says when it is asked. */
  unanswered(outcome: CallOutcome): void;
}

export class OutboundCall {
  readonly request: OutboundRequest;
  /** Resolves, never rejects, when the request is done with: a call at the carrier has its id by then. */
  readonly settled: Promise<void>;
  readonly #context: SessionContext;
  readonly #events: OutboundEvents;
  #settle = () => {};
  #prove = () => {};

  constructor(context: SessionContext, request: OutboundRequest, events: OutboundEvents) {
    this.request = request;
    this.#context = context;
    this.#events = events;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Resolves when the carrier has taken the call, or when it is over meanwhile. @throws ConfigError, CarrierError; it is over then. */
  async place(): Promise<void> {
    const { environment, callId } = this.#context;
    try {
      const { carrierCallId } = await this.#dial();
      this.#events.placed(carrierCallId);
    } catch (error) {
      environment.logger.warn({ callId, ...describeError(error) }, 'the carrier refused to place the call');
      const isUnknown = leavesOpen(error);
      if (isUnknown && !this.#isKnown) await this.#proof();
      if (!this.#isKnown) this.#fail(error, isUnknown);
    } finally {
      this.#settle();
    }
    this.#watchRinging();
  }

  /** Another process has placed it, `agoMs` ago. */
  restore({ agoMs }: { agoMs: number }): void {
    if (this.#isKnown) this.#settle();
    else
      void this.#proof().then(() => {
        this.#settle();
        if (!this.#isKnown) this.#events.unplaced();
      });
    this.#watchRinging(agoMs);
  }

  /** A report has named the call. */
  proven(): void {
    this.#settle();
    this.#prove();
  }

  get #isKnown(): boolean {
    return this.#context.identity.carrierCallId !== null;
  }

  #dial(): Promise<{ carrierCallId: string }> {
    const { environment, callId } = this.#context;
    const { carrier, recording } = environment;
    const { to, from, ringTimeoutSeconds, machineDetection } = this.request;
    return onceKept(this.#context, async () =>
      carrier.rest.dial({
        callId,
        from,
        to,
        webhookBaseUrl: webhookBaseUrl(this.#context),
        ringTimeoutSeconds,
        maxCallSeconds: carrierLimitSeconds(environment),
        machineDetection,
        recording: recording && carrier.supports.recording,
      }),
    );
  }

  #proof(): Promise<void> {
    return new Promise((resolve) => {
      const wait = this.#context.environment.clock.after(PROOF_MS, resolve);
      this.#prove = () => {
        wait.cancel();
        resolve();
      };
    });
  }

  /** @throws the error, unless somebody else has ended the call meanwhile. */
  #fail(error: unknown, isUnknown: boolean): void {
    if (isUnknown) {
      this.#context.ledger.note('CARRIER_FAILED', 'It is not known whether the carrier has placed the call.');
    }
    if (this.#context.isOver) return;
    const sentence = 'The carrier did not place the call.';
    const failure = toFailure(error, { code: 'CARRIER_FAILED', message: sentence });
    this.#context.end({ reason: 'failed', outcome: 'failed', failure });
    if (error instanceof CarrierError || error instanceof ConfigError) throw error;
    throw new CarrierError(sentence, { status: null, retryable: false, cause: error });
  }

  #watchRinging(agoMs = 0): void {
    const delayMs = this.request.ringTimeoutSeconds * 1000 + RING_GRACE_MS - agoMs;
    if (!this.#context.isOver) this.#context.timers.set('ring', delayMs, () => void this.#lookUp());
  }

  async #lookUp(): Promise<void> {
    const { callId, environment, identity } = this.#context;
    const { carrierCallId } = identity;
    let outcome: CallOutcome = 'no-answer';
    try {
      if (carrierCallId !== null)
        outcome = (await environment.carrier.rest.lookUp(carrierCallId)).outcome ?? outcome;
    } catch (error) {
      environment.logger.warn({ callId, ...describeError(error) }, 'the carrier did not report on the call');
    }
    this.#events.unanswered(outcome);
  }
}
