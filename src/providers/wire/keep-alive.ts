// Says that a session goes on when nothing else has been sent for a while: vendors close one that is silent.
import type { Clock, Timer } from '../../base/clock.js';

export class KeepAlive {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #socket: { send(text: string): void };
  readonly #text: string;
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;

  /** `text`: what is sent. In a binary frame it would be audio. */
  constructor(
    clock: Clock,
    options: { everyMs: number; socket: { send(text: string): void }; text: string },
  ) {
    this.#clock = clock;
    this.#everyMs = options.everyMs;
    this.#socket = options.socket;
    this.#text = options.text;
  }

  /** From now on, on a connection that is new. */
  start(): void {
    this.sent();
    this.#wait();
  }

  /** Something was sent. Costs no timer. */
  sent(): void {
    this.#dueAt = this.#clock.now() + this.#everyMs;
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#dueAt - this.#clock.now(), () => {
      // By the same figure as the timer: the difference of two times may be rounded to less, and the timer would ring at once for good.
      if (this.#clock.now() >= this.#dueAt) {
        this.#socket.send(this.#text);
        this.sent();
      }
      this.#wait();
    });
  }
}
