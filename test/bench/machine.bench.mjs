// How many schedules of forty inputs and more a conversation plays in a second, on one thread.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import ts from 'typescript';

const SCHEDULES = 4000;
const STEPS = 40;
const GOAL = 2000;

/** The play of the tests, on the built machine. */
export async function loadPlay() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-machine-'));
  try {
    const built = new URL('../../dist/', import.meta.url).href;
    for (const name of ['acts', 'play']) {
      const source = readFileSync(new URL(`../conversation/${name}.ts`, import.meta.url), 'utf8');
      const { outputText } = ts.transpileModule(source.replaceAll('../../src/', built), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      writeFileSync(join(folder, `${name}.mjs`), outputText.replaceAll("'./acts.js'", "'./acts.mjs'"));
    }
    const load = (/** @type {string} */ name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
    return { ...(await load('acts')), ...(await load('play')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run() {
  const { ACTS, play } = await loadPlay();
  // A call that ends early is no schedule of forty inputs.
  const lasting = ACTS.filter(
    (/** @type {{ act: string }} */ { act }) => !['ends call', 'fail', 'process dies'].includes(act),
  );
  const schedules = fc.sample(fc.array(fc.constantFrom(...lasting), { minLength: 120, maxLength: 120 }), {
    numRuns: SCHEDULES,
    seed: 1,
  });
  const idle = { afterMs: 8000, prompts: ['Are you still there?', 'Hello?'], goodbye: 'Goodbye.' };
  const greeting = { text: 'Hello.', interruptible: true };
  const modes = [false, true].map((endsTurns) => ({
    isStored: false,
    policy: { interruptible: true, keysInterrupt: true, idle, endsTurns, transcribesCaller: endsTurns },
    greeting,
    fallbacks: 2,
  }));
  let steps = 0;
  let counted = 0;
  const startedAt = performance.now();
  for (const [index, acts] of schedules.entries()) {
    const played = play(acts, modes[index % 2], undefined, STEPS);
    if (played.broken.length > 0) throw new Error(played.broken.join('; '));
    steps += played.steps;
    if (played.steps >= STEPS) counted += 1;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = Math.round(counted / seconds);
  console.log(
    `${SCHEDULES} schedules of ${Math.round(steps / SCHEDULES)} steps on average (${counted} of 40 or more) in ${seconds.toFixed(2)} s`,
  );
  console.log(
    `${rate} schedules of 40 and more a second, ${Math.round(steps / seconds)} steps a second; the goal is ${GOAL} schedules`,
  );
  if (rate < GOAL) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run();
