// Keys of one call: those that are pressed, each counted once, and those that are sent.
import type { StreamLoss } from '../streams/call-stream.js';
import { type SessionContext, leavesOpen, onceKept } from '../session-context.js';
import { type CallMedia, STREAM_DEADLINE_MS } from '../streams/call-media.js';
import { KeyJoin, type KeySource } from './key-join.js';
import { checkKeys, keysDurationMs } from './sent-keys.js';
import { STREAM_TOKEN_TTL_MS } from '../streams/stream-token.js';

/** Keys and spoken texts of one call that are taken: they grow the record. */
const MAX_SMALL_MESSAGES = 2000;

export interface KeyEvents {
  /** A key was pressed. */
  pressed(digit: string): void;
  /** The keys were not played, as far as we know, and this is how the stream went meanwhile. */
  refusedAfter(loss: StreamLoss): void;
}

export class CallKeys {
  readonly #context: SessionContext;
  readonly #media: CallMedia;
  readonly #events: KeyEvents;
  readonly #join = new KeyJoin();
  #smallMessages = 0;
  #isSending = false;
  #loss: StreamLoss | undefined;

  constructor(context: SessionContext, media: CallMedia, events: KeyEvents) {
    this.#context = context;
    this.#media = media;
    this.#events = events;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  heard(source: KeySource, digit: string): void {
    const { environment, ledger } = this.#context;
    if (!this.#join.hear(source, digit, environment.clock.now()) || !this.takesSmallMessage()) return;
    ledger.publish({ type: 'dtmf.received', digit });
    this.#events.pressed(digit);
  }

  /** Counts what grows the record. False when there was enough of it. */
  takesSmallMessage(): boolean {
    this.#smallMessages += 1;
    if (this.#smallMessages <= MAX_SMALL_MESSAGES) return true;
    this.#media.complain('Too many keys or texts.');
    return false;
  }

  /**
   * Plays keys to the other side. `demand` throws when that is not possible now. Where it replaces the stream, the next one is
   * expected when the keys have been played, also after an error that leaves open whether they are. @throws RequestError, ConfigError, CarrierError; the call then goes on.
   */
  async send(digits: string, demand: () => void): Promise<void> {
    checkKeys(digits);
    demand();
    const { environment, identity, ledger, isOver } = this.#context;
    const { carrier } = environment;
    const { carrierCallId } = identity;
    if (carrierCallId === null || isOver) return;
    const isReplacing = carrier.supports.digitsReplaceStream;
    const durationMs = keysDurationMs(digits);
    const invitation = this.#media.invite({ ttlMs: STREAM_TOKEN_TTL_MS + durationMs });
    const deadlineMs = STREAM_DEADLINE_MS + durationMs;
    this.#isSending = true;
    this.#loss = undefined;
    // The stream may be gone before the request is answered.
    if (isReplacing) this.#media.expect(deadlineMs);
    try {
      await onceKept(this.#context, () => carrier.rest.sendDigits(carrierCallId, digits, invitation));
    } catch (error) {
      this.#isSending = false;
      if (isReplacing) this.#failed(error, deadlineMs);
      throw error;
    }
    this.#isSending = false;
    if (this.#context.isOver) return;
    ledger.keysSent(digits);
    if (isReplacing && this.#media.isExpected) this.#media.expect(deadlineMs);
  }

  /** The stream went while another one is expected: no end of the call, unless the keys are refused or nothing comes of them. */
  streamGone(loss: StreamLoss): void {
    this.#loss = loss;
  }

  /** Keys that were perhaps played still bring another stream. One that has come already is left alone. */
  #failed(error: unknown, deadlineMs: number): void {
    if (!leavesOpen(error)) this.#takeBack();
    else if (this.#media.isExpected) this.#media.expect(deadlineMs, () => this.#takeBack());
  }

  #takeBack(): void {
    if (this.#context.isOver) return;
    this.#media.unexpect();
    if (this.#loss !== undefined) this.#events.refusedAfter(this.#loss);
  }
}
