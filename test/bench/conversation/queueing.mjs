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

/** At most so long a process stood in the queue between two times; infinitely long where the samples do not reach. @param {readonly Sample[]} samples @param {number} from @param {number} to */
export function queuedBetween(samples, from, to) {
  const before = samples.findLast(({ at }) => at <= from);
  const after = samples.find(({ at }) => at >= to);
  return before === undefined || after === undefined ? Infinity : after.queuedMs - before.queuedMs;
}

/** In the whole time that was sampled. @param {readonly Sample[]} samples */
export function queuedInAll(samples) {
  return (samples.at(-1)?.queuedMs ?? 0) - (samples[0]?.queuedMs ?? 0);
}
