// Handing a caller over to another number: the order, its result, and what becomes of the call meanwhile.
import { isE164 } from '../base/e164.js';
import { CarrierError, ConfigError, RequestError } from '../base/errors.js';
import { describeError } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { TransferResult } from '../carriers/carrier.js';
import { NORMAL_CLOSE } from './call-ending.js';
import { type CallLine, webhookBaseUrl } from './call-line.js';
import type { StreamLoss } from './call-stream.js';

const RING_TIMEOUT_SECONDS = 30;
/** A carrier that has said nothing for this long after the ringing must have reached the number. */
const RESULT_GRACE_MS = 15_000;

/** What becomes of the caller, for the session to carry out. */
export interface TransferEvents {
  /** The agent is not listened to any more. */
  away(): void;
  /** The number was not reached, and the caller is still there. */
  back(): void;
  /** The order was refused. `loss`: how the stream went while it was given. */
  refused(loss: StreamLoss | undefined): void;
}

export class CallTransfer {
  readonly #line: CallLine;
  readonly #events: TransferEvents;
  #to: string | undefined;
  #isTaken = false;
  #loss: StreamLoss | undefined;
  #settled: Promise<boolean> | undefined;

  constructor(line: CallLine, events: TransferEvents) {
    this.#line = line;
    this.#events = events;
  }

  /** True from the order until its result. */
  get isPending(): boolean {
    return this.#to !== undefined;
  }

  /** Resolves, never rejects, when it is known whether the carrier has taken the order; undefined without one. */
  get settled(): Promise<boolean> | undefined {
    return this.isPending ? this.#settled : undefined;
  }

  /** Resolves when the carrier has taken the order. `demand` throws when none can be given now. @throws RequestError, ConfigError, CarrierError; the call then goes on. */
  async order(to: string, demand: () => void): Promise<void> {
    const { environment, identity, callId } = this.#line;
    const { carrierCallId } = identity;
    if (!isE164(to)) {
      throw new RequestError('REQUEST_INVALID', 'Transfer to a number like +15550100 (E.164).');
    }
    demand();
    if (carrierCallId === null) {
      throw new RequestError(
        'REQUEST_CONFLICT',
        'The call cannot be transferred now. The carrier has not named it yet.',
      );
    }
    const request = {
      callId,
      to,
      callerId: this.#ownNumber(),
      webhookBaseUrl: webhookBaseUrl(this.#line),
      ringTimeoutSeconds: RING_TIMEOUT_SECONDS,
    };
    this.#to = to;
    this.#loss = undefined;
    const ordered = (async () => environment.carrier.rest.transfer(carrierCallId, request))();
    this.#settled = ordered.then(
      () => true,
      () => false,
    );
    try {
      await ordered;
    } catch (error) {
      this.#refused();
      environment.logger.warn(
        { callId, to: maskPhone(to), ...describeError(error) },
        'the carrier refused a transfer',
      );
      if (error instanceof CarrierError || error instanceof ConfigError) throw error;
      throw new CarrierError('The carrier did not transfer the call.', {
        status: null,
        retryable: false,
        cause: error,
      });
    }
    this.#taken();
  }

  /** The stream went while the transfer is pending: no end of the call, unless the order is refused. */
  streamGone(loss: StreamLoss): void {
    this.#loss = loss;
  }

  /** True when the caller is still with us: the transfer failed. False for one that connected, or that nobody waits for. */
  heard(result: TransferResult): boolean {
    if (!this.isPending || this.#line.isOver) return false;
    // The result may be faster than the answer to the order.
    this.#taken();
    const to = this.#clear();
    if (to === undefined) return false;
    this.#line.ledger.publish({ type: 'transfer.updated', to, result });
    if (result === 'connected') this.#end();
    else this.#events.back();
    return result !== 'connected';
  }

  #taken(): void {
    const to = this.#to;
    if (to === undefined || this.#isTaken || this.#line.isOver) return;
    this.#isTaken = true;
    this.#line.ledger.publish({ type: 'transfer.updated', to, result: null });
    this.#events.away();
    const delayMs = RING_TIMEOUT_SECONDS * 1000 + RESULT_GRACE_MS;
    this.#line.timers.set('transfer', delayMs, () => this.heard('connected'));
  }

  #refused(): void {
    const loss = this.#loss;
    this.#clear();
    if (!this.#line.isOver) this.#events.refused(loss);
  }

  #clear(): string | undefined {
    const to = this.#to;
    this.#to = undefined;
    this.#isTaken = false;
    this.#loss = undefined;
    this.#line.timers.cancel('transfer');
    return to;
  }

  #end(): void {
    this.#line.end({ reason: 'transferred', close: NORMAL_CLOSE, carrier: 'stop-stream' });
  }

  #ownNumber(): string | undefined {
    const { identity, environment } = this.#line;
    const own = identity.direction === 'inbound' ? identity.callee : identity.caller;
    return [own, environment.ownNumber].find(isE164);
  }
}
