// Measures candidates against each other in one process: in random order, round by round, so that whatever slows the
// machine slows all of them; medians are compared, and the ratio to the first candidate is what counts.

/** @typedef {{ name: string, task: () => unknown }} Candidate */
/** @typedef {{ name: string, nanoseconds: number, ratio: number }} Result */

const ROUNDS = 21;
const ROUND_MS = 8;

/** @param {() => unknown} task @param {number} times */
function time(task, times) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) task();
  return Number(process.hrtime.bigint() - start) / times;
}

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return /** @type {number} */ (sorted[sorted.length >> 1]);
}

/** Nanoseconds of one call of each candidate. @param {readonly Candidate[]} candidates @returns {Result[]} */
export function compare(candidates) {
  const runs = candidates.map(({ name, task }) => {
    // Long enough for the compiler to have made up its mind.
    time(task, 2000);
    const times = Math.max(10, Math.round((ROUND_MS * 1e6) / time(task, 2000)));
    return { name, task, times, samples: /** @type {number[]} */ ([]) };
  });
  for (let round = 0; round < ROUNDS; round++) {
    const order = runs.map((run) => ({ run, key: Math.random() })).sort((a, b) => a.key - b.key);
    for (const { run } of order) run.samples.push(time(run.task, run.times));
  }
  const [base = 1] = runs.map(({ samples }) => median(samples));
  return runs.map(({ name, samples }) => ({
    name,
    nanoseconds: median(samples),
    ratio: median(samples) / base,
  }));
}
