// What is asked of the carrier once a call is over for us, until the carrier has let go of it too, or it is known that it has not.
import type { Clock, Timer } from '../base/clock.js';
import { describeError, type Logger } from '../base/log.js';
import type { Carrier } from '../carriers/carrier.js';
import type { CarrierWish } from './call-ending.js';

/** A carrier that has ended the call by itself reports it within this time. */
const CONFIRM_MS = 5000;
/** Pause before the second try. */
const RETRY_MS = 2000;

export interface FarewellOptions {
  readonly callId: string;
  readonly wish: CarrierWish;
  /** Asked when it is needed: a call that is being dialled gets its id later. */
  carrierCallId(): string | null;
  /** Something that must be known first: whether anything is to be asked at all. Never rejects. */
  readonly before?: Promise<boolean> | undefined;
  readonly carrier: Carrier;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Puts a note on the record. */
  note(code: string, message: string): void;
}

export class Farewell {
  /** Resolves when nothing more is asked of the carrier. Never rejects. */
  readonly done: Promise<void>;
  readonly #options: FarewellOptions;
  #isOver = false;
  #isHurried = false;
  #isDone = false;
  #timer: Timer | undefined;
  #wake = () => {};
  #finish = () => {};

  constructor(options: FarewellOptions) {
    this.#options = options;
    this.done = new Promise((resolve) => {
      this.#finish = () => {
        this.#isDone = true;
        this.#timer?.cancel();
        resolve();
      };
    });
    this.#run().then(this.#finish, (error: unknown) => {
      options.logger.error({ callId: options.callId, ...describeError(error) }, 'farewell failed');
      this.#finish();
    });
  }

  /** The carrier reports that the call is over: nothing more is asked. */
  carrierSaysOver(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The server stops: no more pauses. */
  hurry(): void {
    this.#isHurried = true;
    this.#wake();
  }

  /** Waits no longer for the carrier, and says so on the record. */
  abandon(): void {
    if (this.#isDone) return;
    this.#isHurried = true;
    if (!this.#isOver && this.#options.wish !== 'stop-stream') this.#noteUnconfirmed();
    this.#wake();
    this.#finish();
  }

  async #run(): Promise<void> {
    const { wish, before, carrier } = this.#options;
    if (before !== undefined && !(await before)) return;
    const id = this.#options.carrierCallId();
    if (id === null || !carrier.rest.configured || this.#isOver) return;
    if (wish === 'stop-stream') {
      await this.#try(async () => carrier.commands?.stopStream(id));
      return;
    }
    if (wish === 'confirm') await this.#pause(CONFIRM_MS);
    if (this.#isOver || (wish !== 'hang-up' && (await this.#isOverAtCarrier(id)))) return;
    if (await this.#try(async () => carrier.rest.hangUp(id))) return;
    await this.#pause(RETRY_MS);
    if (this.#isSettled || (await this.#isOverAtCarrier(id))) return;
    if (await this.#try(async () => carrier.rest.hangUp(id))) return;
    if (!this.#isSettled) this.#noteUnconfirmed();
  }

  get #isSettled(): boolean {
    return this.#isOver || this.#isDone;
  }

  async #isOverAtCarrier(carrierCallId: string): Promise<boolean> {
    let isOver = false;
    await this.#try(async () => {
      isOver = (await this.#options.carrier.rest.lookUp(carrierCallId)).isOver;
    });
    return isOver || this.#isSettled;
  }

  /** False when the request failed. */
  async #try(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      const { logger, callId } = this.#options;
      logger.warn({ callId, ...describeError(error) }, 'the carrier did not do what was asked at the end');
      return false;
    }
  }

  #noteUnconfirmed(): void {
    this.#options.logger.warn({ callId: this.#options.callId }, 'the end of the call is not confirmed');
    this.#options.note('CARRIER_FAILED', 'The carrier did not confirm the end of the call.');
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#isHurried || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#timer?.cancel();
        resolve();
      };
      this.#timer = this.#options.clock.after(delayMs, resolve);
    });
  }
}
