// Threads that yield to calls get a hundredth of a processor on a busy machine, and their test would wait for them all that time.
import { syncBuiltinESMExports } from 'node:module';
import threads, { type WorkerOptions } from 'node:worker_threads';
import { afterAll, beforeAll } from 'vitest';

const NO_PRIORITY = new URL('./no-priority.mjs', import.meta.url).href;

/** A thread with the priority of the others, whatever its file wants. */
export class EqualWorker extends threads.Worker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    super(filename, { ...options, execArgv: [...(options?.execArgv ?? []), '--import', NO_PRIORITY] });
  }
}

/** Replaces the threads of this process. */
export function replaceWorker(Worker: typeof threads.Worker): void {
  threads.Worker = Worker;
  syncBuiltinESMExports();
}

/** While the tests of the calling file run, no thread yields. */
export function keepThreadsEqual(): void {
  const { Worker } = threads;
  beforeAll(() => replaceWorker(EqualWorker));
  afterAll(() => replaceWorker(Worker));
}
