// `npm run release:pack`: the tarballs of a release in `release/`, the main one and one for each platform whose addon can be built here or
// lies beside crates/transcoder-napi already. What is missing is named with its reason. `--target NAME` makes one platform's tarball
// only, `--main` the main one only; both fail where they cannot. `--out FOLDER` puts them elsewhere.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import {
  toAddonFile,
  toPlatform,
  toPlatformManifest,
  toPlatformName,
  toPlatformReadme,
  toReleaseManifest,
  toTypes,
} from './release-packages.mjs';
import { giveUp, root, setUp } from './setup.mjs';

/** @typedef {import('./release-packages.mjs').Platform} Platform */

const { values } = parseArgs({
  options: { target: { type: 'string' }, main: { type: 'boolean' }, out: { type: 'string' } },
});
const output = resolve(root, values.out ?? 'release');
/** @type {import('./release-packages.mjs').Manifest} */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const ADDONS = join(root, 'crates/transcoder-napi');
/** Where `.ci/run` puts Zig, which links for every Linux: with the oldest C library that Node 20 runs on, or with musl. */
const OWN_PYTHON = join(root, '.node/zig/bin/python');
const OLDEST_GLIBC = '2.28';

/** npm, with or without a shell around it. @param {string[]} args @param {string} cwd */
function npm(args, cwd) {
  const own = process.env.npm_execpath;
  const [command, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  return execFileSync(command, [...first, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32' && command === 'npm',
  });
}

/** @param {string} command @param {string[]} args */
const answers = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

function hostTarget() {
  const { status, stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  return status === 0 ? /^host: (.*)$/m.exec(stdout)?.[1] : undefined;
}

/** The command that is Zig here, if there is one. @returns {string[] | undefined} */
function findZig() {
  const ways = [['zig'], [OWN_PYTHON, '-m', 'ziglang'], ['python3', '-m', 'ziglang']];
  return ways.find(([command = '', ...args]) => answers(command, [...args, 'version']));
}

/**
 * A program that links as rustc asks a C compiler to. Rust wants the unwinder of gcc, in whose place Zig has its own.
 * @param {Platform} platform @param {string[]} zig @param {string} folder @returns {string} its path
 */
function writeLinker({ target, libc }, zig, folder) {
  const [processor] = target.split('-', 1);
  const triple = `${processor}-linux-${libc === 'musl' ? 'musl' : `gnu.${OLDEST_GLIBC}`}`;
  const path = join(folder, `link-${target}`);
  const command = zig.map((word) => `'${word}'`).join(' ');
  writeFileSync(
    path,
    `#!/bin/sh
for word; do
  shift
  [ "$word" = -lgcc_s ] && word=-lunwind
  set -- "$@" "$word"
done
exec ${command} cc -target ${triple} "$@"
`,
    { mode: 0o755 },
  );
  return path;
}

/**
 * Builds the addon of a target into its place. Returns why not, where it cannot be.
 * @param {Platform} platform @param {string | undefined} host @param {string[] | undefined} zig @param {string} staging @returns {string | undefined}
 */
function build(platform, host, zig, staging) {
  const { target, os, libc } = platform;
  if (host === undefined) return 'there is no Rust';
  if (!host.includes(os === 'win32' ? 'windows' : os)) return `it needs a machine with ${os}`;
  const installed = spawnSync('rustc', ['--print', 'target-libdir', '--target', target], {
    encoding: 'utf8',
  });
  if (installed.status !== 0 || !existsSync(installed.stdout.trim()))
    return `the Rust target is not installed: rustup target add ${target}`;
  const isCrossed = os === 'linux' && zig !== undefined;
  if (target !== host && os === 'linux' && !isCrossed)
    return 'there is no Zig to link it: pip install ziglang==0.13.0';
  const variable = target.toUpperCase().replaceAll('-', '_');
  const env = {
    ...process.env,
    CARGO_TARGET_DIR: join(root, 'target'),
    ...(isCrossed && { [`CARGO_TARGET_${variable}_LINKER`]: writeLinker(platform, zig, staging) }),
    // A shared library cannot hold a C library of its own beside Node's.
    ...(libc === 'musl' && { [`CARGO_TARGET_${variable}_RUSTFLAGS`]: '-C target-feature=-crt-static' }),
  };
  const args = ['build', '--locked', '--release', '--quiet', '-p', 'transcoder-napi', '--target', target];
  if (spawnSync('cargo', args, { cwd: root, env, stdio: ['ignore', 2, 2] }).status !== 0)
    return 'cargo failed, see above';
  const library = { win32: 'transcoder_napi.dll', darwin: 'libtranscoder_napi.dylib' }[os];
  const built = join(root, 'target', target, 'release', library ?? 'libtranscoder_napi.so');
  const place = join(ADDONS, toAddonFile(manifest, platform));
  // A process may have the old file open: the new one is put in its place, never into it.
  copyFileSync(built, `${place}.new`);
  renameSync(`${place}.new`, place);
  return undefined;
}

/** Licenses of the crates that are linked into an addon. @param {Platform} platform */
function noticesOfCrates({ target }) {
  /** @param {...string} args */
  const cargo = (...args) =>
    execFileSync('cargo', [...args, '--locked'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const tree = cargo(
    ...['tree', '--quiet', '-p', 'transcoder-napi', '--target', target, '--edges', 'normal,no-proc-macro'],
    ...['--prefix', 'none', '--format', '{p}'],
  );
  const linked = new Set(tree.split('\n').map((line) => line.split(' ', 2).join(' ')));
  /** @type {{ packages: { name: string, version: string, source: string | null, license: string, authors: string[], manifest_path: string }[] }} */
  const { packages } = JSON.parse(cargo('metadata', '--format-version', '1', '--filter-platform', target));
  return packages
    .filter(({ name, version, source }) => source !== null && linked.has(`${name} v${version}`))
    .map(({ name, version, license, authors, manifest_path }) => {
      const folder = dirname(manifest_path);
      const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying)/i.test(file));
      const file = files.find((each) => /mit/i.test(each)) ?? files[0];
      if (file === undefined && license !== 'MIT') throw new Error(`${name} has no license file`);
      // Some crates only name MIT: its words are those of ours, for their authors.
      const text =
        file === undefined
          ? readFileSync(join(root, 'LICENSE'), 'utf8').replace(
              /^Copyright.*$/m,
              `Copyright (c) ${authors.join(', ')}`,
            )
          : readFileSync(join(folder, file), 'utf8');
      return `\n## ${name} ${version}\n\n${license}\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`;
    })
    .join('');
}

/** @param {string} folder whose tarball goes to the output @returns {string} its name */
function pack(folder) {
  const [{ filename }] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', output], folder),
  );
  return filename;
}

/** @param {Platform} platform @param {string} staging */
function packPlatform(platform, staging) {
  const folder = join(staging, platform.platform);
  mkdirSync(folder);
  const file = toAddonFile(manifest, platform);
  copyFileSync(join(ADDONS, file), join(folder, file));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const notices = readFileSync(join(root, 'NOTICE.md'), 'utf8') + noticesOfCrates(platform);
  writeFileSync(join(folder, 'NOTICE.md'), notices);
  writeFileSync(join(folder, 'README.md'), toPlatformReadme(manifest, platform));
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify(toPlatformManifest(manifest, platform), null, 2)}\n`,
  );
  return pack(folder);
}

/** A script as a user needs it: what its comments say of what is exported stands in the declarations. @param {string} path */
function withoutComments(path) {
  const compilerOptions = {
    removeComments: true,
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ESNext,
  };
  return ts.transpileModule(readFileSync(join(root, path), 'utf8'), { fileName: path, compilerOptions })
    .outputText;
}

/** Declarations that can be reached from an entry point: nobody else's can be imported. */
function reachableDeclarations() {
  const found = new Set(toTypes(manifest).map(normalize));
  // A set is walked through to what is added meanwhile.
  for (const path of found) {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, path), 'utf8'));
    for (const { fileName } of importedFiles)
      if (fileName.startsWith('.')) found.add(join(dirname(path), fileName.replace(/\.(m?)js$/, '.d.$1ts')));
  }
  return found;
}

/** @param {string} staging */
function packMain(staging) {
  const [{ files }] = JSON.parse(npm(['pack', '--json', '--dry-run', '--ignore-scripts'], root));
  const folder = join(staging, 'main');
  const declarations = reachableDeclarations();
  for (const { path } of files) {
    if (/^dist\/.*\.d\.m?ts$/.test(path) && !declarations.has(normalize(path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (/^dist\/.*\.js$/.test(path)) writeFileSync(join(folder, path), withoutComments(path));
    else cpSync(join(root, path), join(folder, path));
  }
  for (const path of Object.values(manifest.bin)) chmodSync(join(folder, path), 0o755);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(toReleaseManifest(manifest), null, 2)}\n`);
  return pack(folder);
}

const platforms = manifest.napi.targets.map(toPlatform);
const wanted = platforms.filter(({ target }) => values.target === undefined || target === values.target);
if (wanted.length === 0) giveUp(`${values.target} is none of ${manifest.napi.targets.join(', ')}`);

await setUp();
const staging = mkdtempSync(join(tmpdir(), 'offhook-release-'));
try {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  if (values.target === undefined) console.log(`packed   ${manifest.name}: ${packMain(staging)}`);
  const [host, zig] = [hostTarget(), findZig()];
  for (const platform of values.main ? [] : wanted) {
    const name = toPlatformName(manifest, platform);
    // The set-up has just made this machine's own from today's sources. Any other file there could be of older ones.
    const isMade = platform.target === host && existsSync(join(ADDONS, toAddonFile(manifest, platform)));
    const isEnough = isMade && (platform.os !== 'linux' || zig === undefined);
    const reason = isEnough ? undefined : build(platform, host, zig, staging);
    if (reason === undefined) console.log(`packed   ${name}: ${packPlatform(platform, staging)}`);
    else {
      console.log(`not here ${name}: ${reason}`);
      if (values.target !== undefined) process.exitCode = 1;
    }
  }
} finally {
  rmSync(staging, { recursive: true, force: true });
}
