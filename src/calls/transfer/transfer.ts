// Handing a caller over to another number: the order, its result, and what becomes meanwhile, and afterwards, of the caller and of an agent
// that wanted to hang up.
import { isE164 } from '../../base/e164.js';
import { CarrierError, ConfigError, RequestError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import { maskPhone } from '../../base/redact.js';
import type { TransferRequest, TransferResult } from '../../carriers/carrier.js';
import { phrasesIn } from '../../engines/languages/spoken-words.js';
import { endWait } from '../../conversation/wait.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import type { CallStanding } from '../call-standing.js';
import type { CallMedia } from '../streams/call-media.js';
import { type SessionContext, leavesOpen, onceKept, webhookBaseUrl } from '../session-context.js';
import type { StreamLoss } from '../streams/call-stream.js';

const RING_TIMEOUT_SECONDS = 30;
/** A carrier that has said nothing for this long after the ringing must have reached the number. */
const RESULT_GRACE_MS = 15_000;
const RESULT_MS = RING_TIMEOUT_SECONDS * 1000 + RESULT_GRACE_MS;
/** An order that was perhaps taken has this long to show it. */
const PROOF_MS = 5000;

export interface TransferParts {
  readonly media: CallMedia;
  /** Agent and caller. `news`: what the agent says of it. */
  readonly conversation: {
    hold(reason: 'transfer'): void;
    release(reason: 'transfer', news: string | undefined): void;
  };
  readonly standing: CallStanding;
}

export interface TransferEvents {
  /** The agent ends the call after all. */
  agentEnds(ending: CallEnding): void;
  /** The stream went while the order was given, and nothing else explains it. */
  gone(loss: StreamLoss): void;
  /** The order was not taken, as far as we know: the caller is with the agent. */
  stayed(): void;
}

/** `dropped`: nothing has shown that the carrier took it; a result may still come. */
interface Order {
  readonly to: string;
  /** Another process gave it: how the stream went, nobody has seen. */
  readonly isLeft: boolean;
  readonly orderedAt: number;
  readonly isAccepted: Promise<boolean>;
  phase: 'asked' | 'doubtful' | 'taken' | 'dropped';
  loss: StreamLoss | undefined;
  /** Ends the doubt. */
  prove(): void;
  /** Tells the agent, where it is the agent who gave the order. */
  readonly tellAgent: ((result: TransferResult) => void) | undefined;
}

/** A caller who is being handed over, as another process can go on with it. Moments are epoch milliseconds. */
export interface TransferState {
  readonly to: string;
  /** The carrier has taken the order. */
  readonly isTaken: boolean;
  readonly orderedAt: number;
}

/**
 * An order whose answer was lost is in doubt: the agent is held as if it had been taken. A result shows that it was, and so does the
 * end of the stream where instructions take its place. Without either in some seconds the order has failed and the agent goes on; a
 * result that comes later, within the time of a transfer, still counts.
 */
export class CallTransfer {
  readonly #context: SessionContext;
  readonly #parts: TransferParts;
  readonly #events: TransferEvents;
  #order: Order | undefined;
  /** How the agent wanted to end the call meanwhile. */
  #deferred: CallEnding | undefined;

  constructor(context: SessionContext, parts: TransferParts, events: TransferEvents) {
    this.#context = context;
    this.#parts = parts;
    this.#events = events;
  }

  /** True from the order until its result, or until it has failed. */
  get isPending(): boolean {
    return this.#order !== undefined && this.#order.phase !== 'dropped';
  }

  /** Null where nobody is being handed over. */
  get state(): TransferState | null {
    const order = this.isPending ? this.#order : undefined;
    return order === undefined
      ? null
      : { to: order.to, isTaken: order.phase === 'taken', orderedAt: order.orderedAt };
  }

  /** Goes on with one that another process ordered. Where nobody knows whether it was taken, it is in doubt. */
  restore({ to, isTaken, orderedAt }: TransferState): void {
    const isAccepted = Promise.resolve(isTaken);
    const order: Order = {
      to,
      isLeft: true,
      orderedAt,
      isAccepted,
      phase: isTaken ? 'taken' : 'asked',
      loss: undefined,
      prove: () => {},
      tellAgent: undefined,
    };
    this.#order = order;
    if (isTaken) {
      this.#parts.conversation.hold('transfer');
      this.#awaitResult(order);
    } else void this.#isProven(order, undefined);
  }

  /** Resolves, never rejects, when it is known whether the carrier has taken the order; undefined without one. */
  get settled(): Promise<boolean> | undefined {
    if (!this.isPending) return undefined;
    return this.#order?.phase === 'taken' ? Promise.resolve(true) : this.#order?.isAccepted;
  }

  /** Resolves when the carrier has taken the order. `demand` throws when none can be given now. @throws RequestError, ConfigError, CarrierError; the call then goes on. */
  async order(to: string, demand: () => void): Promise<void> {
    await this.#give(to, demand, undefined);
  }

  /** The carrier is told in the reply to a webhook, which is an order that it takes. @throws ConfigError when no host is known. */
  instructed(to: string): TransferRequest {
    const request = this.#requestFor(to);
    const order = this.#begin(to, Promise.resolve(), undefined);
    this.#take(order);
    return request;
  }

  async #give(to: string, demand: () => void, tellAgent: Order['tellAgent']): Promise<void> {
    const { environment, identity, callId } = this.#context;
    const { carrierCallId } = identity;
    if (!isE164(to)) {
      throw new RequestError('REQUEST_INVALID', 'Transfer to a number like +15550100 (E.164).');
    }
    demand();
    if (carrierCallId === null) {
      throw new RequestError(
        'REQUEST_CONFLICT',
        'The call cannot be transferred yet: the carrier has not confirmed it.',
      );
    }
    const request = this.#requestFor(to);
    const answer = onceKept(this.#context, () => environment.carrier.rest.transfer(carrierCallId, request));
    const order = this.#begin(to, answer, tellAgent);
    try {
      await answer;
    } catch (error) {
      const fields = { callId, to: maskPhone(to), ...describeError(error) };
      environment.logger.warn(fields, 'the carrier did not confirm a transfer');
      if (await this.#isProven(order, error)) return;
      if (error instanceof CarrierError || error instanceof ConfigError) throw error;
      throw new CarrierError('The carrier did not transfer the call.', {
        status: null,
        retryable: false,
        cause: error,
      });
    }
    this.#take(order);
  }

  /** The same, but resolves with the result; never when the call ends before there is one. */
  async orderAndWait(to: string, demand: () => void): Promise<TransferResult> {
    let tell: (result: TransferResult) => void = () => {};
    const result = new Promise<TransferResult>((resolve) => {
      tell = resolve;
    });
    // The result may be faster than the answer to the order.
    await this.#give(to, demand, tell);
    return result;
  }

  /** The carrier asks what comes next, which it would not if it had taken an order that is in doubt. */
  asked(): void {
    const order = this.#order;
    if (order?.phase !== 'doubtful' || order.loss !== undefined) return;
    order.prove();
    this.#drop(order);
  }

  /** The stream went while the transfer is pending: no end of the call, unless the order is refused. */
  streamGone(loss: StreamLoss): void {
    const order = this.#order;
    if (order === undefined || order.phase === 'dropped') return;
    order.loss = loss;
    if (order.phase === 'doubtful' && this.#isShownByLoss) this.#take(order);
  }

  /** Without effect when nobody waits for a result. */
  heard(result: TransferResult): void {
    const order = this.#order;
    if (order === undefined || this.#context.isOver) return;
    const wasDropped = order.phase === 'dropped';
    // The result may be faster than the answer to the order. An agent that has gone on is not disturbed.
    if (wasDropped) this.#tell(order, null);
    else this.#take(order);
    this.#forget();
    this.#tell(order, result);
    order.tellAgent?.(result);
    if (result === 'connected') this.#end();
    else if (!wasDropped) this.#back(this.#newsOf(order, result));
  }

  /** The agent wants the end while the caller is being handed over, who is not the agent's to hang up on then. */
  defer(ending: CallEnding): void {
    const { wait } = ending;
    this.#deferred = { ...ending, wait: wait && endWait(wait, this.#context.environment.clock.now()) };
  }

  /** The number was not reached. `news`: what the agent says of that, where nobody else tells it. */
  #back(news: string | undefined): void {
    const { media, conversation, standing } = this.#parts;
    conversation.release('transfer', news);
    const deferred = this.#deferred;
    const isCommanded = this.#context.environment.carrier.commands !== undefined;
    if (standing.over !== undefined) this.#context.end({ reason: 'caller-hangup', close: NORMAL_CLOSE });
    // A carrier that waits for the reply to its report cannot be told to speak meanwhile.
    else if (deferred !== undefined && !isCommanded) this.#context.end(deferred);
    else if (deferred !== undefined) this.#events.agentEnds(deferred);
    else if (!isCommanded) media.expect();
    else if (media.isUp) return;
    else if (media.canOpen) media.open();
    else this.#context.end({ reason: 'stream-lost', carrier: 'hang-up' });
  }

  /** The carrier did not take the order, as far as we know. */
  #stayed(order: Order): void {
    const { loss } = order;
    this.#parts.conversation.release('transfer', this.#newsOf(order, 'failed'));
    const deferred = this.#deferred;
    this.#deferred = undefined;
    // A stop says that the caller has left.
    if (deferred !== undefined && loss?.type !== 'stop') this.#events.agentEnds(deferred);
    else if (loss !== undefined) this.#events.gone(loss);
    this.#events.stayed();
  }

  #requestFor(to: string): TransferRequest {
    return {
      callId: this.#context.callId,
      to,
      callerId: this.#ownNumber(),
      webhookBaseUrl: webhookBaseUrl(this.#context),
      ringTimeoutSeconds: RING_TIMEOUT_SECONDS,
    };
  }

  #begin(to: string, answer: Promise<void>, tellAgent: Order['tellAgent']): Order {
    const isAccepted = answer.then(
      () => true,
      () => false,
    );
    this.#forget();
    const orderedAt = this.#context.ledger.clock.wallNow();
    this.#order = {
      to,
      isLeft: false,
      orderedAt,
      isAccepted,
      phase: 'asked',
      loss: undefined,
      prove: () => {},
      tellAgent,
    };
    return this.#order;
  }

  #take(order: Order): void {
    if (order !== this.#order || order.phase === 'taken' || this.#context.isOver) return;
    order.phase = 'taken';
    this.#tell(order, null);
    this.#parts.conversation.hold('transfer');
    this.#awaitResult(order);
    order.prove();
  }

  #awaitResult({ orderedAt }: Order): void {
    const passedMs = this.#context.ledger.clock.wallNow() - orderedAt;
    this.#context.timers.set('transfer', RESULT_MS - passedMs, () => this.heard('connected'));
  }

  /** Whether the carrier has taken the order although it did not say so. */
  async #isProven(order: Order, error: unknown): Promise<boolean> {
    if (order !== this.#order || order.phase === 'taken') return leavesOpen(error);
    if (this.#context.isOver) return false;
    if (!leavesOpen(error)) {
      this.#forget();
      this.#stayed(order);
      return false;
    }
    order.phase = 'doubtful';
    this.#parts.conversation.hold('transfer');
    return new Promise((resolve) => {
      const { clock, resumeHoldSeconds } = this.#context.environment;
      // A carrier that has not taken it comes and asks what is next.
      const isTaken = order.isLeft && this.#isShownByLoss;
      const wait = clock.after(isTaken ? PROOF_MS + resumeHoldSeconds * 1000 : PROOF_MS, () => {
        if (isTaken) this.#take(order);
        else this.#drop(order);
        resolve(isTaken);
      });
      order.prove = () => {
        wait.cancel();
        resolve(true);
      };
      if (order.loss !== undefined && this.#isShownByLoss) this.#take(order);
    });
  }

  /** True where instructions take the place of the stream: its end shows them at work. */
  get #isShownByLoss(): boolean {
    return this.#context.environment.carrier.commands === undefined;
  }

  #drop(order: Order): void {
    if (this.#context.isOver) return;
    order.phase = 'dropped';
    this.#context.timers.set('transfer', RESULT_MS - PROOF_MS, () => this.#forget());
    this.#stayed(order);
  }

  #forget(): void {
    this.#order = undefined;
    this.#context.timers.cancel('transfer');
  }

  #tell({ to }: Order, result: TransferResult | null): void {
    const { ledger } = this.#context;
    if (result === null) ledger.publish({ type: 'transfer.updated', to, result });
    else ledger.transferred(to, result);
  }

  #end(): void {
    this.#context.end({ reason: 'transferred', close: NORMAL_CLOSE, carrier: 'stop-stream' });
  }

  #ownNumber(): string | undefined {
    const { identity, environment } = this.#context;
    const own = identity.direction === 'inbound' ? identity.callee : identity.caller;
    return [own, environment.ownNumber].find(isE164);
  }

  #newsOf({ tellAgent }: Order, result: Exclude<TransferResult, 'connected'>): string | undefined {
    const { notConnected } = phrasesIn(this.#context.recipe, this.#context.ledger.language);
    return tellAgent === undefined ? notConnected[result] : undefined;
  }
}
