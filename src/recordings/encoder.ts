// Has recordings made in a thread of its own, one after the other. The thread ends when there is nothing more to do.
import { Worker } from 'node:worker_threads';
import type { EncodeJob, EncodeResult } from './encode.js';

interface Asked {
  readonly job: EncodeJob;
  readonly answer: (result: EncodeResult | undefined) => void;
}

const LOST: EncodeResult = { durationMs: undefined, trouble: 'disk-failed' };

export class Encoder {
  #worker: Worker | undefined;
  #isReady = false;
  #current: Asked | undefined;
  #waiting: Asked[] = [];
  #isClosed = false;

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
    const worker = this.#worker;
    this.#worker = undefined;
    const answers = [this.#current, ...this.#waiting.splice(0)];
    this.#current = undefined;
    for (const asked of answers) asked?.answer(undefined);
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      void this.#worker?.terminate();
      this.#worker = undefined;
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
