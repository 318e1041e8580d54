// What Linux tells of a process and of the machine, and the statistics that the bench makes of it.
import { readdirSync, readFileSync } from 'node:fs';

/** Source: Linux, proc(5): ticks of /proc/stat are hundredths of a second. */
const TICK_MS = 10;

/** @param {string} path */
const read = (path) => readFileSync(`/proc/${path}`, 'utf8');

/** The number behind a name, in files with one name a line. @param {string} text @param {string} name */
const numberOf = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);

/**
 * Of all threads since the process began: `cpuMs` on a processor, `queuedMs` runnable without one, `reads` system calls that read.
 * Times are exact, not ticks.
 * @param {number} pid
 */
export function readProcess(pid) {
  let [cpuMs, queuedMs] = [0, 0];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu = 0, queued = 0] = read(`${pid}/task/${thread}/schedstat`).split(' ').map(Number);
    cpuMs += onCpu / 1e6;
    queuedMs += queued / 1e6;
  }
  return { cpuMs, queuedMs, reads: numberOf(read(`${pid}/io`), 'syscr') };
}

/** Memory of a process in kB. @param {number} pid */
export const residentKb = (pid) => numberOf(read(`${pid}/status`), 'VmRSS');

/** All processors since the machine began: milliseconds of work, and of everything. Stolen time is work of others. */
export function readMachine() {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...others] =
    read('stat').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  const busy = others.reduce((sum, ticks) => sum + ticks, user + nice + system);
  return { busyMs: busy * TICK_MS, allMs: (busy + idle + waiting) * TICK_MS };
}

/** @param {readonly number[]} values @param {number} fraction */
export function quantile(values, fraction) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
