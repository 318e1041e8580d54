// Owns the thread that speaks, and the queue before it. One sentence at a time: a sentence takes some ten milliseconds, and
// a call that is interrupted or a sentence that goes wrong touches nobody else's.
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock, type Timer } from '../../../base/clock.js';
import { ProviderError } from '../../../base/errors.js';
import type { FliteModule } from './wasi.js';
import type { FliteReply, FliteRequest, FliteStart } from './worker.js';

export interface FliteHostOptions {
  /** Path of the synthesizer's WebAssembly file. */
  readonly wasmPath: string;
  /** @default 2000 */
  readonly sentenceLimitMs?: number;
  /** @default 10000 */
  readonly startLimitMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
  /** Starts a thread. Tests put one of their own here. */
  readonly startWorker?: (start: FliteStart) => Worker;
}

export interface RawAudio {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
}

interface Job {
  readonly request: FliteRequest;
  readonly resolve: (audio: RawAudio) => void;
  readonly reject: (error: Error) => void;
  /** Times that a thread has begun with it. */
  attempts: number;
  /** Nobody waits for it any more once this has aborted. */
  readonly signal: AbortSignal;
}

/** A machine that is short of time for a moment gets a second chance, inside the patience of a call. */
const MAX_ATTEMPTS = 2;
const DEFAULT_SENTENCE_LIMIT_MS = 2000;
const DEFAULT_START_LIMIT_MS = 10_000;

export class FliteHost {
  readonly #options: FliteHostOptions;
  #queue: Job[] = [];
  #worker: Worker | undefined;
  /** By the first thread. */
  #compiled: FliteModule | undefined;
  #ready = false;
  #current: Job | undefined;
  #timer: Timer | undefined;
  #grace: NodeJS.Immediate | undefined;
  #nextId = 1;

  constructor(options: FliteHostOptions) {
    this.#options = options;
  }

  /** Starts the thread before it is needed. */
  warmUp(): void {
    if (this.#worker !== undefined) return;
    const { wasmPath, startWorker = startFliteWorker } = this.#options;
    const worker = startWorker(this.#compiled ?? wasmPath);
    this.#worker = worker;
    this.#ready = false;
    worker.on('message', (reply: FliteReply) => this.#receive(worker, reply));
    worker.on('error', (error) => this.#lose(worker, 'The embedded voice failed.', error));
    worker.on('exit', (code) =>
      this.#lose(worker, 'The embedded voice ended.', new Error(`exit code ${code}`)),
    );
    // An idle voice must not keep the process from ending. Listening for messages holds it anew, so this comes after.
    worker.unref();
    this.#limit(this.#options.startLimitMs ?? DEFAULT_START_LIMIT_MS, 'The embedded voice did not start.');
  }

  /** Speaks one text. Rejects with ProviderError, and with an AbortError at once when the signal aborts. */
  speak(voice: string, text: string, signal: AbortSignal): Promise<RawAudio> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const request = { id: this.#nextId, voice, text };
      this.#nextId += 1;
      const onAbort = () => {
        this.#queue = this.#queue.filter((job) => job.request !== request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const settled = () => signal.removeEventListener('abort', onAbort);
      this.#queue.push({
        request,
        resolve: (audio) => {
          settled();
          resolve(audio);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
        attempts: 0,
        signal,
      });
      this.#advance();
    });
  }

  /** Ends the thread unless somebody waits for a sentence; the next one starts another. Resolves when it is gone. */
  async closeIdle(): Promise<void> {
    const worker = this.#worker;
    const isWanted = this.#queue.length > 0 || this.#current?.signal.aborted === false;
    if (worker === undefined || isWanted) return;
    this.#unlimit();
    this.#worker = undefined;
    this.#current = undefined;
    await worker.terminate();
  }

  #advance(): void {
    if (this.#current !== undefined || this.#queue.length === 0) return;
    if (this.#worker === undefined) this.warmUp();
    if (!this.#ready) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    this.#current = job;
    job.attempts += 1;
    this.#limit(
      this.#options.sentenceLimitMs ?? DEFAULT_SENTENCE_LIMIT_MS,
      'The embedded voice took too long over a sentence.',
    );
    this.#worker?.postMessage(job.request);
  }

  #receive(worker: Worker, reply: FliteReply): void {
    if (worker !== this.#worker) return;
    if (reply.type === 'failed') {
      this.#lose(worker, 'The embedded voice could not speak a sentence.', new Error(reply.why));
      return;
    }
    this.#unlimit();
    const job = this.#current;
    this.#current = undefined;
    if (reply.type === 'ready') {
      this.#ready = true;
      this.#compiled = reply.compiled;
    } else job?.resolve({ pcm: reply.pcm, sampleRateHz: reply.sampleRateHz });
    this.#advance();
  }

  #limit(limitMs: number, sentence: string): void {
    this.#unlimit();
    const worker = this.#worker;
    if (worker === undefined) return;
    const giveUp = () => {
      const job = this.#current;
      if (job !== undefined && job.attempts < MAX_ATTEMPTS) {
        this.#current = undefined;
        this.#queue.unshift(job);
      }
      this.#lose(worker, sentence);
    };
    // Behind a stall of this thread the answer may be waiting: it is let in first.
    const { clock = systemClock } = this.#options;
    this.#timer = clock.after(limitMs, () => {
      this.#grace = setImmediate(giveUp);
    });
  }

  #unlimit(): void {
    this.#timer?.cancel();
    clearImmediate(this.#grace);
  }

  /** Gives up a thread: its sentence fails, the others get a new thread. One that never started fails them all. */
  #lose(worker: Worker, sentence: string, cause?: unknown): void {
    if (worker !== this.#worker) return;
    this.#unlimit();
    this.#worker = undefined;
    void worker.terminate();
    const lost = this.#ready ? [this.#current] : [this.#current, ...this.#queue.splice(0)];
    this.#current = undefined;
    for (const job of lost)
      job?.reject(new ProviderError(sentence, { status: null, retryable: true, cause }));
    this.#advance();
  }
}

function startFliteWorker(start: FliteStart): Worker {
  // The flags of the main thread are not for this one: some of them refuse to run a file.
  return new Worker(new URL('./worker.js', import.meta.url), {
    workerData: start,
    execArgv: [],
  });
}
