// Who speaks when, on bad lines: the real engine on a clock as fast as the processor, with synthetic callers over noises.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toTable } from './table.mjs';
import { playCall } from './turn-taking/call.mjs';
import { makeNoises, openVoice } from './turn-taking/sounds.mjs';

const LEVELS_DBFS = [-10, -20, -30];
const SNRS_DB = [5, 10, 15, 25];

/** @typedef {import('./turn-taking/call.mjs').Outcome} Outcome */

/** What the bench needs of a built package. @param {string} folder */
async function load(folder) {
  const at = `${pathToFileURL(resolve(folder)).href}/`;
  /** @param {string} path */
  const from = (path) => import(`${at}${path}`);
  const { loadTranscoder } = await from('transcoder/select.js');
  return {
    at,
    backend: loadTranscoder('javascript'),
    ...(await from('engines/pipeline/recipe.js')),
    ...(await from('audio/pacer.js')),
    ...(await from('audio/converter.js')),
    ...(await from('audio/format.js')),
    ...(await from('base/log.js')),
    ...(await from('base/meters.js')),
  };
}

/** @param {readonly Outcome[]} outcomes */
function summed(outcomes) {
  const sum = (/** @type {(outcome: Outcome) => number} */ of) =>
    outcomes.reduce((all, outcome) => all + of(outcome), 0);
  const turns = sum(({ turns: count }) => count);
  const waits = outcomes.flatMap(({ waitsMs }) => waitsMs);
  const stops = outcomes.flatMap(({ stopsMs }) => stopsMs);
  const stopped = stops.filter((ms) => !Number.isNaN(ms));
  return {
    cutIns: (100 * sum(({ cutIns }) => cutIns)) / turns,
    unanswered: `${sum(({ unanswered }) => unanswered)} of ${turns}`,
    perMinute: sum(({ falseInterruptions }) => falseInterruptions) / (sum(({ agentMs }) => agentMs) / 60_000),
    waitMs: quantile(waits, 0.5),
    stopMs: quantile(stopped, 0.5),
    slowStopMs: quantile(stopped, 0.9),
    wentOn: `${stops.length - stopped.length} of ${stops.length}`,
  };
}

/** @param {readonly number[]} values @param {number} share */
function quantile(values, share) {
  const at = Math.min(values.length - 1, Math.floor(values.length * share));
  return values.toSorted((a, b) => a - b)[at] ?? Number.NaN;
}

const HEAD = [
  'cut-ins per 100 turns',
  'unanswered',
  'false interruptions per minute',
  'median wait, ms',
  'silent after, ms',
  'nine of ten, ms',
  'went on',
];

/** @param {readonly (readonly Outcome[])[]} columns */
function cells(columns) {
  const ms = (/** @type {number} */ value) => (Number.isNaN(value) ? '-' : value.toFixed(0));
  const rows = columns
    .map(summed)
    .map((of) => [
      of.cutIns.toFixed(0),
      of.unanswered,
      of.perMinute.toFixed(1),
      ms(of.waitMs),
      ms(of.stopMs),
      ms(of.slowStopMs),
      of.wentOn,
    ]);
  return HEAD.map((_, index) => rows.map((row) => row[index]).join(' → '));
}

/** Prints the tables, and writes them to `folder`. `before`: the dist of another build, whose figures stand before those of this one. @param {string} [folder] @param {string} [before] */
export async function run(folder = 'docs/bench', before = '') {
  const builds = await Promise.all([...(before === '' ? [] : [before]), 'dist'].map(load));
  const { name, speak } = await openVoice(builds.at(-1)?.at ?? '');
  const noises = makeNoises(speak);
  /** @type {{ noise: string, levelDbfs: number, snrDb: number, outcomes: Outcome[] }[]} */
  const measured = [];
  for (const noise of Object.keys(noises))
    for (const levelDbfs of LEVELS_DBFS)
      for (const snrDb of noise === 'no noise' ? [25] : SNRS_DB) {
        const outcomes = [];
        for (const modules of builds) {
          const line = { modules, speak, noise, sound: noises[noise], levelDbfs, snrDb };
          const { stopsMs } = await playCall({ ...line, talksOver: true });
          outcomes.push({ ...(await playCall(line)), stopsMs });
        }
        measured.push({ noise, levelDbfs, snrDb, outcomes });
      }
  /** @param {(each: typeof measured[number]) => string} of */
  const table = (of, /** @type {string} */ head) => {
    const groups = [...new Set(measured.map(of))];
    const rows = groups.map((group) => {
      const members = measured.filter((each) => of(each) === group);
      return [
        group,
        ...cells(builds.map((_, index) => members.flatMap(({ outcomes }) => outcomes[index] ?? []))),
      ];
    });
    return toTable([head, ...HEAD], rows, { numbersFrom: 1 });
  };
  const compared = before === '' ? '' : ' Left of the arrow is the build that it is compared with.';
  const texts = [
    '# Bench of turn-taking',
    `Written by \`npm run bench -- turn-taking\`: the real engine on a clock as fast as the processor, callers spoken by ${name} in a telephone’s band at -10, -20 and -30 dBFS, each noise 5, 10, 15 and 25 dB below them for the whole call; five turns a line, a stand-in recognizer that writes each word 250 ms after it was said and no noise, a model of 250 ms and a voice of 120 ms. For \`loss\` the columns of the ratio are 20, 10, 5 and 2 % of lost frames. A turn is unanswered when nothing is heard within 7 s. An interruption is false when the agent falls silent though the caller says nothing; its minutes are those of the agent’s speech. In a second call of each line the caller talks over the greeting and over every answer: “silent after” is the time from their first sound to the agent’s silence, in the median and in nine of ten; where it did not fall silent, it “went on”; what a noise had silenced before is not counted. What is left: one voice, such as a television’s, 5 dB below a caller at -10 dBFS is as loud as the caller and pauses the agent once. Words that a recognizer writes of such a voice stop the agent at any level, by design; the stand-in writes none.${compared}`,
    table(({ noise }) => noise, 'noise'),
    table(({ levelDbfs }) => `${levelDbfs} dBFS`, 'speech'),
    table(({ noise, snrDb }) => (noise === 'no noise' ? noise : `${snrDb} dB`), 'speech over noise'),
    '## Every line',
    table(({ noise, levelDbfs, snrDb }) => `${noise}, ${levelDbfs} dBFS, ${snrDb} dB`, 'line'),
  ];
  console.log(texts.join('\n\n'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'turn-taking.md'), `${texts.join('\n\n')}\n`);
}
