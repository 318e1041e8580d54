// The machine under a load: who has which processor, and whether callers or others were what stood still.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';

const SAMPLE_MS = 5;
/** Later than this a timer is not merely late. */
const STALL_MS = 20;
/** Asked before this process is given one of them. */
const PROCESSORS = availableParallelism();

/**
 * Gives server and callers a processor each, threads included. Returns a sentence that says how it went.
 * @param {number} serverPid
 */
export function separate(serverPid) {
  if (PROCESSORS < 2) return 'There is one processor, which server and callers share.';
  const pin = (/** @type {number} */ pid, /** @type {number} */ processor) =>
    spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(processor), String(pid)]).status === 0;
  return pin(serverPid, 0) && pin(process.pid, 1)
    ? 'The server has one processor, callers and vendors have another one.'
    : 'There is no `taskset` here: server and callers were not kept apart.';
}

/** Milliseconds that the main thread of a process has stood in the queue for a processor; NaN where the system does not tell. @param {number} pid */
function queuedMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** Watches this process, which is that of the callers and the vendors, and how the server gets its processor. Times are epoch milliseconds. */
export class MachineLog {
  #serverPid;
  #used = performance.eventLoopUtilization();
  /** Times at which this process stood still. @type {{ from: number, to: number }[]} */
  #stalls = [];
  /** @type {{ at: number, queuedMs: number }[]} */
  #samples = [];
  #timer;

  /** @param {number} serverPid */
  constructor(serverPid) {
    this.#serverPid = serverPid;
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** So long this process stood still, or the server in the queue for its processor: what was heard meanwhile is not the server's doing. @param {number} from @param {number} to */
  disturbedMs(from, to) {
    const stalledMs = this.#stalls.reduce(
      (sum, stall) => sum + Math.max(0, Math.min(stall.to, to) - Math.max(stall.from, from)),
      0,
    );
    const first = this.#samples.findLast(({ at }) => at <= from) ?? this.#samples[0];
    const last = this.#samples.find(({ at }) => at >= to) ?? this.#samples.at(-1);
    const queuedMs = (last?.queuedMs ?? 0) - (first?.queuedMs ?? 0);
    return stalledMs + (Number.isNaN(queuedMs) ? 0 : queuedMs);
  }

  /** What was until now. `busyShare`: of this process. `queuedShare`: for what share of the time the server waited for its processor. */
  read() {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const queued = (last?.queuedMs ?? 0) - (first?.queuedMs ?? 0);
    return {
      busyShare: performance.eventLoopUtilization(this.#used).utilization,
      longestStallMs: Math.max(0, ...this.#stalls.map(({ from, to }) => to - from)),
      queuedShare: queued / ((last?.at ?? 0) - (first?.at ?? 0)),
    };
  }

  end() {
    clearInterval(this.#timer);
  }

  #sample() {
    const at = performance.timeOrigin + performance.now();
    const before = this.#samples.at(-1)?.at ?? at;
    if (at - before > SAMPLE_MS + STALL_MS) this.#stalls.push({ from: before, to: at });
    this.#samples.push({ at, queuedMs: queuedMs(this.#serverPid) });
  }
}

/** @typedef {ReturnType<MachineLog['read']>} MachineFigures */
