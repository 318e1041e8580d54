// The way of an emulator's messages to the client, and what goes wrong on it.
import type { Clock } from '../../base/clock.js';
import { seededRandom } from '../seeded-random.js';
import { type FieldTroubles, mixUp } from './foreign-fields.js';

/** What happens to every message on its way to the client: of a socket, or of an answer that is streamed. */
export interface WireTroubles extends FieldTroubles {
  readonly delayMs?: number;
  /** Added to the delay, up to so much, the same in every run. The order stays. */
  readonly jitterMs?: number;
  /** Every so manieth message is dropped, sent twice, or sent after the one behind it. */
  readonly dropEvery?: number;
  readonly duplicateEvery?: number;
  readonly reorderEvery?: number;
  /** Cuts every message of a socket into frames of one WebSocket message, also in the middle of a character. */
  readonly split?: boolean;
  /** Everything leaves in TCP segments of at most so many bytes, one after the other: also handshakes and the ends of messages. */
  readonly segmentBytes?: number;
  /** Time between two of these segments, in milliseconds: a connection that drips. @default 1 */
  readonly segmentEveryMs?: number;
}

export interface TroubledWireOptions {
  readonly clock: Clock;
  /** As they are when a message is sent. */
  readonly troubles: () => WireTroubles;
  readonly write: (message: string | Buffer) => void;
}

const SEED = 1;

export class TroubledWire {
  readonly #options: TroubledWireOptions;
  readonly #random = seededRandom(SEED);
  #count = 0;
  #held: string | Buffer | undefined;
  #lastDueAt = 0;

  constructor(options: TroubledWireOptions) {
    this.#options = options;
  }

  send(message: string | Buffer): void {
    const { dropEvery = 0, duplicateEvery = 0, reorderEvery = 0 } = this.#options.troubles();
    this.#count += 1;
    const isNth = (every: number) => every > 0 && this.#count % every === 0;
    if (isNth(dropEvery)) return;
    const messages = isNth(duplicateEvery) ? [message, message] : [message];
    if (this.#held !== undefined) {
      messages.push(this.#held);
      this.#held = undefined;
    } else if (isNth(reorderEvery)) {
      this.#held = message;
      return;
    }
    for (const each of messages)
      this.#delay(() => this.#options.write(mixUp(each, this.#options.troubles())));
  }

  /** Runs `task` when all that was sent has left. */
  after(task: () => void): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#delay(() => this.#options.write(held));
    this.#delay(task);
  }

  #delay(task: () => void): void {
    const { clock, troubles } = this.#options;
    const { delayMs = 0, jitterMs = 0 } = troubles();
    const now = clock.now();
    if (delayMs + jitterMs === 0 && this.#lastDueAt <= now) {
      task();
      return;
    }
    this.#lastDueAt = Math.max(this.#lastDueAt, now + delayMs + this.#random() * jitterMs);
    clock.after(this.#lastDueAt - now, task);
  }
}
