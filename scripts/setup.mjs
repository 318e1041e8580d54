// Makes a fresh clone ready: installs packages, builds what is missing or out of date, and says what it does.
// Runs before anything is installed, so it uses nothing but Node's own modules.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Exit code of a check that could not be made here. Automake's test drivers have the same. */
export const SKIPPED = 77;

const OLDEST_NODE = [20, 19];

/** @param {string} text */
export function say(text) {
  process.stderr.write(`offhook: ${text}\n`);
}

/** Ends the process with one clear line. @param {string} text @returns {never} */
export function giveUp(text) {
  say(text);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  giveUp(`Node ${OLDEST_NODE.join('.')} or later is needed, this is ${process.versions.node}.`);
}

/** All files below a folder, sorted. @param {string} folder @param {string} [except] @returns {string[]} */
function filesBelow(folder, except) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (path === except) return [];
      return entry.isDirectory() ? filesBelow(path, except) : [path];
    })
    .sort();
}

/** SHA-256 over the names and contents of files. @param {string[]} files */
function digest(files) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/**
 * Runs a command in the project's folder. Its output is shown only when it fails, unless `show` is set.
 * @param {string} command @param {string[]} args @param {{ show?: boolean }} [options] @returns {Promise<void>}
 */
export function run(command, args, { show = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && command === 'npm',
    });
    /** @type {Buffer[]} */
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      process.stderr.write(Buffer.concat(output));
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}`));
    });
  });
}

/** @param {string[]} args */
function npm(args) {
  const own = process.env.npm_execpath;
  return own?.endsWith('.js') ? run(process.execPath, [own, ...args]) : run('npm', args);
}

/**
 * Another version of Node, which comes as a package.
 * @param {number} major @param {string} [arch] that of another processor can only be emulated @returns {Promise<string>} path of the program
 */
export async function nodeOfVersion(major, arch = process.arch) {
  const place = arch === process.arch ? `.node/${major}` : `.node/${major}-${arch}`;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${arch}`;
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  // npm refuses a package of another processor that is asked for by name.
  if (arch !== process.arch) options.push('--force');
  await npm(['install', ...options, '--prefix', place, `${name}@${major}`]);
  return join(root, place, 'node_modules', name, 'bin/node');
}

/**
 * One step of the set-up: skipped when the digest of its inputs is the one of its last success.
 * @typedef {{ title: string, stamp: string, inputs: () => string[], work: () => Promise<void> }} Step
 */

/** @type {Step[]} */
const STEPS = [
  {
    title: 'installing packages',
    stamp: 'node_modules/.offhook-installed',
    inputs: () => ['package-lock.json'],
    // Not `npm ci`, which begins with removing all that is there.
    work: () => npm(['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']),
  },
  {
    title: 'compiling the TypeScript',
    stamp: 'dist/.compiled',
    inputs: () => [
      ...filesBelow('src', 'src/dashboard/ui'),
      ...['tsconfig.json', 'scripts/tsconfig.build.json', 'package-lock.json'],
    ],
    work: async () => {
      // What no source makes any more must not stay behind.
      rmSync(join(root, 'dist'), { recursive: true, force: true });
      await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'scripts/tsconfig.build.json']);
      chmodSync(join(root, 'dist/cli.js'), 0o755);
    },
  },
  {
    title: 'building the dashboard page',
    stamp: 'dist/.page-built',
    inputs: () => [
      ...['src/dashboard/ui', 'src/contract', 'src/events'].flatMap((folder) => filesBelow(folder)),
      ...['scripts/build-dashboard.mjs', 'package-lock.json'],
    ],
    work: () => run(process.execPath, ['scripts/build-dashboard.mjs']),
  },
];

/** The native addon, which knows by itself whether it is fresh, comes last. */
const STEP_COUNT = STEPS.length + 1;

/** @param {Step} step @returns {boolean} */
function isFresh(step) {
  const stamp = join(root, step.stamp);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest(step.inputs());
}

/** Says every ten seconds that the work goes on. @param {string} text @param {() => Promise<void>} work */
async function withTicker(text, work) {
  const started = Date.now();
  const ticker = setInterval(() => say(`${text}, ${Math.round((Date.now() - started) / 1000)} s`), 10_000);
  try {
    await work();
  } finally {
    clearInterval(ticker);
  }
}

/** @param {Step} step @param {string} position */
async function perform(step, position) {
  const started = Date.now();
  const stamp = join(root, step.stamp);
  say(`${position} ${step.title} …`);
  rmSync(stamp, { force: true });
  try {
    await withTicker(`${position} still ${step.title}`, step.work);
  } catch (error) {
    giveUp(`${step.title} failed: ${error instanceof Error ? error.message : error}`);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest(step.inputs()));
  say(`${position} done in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/**
 * Builds the native addon beside this process, which does not wait for it: resolves as soon as it is known what there is to do. The build ends
 * with this process.
 * @param {string} position @returns {Promise<void>}
 */
export function buildBehind(position) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['scripts/build-native.mjs', '--behind', position], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      windowsHide: true,
    });
    // It must not keep this process from ending.
    child.unref();
    child.channel?.unref();
    // Without a build it is soon over; held until then.
    const held = setInterval(() => {}, 1000);
    const go = () => {
      clearInterval(held);
      resolve();
    };
    child.once('message', go);
    child.once('exit', go);
    child.once('error', go);
  });
}

/**
 * Installs and builds what is not there or not up to date. Ends the process when a step fails.
 * @param {{ nativeBehind?: boolean }} [options] `nativeBehind`: the addon is built beside this process, which goes on without it.
 */
export async function setUp({ nativeBehind = false } = {}) {
  checkNode();
  for (const [index, step] of STEPS.entries()) {
    const position = `[${index + 1}/${STEP_COUNT}]`;
    if (isFresh(step)) say(`${position} ${step.title}: up to date`);
    else await perform(step, position);
  }
  // Says by itself what it did; without Rust, or when it fails, the WASM transcoder does the work.
  const position = `[${STEP_COUNT}/${STEP_COUNT}]`;
  if (nativeBehind) return buildBehind(position);
  await withTicker(`${position} still building the native addon`, () =>
    run(process.execPath, ['scripts/build-native.mjs', position], { show: true }),
  );
}
