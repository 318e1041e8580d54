// How long this process has stood in the queue for a processor, which is the fault of everybody else on the machine.
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 10;

/** Milliseconds since the start, of the main thread; 0 where the system does not tell. */
function queuedMs() {
  try {
    const [, waitedNs] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}

/** The time, the same for all processes of a machine: epoch milliseconds with a fraction. */
export const epochMs = () => performance.timeOrigin + performance.now();

/** @typedef {{ at: number, queuedMs: number }} Sample */

/** Samples of the time in the queue. */
export class QueueLog {
  /** @type {Sample[]} */
  samples = [];

  /** Forgets what was before. */
  begin() {
    this.samples = [];
    this.#take();
    this.timer = setInterval(() => this.#take(), SAMPLE_MS);
  }

  /** @returns {Sample[]} */
  end() {
    clearInterval(this.timer);
    this.#take();
    return this.samples;
  }

  #take() {
    this.samples.push({ at: epochMs(), queuedMs: queuedMs() });
  }
}

/** At most so long a process stood in the queue between two times. @param {readonly Sample[]} samples @param {number} from @param {number} to */
export function queuedBetween(samples, from, to) {
  const before = samples.findLast(({ at }) => at <= from) ?? samples[0];
  const after = samples.find(({ at }) => at >= to) ?? samples.at(-1);
  return before === undefined || after === undefined ? 0 : after.queuedMs - before.queuedMs;
}
