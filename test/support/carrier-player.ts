// A carrier's player as a test sees it: plays what it is sent in real time, echoes marks, and obeys clear.
import type { PlaybackSink } from '../../src/audio/pacer.js';
import type { Clock } from '../../src/base/clock.js';

export interface CarrierPlayerOptions {
  readonly clock: Clock;
  readonly bytesPerMs: number;
  /** Time that an echoed mark is on its way. */
  readonly delayMs?: number;
  readonly onMark?: (name: string) => void;
}

/** Everything that was heard and everything that was sent, in order. */
export class CarrierPlayer implements PlaybackSink {
  bufferedBytes = 0;
  clears = 0;
  readonly sent: { at: number; bytes: Uint8Array }[] = [];
  readonly marksSent: string[] = [];
  #queue: { startsAt: number; bytes: Uint8Array }[] = [];
  #heard: Uint8Array[] = [];
  #freeAt = 0;
  readonly #options: CarrierPlayerOptions;
  #pending: { readonly name: string }[] = [];

  constructor(options: CarrierPlayerOptions) {
    this.#options = options;
  }

  sendAudio(bytes: Uint8Array): void {
    const { clock, bytesPerMs } = this.#options;
    // The slice of a Buffer would be no copy.
    const copy = new Uint8Array(bytes);
    this.sent.push({ at: clock.now(), bytes: copy });
    const startsAt = Math.max(clock.now(), this.#freeAt);
    this.#queue.push({ startsAt, bytes: copy });
    this.#freeAt = startsAt + copy.length / bytesPerMs;
  }

  sendMark(name: string): void {
    const { clock, delayMs = 0 } = this.#options;
    this.marksSent.push(name);
    const mark = { name };
    this.#pending.push(mark);
    clock.after(Math.max(0, this.#freeAt - clock.now()) + delayMs, () => {
      if (!this.#pending.includes(mark)) return;
      this.#pending = this.#pending.filter((other) => other !== mark);
      this.#options.onMark?.(name);
    });
  }

  sendClear(): void {
    const { clock, delayMs = 0 } = this.#options;
    this.clears += 1;
    this.#collect();
    this.#queue = [];
    this.#freeAt = clock.now();
    // As the carriers do: a clear sends all open marks back at once.
    const marks = this.#pending;
    this.#pending = [];
    clock.after(delayMs, () => {
      for (const { name } of marks) this.#options.onMark?.(name);
    });
  }

  /** All audio that has been played up to now. */
  heard(): Uint8Array {
    this.#collect();
    return Buffer.concat(this.#heard);
  }

  /** Milliseconds of audio that wait to be played. */
  get aheadMs(): number {
    return Math.max(0, this.#freeAt - this.#options.clock.now());
  }

  #collect(): void {
    const now = this.#options.clock.now();
    const { bytesPerMs } = this.#options;
    while (this.#queue[0] !== undefined && this.#queue[0].startsAt < now) {
      const { startsAt, bytes } = this.#queue[0];
      const played = Math.min(bytes.length, Math.floor((now - startsAt) * bytesPerMs));
      this.#heard.push(bytes.subarray(0, played));
      if (played < bytes.length) {
        this.#queue[0] = { startsAt: now, bytes: bytes.subarray(played) };
        return;
      }
      this.#queue.shift();
    }
  }
}
