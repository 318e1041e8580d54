// Generates a Python client from the OpenAPI document and tries it: `npm run test:deep -- python-client`. The generator comes from the package
// index into an environment of its own. Where Python or the index is missing, nothing is tried, which standard error says; with CI=true that
// is a failure.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, say, setUp, SKIPPED } from './setup.mjs';

const FOLDER = 'test/clients/python';
const REQUIREMENTS = join(root, FOLDER, 'requirements.txt');
const ENVIRONMENT = join(root, '.node/python-client');
const PROGRAMS = join(ENVIRONMENT, process.platform === 'win32' ? 'Scripts' : 'bin');
const INSTALLED = join(ENVIRONMENT, 'installed');
/** The most that the making of the environment, or the index, may take. */
const PATIENCE_MS = 300_000;

/** Why it failed, undefined where it did not. @param {string} program @param {string[]} args */
function complaintOf(program, args) {
  const { error, status, signal, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  if (status === 0) return undefined;
  if (signal !== null) return `${program} did not end within ${PATIENCE_MS / 1000} s`;
  return error?.message ?? stderr.trim().split('\n').slice(-3).join('\n');
}

/** Makes the environment unless it is there. @returns {string | undefined} why there is none */
function makeEnvironment() {
  const python = process.platform === 'win32' ? 'python' : 'python3';
  const wanted = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === wanted) return undefined;
  rmSync(ENVIRONMENT, { recursive: true, force: true });
  say('installing the generator of Python clients …');
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  // Nothing is built, so nothing of a package runs as it is installed.
  const limits = ['--only-binary', ':all:', '--timeout', '20', '--retries', '2'];
  const complaint =
    complaintOf(python, ['-m', 'venv', ENVIRONMENT]) ??
    complaintOf(join(PROGRAMS, 'python'), [...install, ...limits, '--requirement', REQUIREMENTS]);
  if (complaint === undefined) writeFileSync(INSTALLED, wanted);
  return complaint;
}

await setUp();
const complaint = makeEnvironment();
if (complaint === undefined) {
  process.env.TEST_PYTHON = PROGRAMS;
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', `${FOLDER}/vitest.config.ts`];
  await run(process.execPath, vitest, { show: true }).catch(() => process.exit(1));
} else {
  say(
    `${process.env.CI === 'true' ? 'FAILED' : 'SKIPPED'}: no Python client is tried. It needs Python 3.11 with venv, and the package index.`,
  );
  say(complaint);
  process.exitCode = process.env.CI === 'true' ? 1 : SKIPPED;
}
