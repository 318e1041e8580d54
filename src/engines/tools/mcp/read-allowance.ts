// How much a program may write: one that writes without end would fill memory and keep the process busy, one that chats for a week must not be ended.
import { MAX_MESSAGE_BYTES } from './http-fetch.js';

/** As many answers as a model may wait for at a time. */
const MAX_BYTES = 16 * MAX_MESSAGE_BYTES;

/** What it gains without being asked, for each second that passes. */
const BYTES_PER_SECOND = 64 * 1024;

export class ReadAllowance {
  #left = MAX_MESSAGE_BYTES;
  #at: number;

  /** Times are milliseconds of one clock. */
  constructor(now: number) {
    this.#at = now;
  }

  /** It was asked for something: it may write the longest answer. */
  owe(): void {
    this.#left = Math.min(this.#left + MAX_MESSAGE_BYTES, MAX_BYTES);
  }

  /** False once it has written too much. */
  take(bytes: number, now: number): boolean {
    const gained = ((now - this.#at) / 1000) * BYTES_PER_SECOND;
    this.#at = now;
    this.#left = Math.min(this.#left + gained, Math.max(this.#left, MAX_MESSAGE_BYTES)) - bytes;
    return this.#left >= 0;
  }
}
