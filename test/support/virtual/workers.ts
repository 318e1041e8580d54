// Threads that have something to do. Those of this project answer every message with one of their own, and begin with one.
import threads, { type Transferable, type WorkerOptions } from 'node:worker_threads';
import { EqualWorker, replaceWorker } from '../equal-threads.js';

const busy = new Map<threads.Worker, number>();

/** True when a thread owes an answer. */
export function isAnyBusy(): boolean {
  return busy.size > 0;
}

function count(worker: threads.Worker, by: number): void {
  const owed = (busy.get(worker) ?? 0) + by;
  if (owed > 0) busy.set(worker, owed);
  else busy.delete(worker);
}

class CountedWorker extends EqualWorker {
  constructor(filename: string | URL, options?: WorkerOptions) {
    super(filename, options);
    count(this, 1);
    this.on('message', () => count(this, -1));
    this.on('exit', () => busy.delete(this));
  }

  override postMessage(value: unknown, transfer: readonly Transferable[] = []): void {
    count(this, 1);
    super.postMessage(value, transfer);
  }
}

/** From now on the threads of this process are counted. */
export function countWorkers(): void {
  if (threads.Worker !== CountedWorker) replaceWorker(CountedWorker);
}
