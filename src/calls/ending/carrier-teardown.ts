// What is asked of the carrier once a call is over for us, until the carrier has let go of it too, or it is known that it will not.
import type { Clock, Timer } from '../../base/clock.js';
import { CarrierError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { Carrier } from '../../carriers/carrier.js';
import type { HangUpState } from '../../contract/call-record.js';
import type { CarrierWish } from './call-ending.js';

/** A carrier that has ended the call by itself reports it within this time. */
const CONFIRM_MS = 5000;
/** Pause before the second try; each one after it is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** No leg lives longer at a carrier. */
const GIVE_UP_MS = 24 * 60 * 60_000;

export interface CarrierTeardownOptions {
  readonly callId: string;
  readonly wish: CarrierWish;
  /** Asked when it is needed: a call that is being dialed gets its id later. */
  carrierCallId(): string | null;
  /** Something that must be known first: whether anything is to be asked at all. Never rejects. */
  readonly before?: Promise<boolean> | undefined;
  readonly carrier: Carrier;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asked for so long already, in milliseconds, by a process before this one. */
  readonly askedMs?: number;
  /** True while a process after this one would find in the record that the hang-up is pending. */
  isRecordKept(): boolean;
  /** States on the record how the hang-up stands. */
  tell(state: HangUpState): void;
  /** Puts a note on the record. */
  note(code: string, message: string): void;
}

/**
 * A leg that nobody hangs up is billed until somebody does. So the carrier is asked again, with ever longer pauses, until it confirms
 * the end, refuses us, or a day has passed. Whoever stops the server leaves it to the next process.
 */
export class CarrierTeardown {
  /** Resolves when nothing more is asked of the carrier. Never rejects. */
  readonly done: Promise<void>;
  readonly #options: CarrierTeardownOptions;
  readonly #giveUpAt: number;
  #isHurried = false;
  /** The record says that a hang-up is pending. */
  #isPending = false;
  #isDone = false;
  /** The wait is for the next try: a sign of the leg ends it. */
  #isBackingOff = false;
  #timer: Timer | undefined;
  #wake = () => {};
  #finish = () => {};
  #tried!: Promise<HangUpState>;
  #answer: (state: HangUpState) => void = () => {};

  constructor(options: CarrierTeardownOptions) {
    this.#options = options;
    this.#giveUpAt = options.clock.now() + GIVE_UP_MS - (options.askedMs ?? 0);
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#awaitTry();
    this.#run().catch((error: unknown) => {
      options.logger.error({ callId: options.callId, ...describeError(error) }, 'call teardown failed');
      this.#settle('failed');
    });
  }

  /** Resolves with how the hang-up stands once it has been tried. Never rejects. */
  get tried(): Promise<HangUpState> {
    return this.#tried;
  }

  /** Somebody wants it now: the next try is at once. Resolves like `tried`. */
  tryNow(): Promise<HangUpState> {
    this.nudge();
    return this.#tried;
  }

  /** The carrier reports that the call is over: nothing more is asked. */
  carrierSaysOver(): void {
    this.#settle('done');
  }

  /** A sign that carrier and leg are there: the next try is now. */
  nudge(): void {
    if (!this.#isBackingOff) return;
    this.#goOn();
    this.#wake();
  }

  /** The server stops: one more try, and no more pauses. */
  hurry(): void {
    this.#isHurried = true;
    this.#wake();
  }

  /** Waits no longer for the carrier. */
  abandon(): void {
    if (!this.#isDone) this.#leave();
  }

  async #run(): Promise<void> {
    const { wish, before, carrier } = this.#options;
    if (before !== undefined && !(await before)) return this.#stop();
    const id = this.#options.carrierCallId();
    if (id === null || !carrier.rest.configured || this.#isDone) return this.#stop();
    if (wish === 'stop-stream') {
      await this.#attempt(async () => carrier.commands?.stopStream(id));
      return this.#stop();
    }
    this.#isPending = true;
    this.#options.tell('pending');
    if (wish === 'confirm') await this.#pause(CONFIRM_MS);
    await this.#hangUp(id, { isSureUp: wish === 'hang-up' });
  }

  /** `isSureUp`: the first try needs no look whether the leg is there at all. */
  async #hangUp(id: string, { isSureUp }: { isSureUp: boolean }): Promise<void> {
    const { carrier, clock } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    for (let tries = 1; !this.#isDone; tries += 1) {
      const isLast = this.#isHurried;
      const isAsked = tries > 1 || !isSureUp;
      if (isAsked && (await this.#isOverAtCarrier(id))) return this.#settle('done');
      if (this.#isDone) return;
      const outcome = await this.#attempt(async () => carrier.rest.hangUp(id));
      if (outcome === 'done') return this.#settle('done');
      if (outcome === 'refused' || clock.now() >= this.#giveUpAt) return this.#settle('failed');
      if (this.#isDone) return;
      this.#answer('pending');
      if (isLast) return this.#leave();
      this.#isBackingOff = true;
      await this.#pause(pauseMs);
      if (this.#isBackingOff) this.#goOn();
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  /** The pause is over: who asks from now on hears of the try that follows. */
  #goOn(): void {
    this.#isBackingOff = false;
    this.#awaitTry();
  }

  #awaitTry(): void {
    this.#tried = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  async #isOverAtCarrier(carrierCallId: string): Promise<boolean> {
    let isOver = false;
    await this.#attempt(async () => {
      isOver = (await this.#options.carrier.rest.lookUp(carrierCallId)).isOver;
    });
    return isOver;
  }

  async #attempt(request: () => Promise<unknown>): Promise<'done' | 'failed' | 'refused'> {
    try {
      await request();
      return 'done';
    } catch (error) {
      const { logger, callId } = this.#options;
      logger.warn(
        { callId, ...describeError(error) },
        'a request to the carrier failed at the end of a call',
      );
      return error instanceof CarrierError && error.isFinal ? 'refused' : 'failed';
    }
  }

  /** What is left is up to the next process, if there will be one that knows of it. */
  #leave(): void {
    const { logger, callId, wish, isRecordKept } = this.#options;
    // What the record does not say, nobody knows later.
    const isKnownLater = this.#isPending && isRecordKept();
    if (wish === 'stop-stream') this.#stop();
    else if (!isKnownLater) this.#settle('failed');
    else {
      logger.warn({ callId }, 'hang-up pending: the next process continues it');
      this.#stop('pending');
    }
  }

  /** The hang-up has an end. Once. */
  #settle(state: 'done' | 'failed'): void {
    if (this.#isDone) return;
    const { logger, callId, tell, note } = this.#options;
    this.#stop(state);
    if (this.#isPending || state === 'failed') tell(state);
    if (state === 'done') return;
    logger.error({ callId }, 'the call may still be up at the carrier: hang it up there');
    note('hangup-failed', 'The carrier did not confirm the end of the call: it may still be up there.');
  }

  /** Nothing more is asked. Idempotent. */
  #stop(state: HangUpState = 'done'): void {
    this.#isDone = true;
    this.#isBackingOff = false;
    this.#timer?.cancel();
    this.#answer(state);
    this.#wake();
    this.#finish();
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#isHurried || this.#isDone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#timer?.cancel();
        resolve();
      };
      this.#timer = this.#options.clock.after(delayMs, resolve);
    });
  }
}
