// `npm run test:deep`: what takes longer than a change should wait for. Every part says how long it took; names select parts.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, nodeOfVersion, root, say, setUp, SKIPPED } from './setup.mjs';

/** No part takes half as long on a quiet machine. One that hangs is stopped, so that its log is read. */
const LONGEST_PART_MS = 50 * 60_000;
/** So many failures say enough: what waits in vain waits for minutes each time. */
const MOST_FAILURES = 12;
const VITEST = [
  ...['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'],
  `--bail=${MOST_FAILURES}`,
];
/** Tests that play more of something where all of it is wanted. */
const PLAYS_MORE = /support\/(depth|rotated|asking-modes)\.js'/;
/** Tests that nobody else plays. */
const ONLY_HERE = '.deep.test.ts';
const MATRIX = 'test/e2e/provider-trouble/';
/** By the real clock, over the real network. Other whole calls need a clock that nobody holds up: they are about single milliseconds. */
const REAL_TIME = [
  ...['carriers', 'conversation', 'fallback', 'realtime', 'tools'].map((name) => `test/e2e/${name}.test.ts`),
  'test/carriers/carrier-a/conformance.test.ts',
  'test/carriers/carrier-b/conformance.test.ts',
  'test/providers/whole-call.test.ts',
];

/** @type {Record<string, () => Promise<number>>} */
const parts = {
  matrix: () => vitest(process.execPath, filesThatPlayMore(), { TEST_DEPTH: 'deep' }),
  'real-time': () => vitest(process.execPath, REAL_TIME, { TEST_CLOCK: 'real', TEST_DEPTH: 'deep' }),
  'node-22': () => suiteOnNode(22, '1/2'),
  'node-24': () => suiteOnNode(24, '2/2'),
  'official-packages': () => run(process.execPath, ['scripts/conformance.mjs']),
  'python-client': () => run(process.execPath, ['scripts/python-client.mjs']),
};

const wanted = process.argv.slice(2);
for (const name of wanted)
  if (parts[name] === undefined) giveUp(`${name} is none of ${Object.keys(parts).join(', ')}`);

await setUp();
/** @type {string[]} */
const results = [];
for (const [name, play] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  say(`${name} ...`);
  const startedAt = performance.now();
  const code = await play();
  if (code !== 0 && code !== SKIPPED) process.exitCode = 1;
  const result = code === 0 ? 'passed' : code === SKIPPED ? 'SKIPPED' : 'FAILED';
  results.push(`${result} in ${Math.round((performance.now() - startedAt) / 1000)} s: ${name}`);
}
for (const result of results) say(result);

/** @param {string} command @param {string[]} args @param {Record<string, string>} [env] @returns {Promise<number>} */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
    const timer = setTimeout(() => {
      say(`stopped: it did not end within ${LONGEST_PART_MS / 60_000} minutes`);
      child.kill();
    }, LONGEST_PART_MS);
    const end = (/** @type {number | null} */ code) => {
      clearTimeout(timer);
      resolve(code ?? 1);
    };
    child.on('error', () => end(1));
    child.on('exit', end);
  });
}

/** @param {string} node @param {string[]} files @param {Record<string, string>} [env] */
function vitest(node, files, env) {
  return run(node, [...VITEST, ...files], env);
}

/** A half of `npm test` on another version of Node: each file is played on the oldest version, and on one of the others. @param {number} major @param {string} half */
async function suiteOnNode(major, half) {
  try {
    return await vitest(await nodeOfVersion(major), [`--shard=${half}`]);
  } catch (error) {
    say(String(error));
    return 1;
  }
}

function filesThatPlayMore() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((path) => `test/${path}`)
    .filter((path) => path.endsWith('.test.ts'))
    .filter(
      (path) =>
        path.startsWith(MATRIX) ||
        path.endsWith(ONLY_HERE) ||
        PLAYS_MORE.test(readFileSync(join(root, path), 'utf8')),
    );
}
