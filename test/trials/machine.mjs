// What the machine gives a trial that plays by the real clock.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

const MEASURED_MS = 1500;
/** More cores than any trial uses tell nothing more. */
const MOST_CORES = 8;
const SPIN = `
const { workerData } = require('node:worker_threads');
const until = performance.now() + workerData;
while (performance.now() < until);
`;

/** How many cores are free: the time that as many threads get as the machine has cores, each of which asks for all of one. */
export async function freeCores() {
  const threads = Math.min(availableParallelism(), MOST_CORES);
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    Array.from({ length: threads }, () => {
      const worker = new Worker(SPIN, { eval: true, workerData: MEASURED_MS });
      return new Promise((resolve) => worker.once('exit', resolve));
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - begun);
}
