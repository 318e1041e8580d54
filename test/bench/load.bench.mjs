// What a frame, a call and a start cost beside a server on bare `ws` that does the least: processes of their own, round by round.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { KINDS, measureFrame } from './frame.bench.mjs';
import { MEASURE_MS, measure, measureStart } from './load/measure.mjs';
import { doubtsOf, PROOF_HEAD, RESULT_HEAD, toProofRows, toResultRows } from './load/report.mjs';
import { microsecondsOf, SCENARIOS } from './load/scenarios.mjs';
import { toTable } from './table.mjs';

/** @typedef {import('./load/scenarios.mjs').Round} Round */
/** @typedef {import('./load/scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./load/scenarios.mjs').ScenarioKey} ScenarioKey */
/** @typedef {import('./load/scenarios.mjs').Side} Side */

const ROUNDS = 5;
/** No round begins later than this: a machine that is so slow is not fit for more. */
const LONGEST_MS = 720_000;

/** Files and calls of a frame. */
async function countFrames() {
  const rows = [];
  for (const kind of [KINDS.realtime, KINDS.pipeline]) {
    const { files, calls } = await measureFrame(kind);
    rows.push([`${kind.name}: files, calls`, `${files}, ${calls.toFixed(1)}`, '', '', '']);
  }
  return rows;
}

/** Prints the tables and writes them to the folder; with `quick` one round is played, and only printed. @param {string[]} args */
export async function run(...args) {
  if (process.platform !== 'linux') throw new Error('The bench of the load reads /proc: it needs Linux.');
  const isQuick = args.includes('quick');
  const [folder = 'docs/bench'] = args.filter((argument) => argument !== 'quick');
  const count = isQuick ? 1 : ROUNDS;
  const started = Date.now();
  const loadBefore = loadavg()[0] ?? 0;
  const keys = /** @type {ScenarioKey[]} */ (Object.keys(SCENARIOS));
  /** @type {Record<ScenarioKey, Round[]>} */
  const rounds = { few: [], many: [], most: [], listener: [], talker: [] };
  const starts = [];
  for (let round = 0; round < count && Date.now() - started < LONGEST_MS; round += 1) {
    starts.push(await measureStart());
    for (const key of keys) {
      /** @type {Scenario} */
      const scenario = SCENARIOS[key];
      /** @type {Partial<Round>} */
      const measured = {};
      // Neither side has always the other one's heat behind it.
      const sides = /** @type {Side[]} */ (['ours', 'baseline']);
      for (const side of round % 2 === 0 ? sides : sides.toReversed())
        measured[side] = await measure(scenario, side);
      const { ours, baseline } = /** @type {Round} */ (measured);
      rounds[key].push({ ours, baseline });
      const [own, other] = [microsecondsOf(ours, scenario), microsecondsOf(baseline, scenario)];
      console.log(
        `round ${round + 1}: ${scenario.name}: ${own.toFixed(1)} µs, ${scenario.baseline} ${other.toFixed(1)} µs, ratio ${(own / other).toFixed(2)}`,
      );
    }
  }
  const doubts = new Map(keys.map((key) => [key, doubtsOf(SCENARIOS[key], rounds[key])]));
  const doubtful = new Set(keys.filter((key) => doubts.get(key)?.length !== 0));
  const frames = await countFrames();
  const texts = [
    toTable(RESULT_HEAD, [...toResultRows(rounds, starts, doubtful), ...frames], { numbersFrom: 1 }),
    doubtful.size === 0
      ? 'Load generator and machine were fit to judge.'
      : `Rows with (?) are **not to be trusted**:\n\n${[...doubtful].map((key) => `- ${SCENARIOS[key].name}: ${doubts.get(key)?.join('; ')}.`).join('\n')}`,
    toTable(
      PROOF_HEAD,
      keys.flatMap((key) => toProofRows(SCENARIOS[key], rounds[key])),
      { numbersFrom: 1 },
    ),
  ];
  console.log(`\n${texts.join('\n\n')}\n`);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  if (isQuick) {
    console.log(`${seconds} s; one round is for trying it out, and is not written anywhere`);
    return;
  }
  const [{ model = 'unknown' } = {}] = cpus();
  const head = [
    '# Bench of the load',
    `Written by \`npm run bench -- load\` on ${cpus().length} × ${model.trim()}, Node ${process.versions.node}. Load average before the run: ${loadBefore.toFixed(2)}. Figures are medians of ${starts.length} rounds of ${MEASURE_MS / 1000} s. Ratios and differences are taken within a round, and their medians need not be those of the figures beside them. They are what counts; the rest is particular to the machine.`,
    'A process plays carrier A with all its calls: each has a stream, on which a frame of 20 ms comes every 20 ms, and a mark is answered when what was before it has been played. Another one plays a realtime model, which says each piece of audio that it hears, and a voice, which gives each sentence as PCM of 24 kHz. Between them is what is measured, a fresh process each time: offhook by its public API, but that it takes every call, however busy it is, and then a **baseline** on bare `ws`.',
    [
      '- **relay**: carrier and realtime model, G.711 both ways; audio is cut out of the text and not parsed; a mark behind each piece, in one write with it. The answer to a mark is read, and nothing more.',
      '- **sink**: parses each frame and has offhook’s transcoder bring it to 16 kHz; sends nothing. Beside it a pipeline whose recognizer discards what it hears.',
      '- **speaker**: reads and drops the caller’s frames, takes 24 kHz PCM from memory, has offhook’s transcoder make mu-law of it, and sends it in real time by one timer, with a mark each second. Beside it a pipeline whose voice answers over HTTP, sentence by sentence; its callers are silent.',
    ].join('\n'),
    'CPU time, memory and system calls are what Linux counts for the process, threads and kernel included. Memory of a call is what the process holds more than before the calls. A frame that is sent as a tone is known when it comes back: that is the time there and back. The last rows count, while V8 counts calls, in how many files and how often functions of offhook are called for a frame of a silent caller.',
  ];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'load.md'), `${[...head, ...texts].join('\n\n')}\n`);
  console.log(`${seconds} s; tables: ${folder}`);
}
