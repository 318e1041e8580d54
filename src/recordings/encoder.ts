// Has recordings made in a thread of its own, one after the other. The thread ends when there has been nothing to do for a while.
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../base/clock.js';
import type { EncodeJob, EncodeResult } from './encode.js';

interface Asked {
  readonly job: EncodeJob;
  readonly answer: (result: EncodeResult | undefined) => void;
}

/** To start a thread costs the one of the calls a millisecond: where calls end all the time it stays. */
const SPARE_MS = 10_000;

const LOST: EncodeResult = { durationMs: undefined, trouble: 'disk-failed' };

export class Encoder {
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #isReady = false;
  #current: Asked | undefined;
  #waiting: Asked[] = [];
  #isClosed = false;
  /** Ends the thread. */
  #ending: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never rejects. Undefined where it was not begun, or not ended, when the encoder was closed: the tapes are still there. */
  encode(job: EncodeJob): Promise<EncodeResult | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((answer) => {
      this.#waiting.push({ job, answer });
      this.#next();
    });
  }

  /** Ends in the middle of what it does: what is not finished has another name than what is. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ending?.cancel();
    const worker = this.#worker;
    this.#worker = undefined;
    const answers = [this.#current, ...this.#waiting.splice(0)];
    this.#current = undefined;
    for (const asked of answers) asked?.answer(undefined);
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#ending?.cancel();
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#ending = this.#clock.after(SPARE_MS, () => {
        void this.#worker?.terminate();
        this.#worker = undefined;
      });
      return;
    }
    this.#current = next;
    if (this.#worker === undefined) this.#start();
    else if (this.#isReady) this.#worker.postMessage(next.job);
  }

  #start(): void {
    // The flags of the main thread are not for this one: some of them refuse to run a file.
    const worker = new Worker(new URL('./encode-worker.js', import.meta.url), { execArgv: [] });
    worker.unref();
    this.#worker = worker;
    this.#isReady = false;
    worker.on('message', (message: 'ready' | EncodeResult) => {
      if (worker !== this.#worker) return;
      if (message !== 'ready') this.#done(message);
      else {
        this.#isReady = true;
        if (this.#current !== undefined) worker.postMessage(this.#current.job);
      }
    });
    const lost = () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#done(LOST);
    };
    worker.on('error', lost);
    worker.on('exit', lost);
  }

  #done(result: EncodeResult): void {
    const asked = this.#current;
    this.#current = undefined;
    asked?.answer(result);
    this.#next();
  }
}
