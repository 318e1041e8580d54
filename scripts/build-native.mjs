// Builds the Rust core as an addon for this machine, beside crates/transcoder-napi, where src/transcoder/native.ts looks.
// Without cargo there is nothing to do: the transcoder then uses WebAssembly. Needs Node's built-ins only.
// Arguments: the position among the steps of a set-up; `--strict`, with which a build that fails is a failure; and `--behind`, with which it
// gives way to the rest of the machine, says one line at its end, and ends with the process that started it.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** The platform's name as Node-API packages have it. */
function platformName() {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  if (platform !== 'linux') return `${platform}-${arch}`;
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (
    process.report?.getReport() ?? {}
  );
  return `linux-${arch}-${report.header?.glibcVersionRuntime ? 'gnu' : 'musl'}`;
}

/** Fingerprint of everything the addon is built from. */
function hashSources() {
  const hash = createHash('sha256');
  const files = ['Cargo.toml', 'Cargo.lock'];
  for (const crate of ['crates/transcoder', 'crates/transcoder-napi'])
    for (const path of readdirSync(`${root}/${crate}`, { recursive: true, encoding: 'utf8' }).sort())
      if (/^(src[\\/].*\.rs|build\.rs|Cargo\.toml)$/.test(path)) files.push(`${crate}/${path}`);
  for (const file of files) hash.update(file).update(readFileSync(`${root}/${file}`));
  return hash.digest('hex');
}

function libraryFile() {
  if (process.platform === 'win32') return 'transcoder_napi.dll';
  return process.platform === 'darwin' ? 'libtranscoder_napi.dylib' : 'libtranscoder_napi.so';
}

const output = `${root}/crates/transcoder-napi/offhook-transcoder.${platformName()}.node`;
const stamp = `${root}/target/transcoder-napi.sha256`;
const hash = hashSources();
const isBehind = process.argv.includes('--behind');
const position = process.argv.slice(2).find((argument) => argument.startsWith('['));
/** @param {string} text */
const say = (text) =>
  console.log(
    position === undefined ? `native addon: ${text}` : `offhook: ${position} native addon: ${text}`,
  );

/** Runs cargo to its end, and ends it with all its compilers when this process is to end. @returns {Promise<{ isBuilt: boolean, errors: string }>} */
function runCargo() {
  const args = ['build', '--locked', '--release', '--quiet', '-p', 'transcoder-napi'];
  // The environment is passed on but for another target folder: the result is looked for in this one.
  const env = { ...process.env, CARGO_TARGET_DIR: `${root}/target` };
  const isWindows = process.platform === 'win32';
  const cargo = spawn('cargo', args, {
    cwd: root,
    env,
    stdio: ['ignore', isBehind ? 'ignore' : 'inherit', isBehind ? 'pipe' : 'inherit'],
    // A group of its own, so that it can be ended as a whole.
    detached: !isWindows,
    windowsHide: true,
  });
  const stop = () => {
    if (cargo.pid !== undefined && cargo.exitCode === null) {
      if (isWindows) spawnSync('taskkill', ['/T', '/F', '/PID', String(cargo.pid)]);
      else process.kill(-cargo.pid, 'SIGTERM');
    }
    process.exit(1);
  };
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop);
  // Whoever builds behind something else holds a channel to it, which is gone when that is, however it went.
  process.on('disconnect', stop);
  return new Promise((resolve) => {
    let errors = '';
    cargo.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    cargo.on('error', (error) => resolve({ isBuilt: false, errors: `error: ${error.message}` }));
    cargo.on('close', (code) => resolve({ isBuilt: code === 0, errors }));
  });
}

/** Puts what cargo made where it is looked for. */
function install() {
  // A process may have the old file open: put the new one in its place, never into it.
  const fresh = `${output}.${process.pid}.new`;
  try {
    copyFileSync(`${root}/target/release/${libraryFile()}`, fresh);
    renameSync(fresh, output);
  } finally {
    rmSync(fresh, { force: true });
  }
  mkdirSync(`${root}/target`, { recursive: true });
  writeFileSync(stamp, hash);
}

async function build() {
  if (isBehind) setPriority(constants.priority.PRIORITY_LOW);
  else {
    say('building with cargo, once and for about a minute');
    say('it is optional, WebAssembly does the same work where there is none');
  }
  let { isBuilt, errors } = await runCargo();
  try {
    if (isBuilt) install();
  } catch (error) {
    isBuilt = false;
    errors = `error: ${error instanceof Error ? error.message : error}`;
  }
  if (isBuilt) say(isBehind ? 'built, the next start uses it' : 'built');
  else if (isBehind) {
    const reason = /^error.*$/m.exec(errors)?.[0] ?? 'cargo gave no reason';
    say(`the build failed, WebAssembly goes on doing its work; npm run build:native shows why (${reason})`);
  } else say('the build failed (see above); the transcoder uses WebAssembly');
  if (!isBuilt && process.argv.includes('--strict')) process.exitCode = 1;
}

if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) {
  say('up to date');
} else {
  // An addon of older sources is not to be used.
  try {
    rmSync(output, { force: true });
  } catch {
    // Windows keeps a file that is in use.
  }
  if (spawnSync('cargo', ['--version']).status !== 0) {
    say('not built, there is no cargo; the transcoder uses WebAssembly');
  } else {
    if (isBehind)
      say(
        'building it behind the demo, about a minute; this start runs on WebAssembly, the next one on the addon',
      );
    process.send?.('decided');
    await build();
  }
}
if (process.connected) process.disconnect();
