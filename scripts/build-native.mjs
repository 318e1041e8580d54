// Builds the Rust core as an addon for this machine, beside crates/transcoder-napi, where src/transcoder/native.ts looks.
// Without cargo there is nothing to do: the transcoder then uses WebAssembly. Needs Node's built-ins only.
// Arguments: the position among the steps of a set-up, and `--strict`, with which a build that fails is a failure.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
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
const position = process.argv.slice(2).find((argument) => argument.startsWith('['));
/** @param {string} text */
const say = (text) =>
  console.log(
    position === undefined ? `native addon: ${text}` : `offhook: ${position} native addon: ${text}`,
  );

if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) {
  say('up to date');
} else if (spawnSync('cargo', ['--version']).status !== 0) {
  say('not built, there is no cargo; the transcoder uses WebAssembly');
} else {
  say('building with cargo, once and for about a minute');
  say('it is optional, WebAssembly does the same work where there is none');
  try {
    const args = ['build', '--locked', '--release', '--quiet', '-p', 'transcoder-napi'];
    // The environment is passed on but for another target folder: the result is looked for in this one.
    const env = { ...process.env, CARGO_TARGET_DIR: `${root}/target` };
    execFileSync('cargo', args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    // A process may have the old file open: put the new one in its place, never into it.
    copyFileSync(`${root}/target/release/${libraryFile()}`, `${output}.new`);
    renameSync(`${output}.new`, output);
    mkdirSync(`${root}/target`, { recursive: true });
    writeFileSync(stamp, hash);
    say('built');
  } catch {
    say('the build failed (see above); the transcoder uses WebAssembly');
    if (process.argv.includes('--strict')) process.exitCode = 1;
  }
}
