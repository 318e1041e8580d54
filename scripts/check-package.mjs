// Packs a release, installs it in empty folders as users would, and checks what arrives there, and which backend works there with which Node.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { nodeOfVersion, root, say } from './setup.mjs';

const MAX_PACKAGES = 90;
const MAX_BYTES = 22e6;
const MAX_PACKED = 1.42e6;

/** @param {string} folder @returns {number} */
function bytesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(path) : entry.isFile() ? statSync(path).size : 0);
  }, 0);
}

/** @param {string} command @param {string[]} args @param {string} cwd */
function output(command, args, cwd) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** @param {boolean} condition @param {string} sentence */
function demand(condition, sentence) {
  if (!condition) throw new Error(sentence);
  console.log(`ok  ${sentence}`);
}

/** Pages of the package, and where each of their relative links leads. @param {string} folder @returns {{ page: string, target: string }[]} */
function linksBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    .flatMap((page) => {
      const links = readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)]*\)/g);
      return [...links]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => ({ page, target: join(folder, dirname(page), target) }));
    });
}

/** What a strict program that imports every entry is told by the compiler, with the types of Node and of nothing else. @param {string} folder @param {string[]} names @param {'nodenext' | 'bundler'} resolution */
function complaintsOfTypes(folder, names, resolution) {
  const file = join(folder, `${resolution}.mts`);
  writeFileSync(file, names.map((name, index) => `export * as e${index} from '${name}';\n`).join(''));
  const program = ts.createProgram([file], {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    module: resolution === 'nodenext' ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution:
      resolution === 'nodenext' ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler,
    types: ['node'],
    typeRoots: [join(folder, 'node_modules/@types')],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${file?.fileName ?? ''} ${text}`;
  });
}

/** Prints the backend and the sum of a second of sine that went through everything that transcodes. */
const SINE = `
  import { createHash } from 'node:crypto';
  import { transcoder } from 'offhook/transcoder';
  const sine = Int16Array.from({ length: 8000 }, (_, index) => Math.round(12000 * Math.sin(index * 0.345)));
  const sum = createHash('sha256');
  const add = (result) => sum.update(Buffer.from(result.buffer, result.byteOffset, result.byteLength));
  add(transcoder.mulawDecode(transcoder.mulawEncode(sine)));
  add(transcoder.alawDecode(transcoder.alawEncode(sine)));
  for (const [from, to] of [[8000, 16000], [8000, 24000], [16000, 8000], [24000, 8000]]) {
    const resampler = transcoder.createResampler(from, to);
    add(resampler.process(sine));
    add(resampler.flush());
    resampler.free();
  }
  console.log(transcoder.name, sum.digest('hex'));`;

/**
 * An empty project with the tarballs in it. It names the addons of all platforms as a published package does, and npm chooses.
 * @param {string} tarball @param {readonly string[]} addons @param {string[]} args of `npm install`
 */
function install(tarball, addons, ...args) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-package-'));
  folders.push(folder);
  const optionalDependencies = Object.fromEntries(
    addons.map((path) => [basename(path).replace(/^offhook-(.*)-\d.*$/, '@offhook/$1'), `file:${path}`]),
  );
  const manifest = { private: true, type: 'module', optionalDependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  output(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...args, tarball],
    folder,
  );
  return folder;
}

/** @param {string} command */
const answers = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/**
 * Without it no addon can be built for a target, whatever else is installed: rustup has to be able to download it.
 * @param {string} target
 */
function hasRustTarget(target) {
  const asked = spawnSync('rustc', ['--print', 'target-libdir', '--target', target], { encoding: 'utf8' });
  return asked.status === 0 && existsSync(asked.stdout.trim());
}

/**
 * What is not checked; where everything must be proved that can be had, that is a failure.
 * @param {string} what @param {{ canBeHad?: boolean }} [options]
 */
function missing(what, { canBeHad = true } = {}) {
  if (process.env.CI === 'true' && canBeHad) throw new Error(`There is no ${what}.`);
  say(`SKIPPED: there is no ${what}`);
}

/**
 * Nobody here has a Node on musl to load these addons. So it is only checked that musl has everything they need beside Node-API.
 * @param {string} packages @param {string[]} tarballs
 */
function checkMusl(packages, tarballs) {
  const MUSL = '/lib/x86_64-linux-musl/libc.so';
  const built = tarballs.filter((name) => name.includes('-musl-'));
  if (!existsSync(MUSL) || !answers('nm') || built.length === 0)
    return missing('musl, nm, or an addon for musl', {
      canBeHad: hasRustTarget('x86_64-unknown-linux-musl'),
    });
  /** @param {string[]} args */
  const symbols = (...args) =>
    output('nm', ['-D', ...args], packages)
      .split('\n')
      .map((line) => line.trim().split(' '));
  const has = new Set(symbols('--defined-only', MUSL).map((words) => words.at(-1)));
  for (const name of built) {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-musl-'));
    folders.push(folder);
    output('tar', ['-xzf', join(packages, name)], folder);
    const file = readdirSync(join(folder, 'package')).find((each) => each.endsWith('.node')) ?? 'no addon';
    const lacking = symbols('--undefined-only', join(folder, 'package', file))
      .filter(([kind, symbol]) => kind === 'U' && !symbol?.startsWith('napi_') && !has.has(symbol))
      .map(([, symbol]) => symbol);
    demand(lacking.length === 0, `musl has what ${file} needs${lacking.map((each) => `\n${each}`).join('')}`);
  }
}

/** @type {string[]} */
const folders = [];
try {
  const packages = mkdtempSync(join(tmpdir(), 'offhook-packages-'));
  folders.push(packages);
  process.stdout.write(output(process.execPath, ['scripts/release-pack.mjs', '--out', packages], root));
  const tarballs = readdirSync(packages);
  const tarball = join(packages, tarballs.find((name) => /^offhook-\d/.test(name)) ?? 'no main tarball');
  const addons = tarballs.map((name) => join(packages, name)).filter((path) => path !== tarball);
  const folder = install(tarball, addons);
  const bare = install(tarball, addons, '--omit=optional');
  /** @param {string} place */
  const chosenIn = (place) => {
    const scope = join(place, 'node_modules/@offhook');
    return existsSync(scope) ? readdirSync(scope) : [];
  };
  demand(
    chosenIn(folder).length <= 1,
    `npm chooses ${chosenIn(folder)[0] ?? 'none'} of ${addons.length} addons`,
  );
  demand(chosenIn(bare).length === 0, 'npm chooses no addon with --omit=optional');

  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const paths = Object.keys(lock.packages).filter((path) => existsSync(join(folder, path)) && path !== '');
  demand(paths.length <= MAX_PACKAGES, `${paths.length} packages, at most ${MAX_PACKAGES}`);
  const bytes = bytesBelow(join(folder, 'node_modules'));
  demand(bytes <= MAX_BYTES, `${(bytes / 1e6).toFixed(1)} MB installed, at most ${MAX_BYTES / 1e6} MB`);

  const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/offhook/package.json'), 'utf8'));
  const scripts = ['preinstall', 'install', 'postinstall'].filter((name) => name in (manifest.scripts ?? {}));
  demand(scripts.length === 0, 'no install script');
  for (const path of Object.keys(manifest.exports)) {
    if (path.endsWith('.json')) continue;
    const name = `offhook${path.slice(1)}`;
    const names = output(
      process.execPath,
      ['--input-type=module', '-e', `console.log(Object.keys(await import('${name}')).length)`],
      folder,
    );
    demand(Number(names) > 0, `${name} exports ${names.trim()} names`);
    const required = output(
      process.execPath,
      ['--input-type=commonjs', '-e', `console.log(Object.keys(require('${name}')).length)`],
      folder,
    );
    // Newer Nodes add the name `module.exports` to what require makes of a module.
    demand(Number(required) >= Number(names), `${name} can be required`);
  }
  const installed = join(folder, 'node_modules/offhook');
  const packed = statSync(tarball).size;
  demand(packed <= MAX_PACKED, `${Math.round(packed / 1e3)} kB packed, at most ${MAX_PACKED / 1e3} kB`);
  const links = linksBelow(installed);
  const dead = links
    .filter(({ target }) => !existsSync(target))
    .map(({ page, target }) => `${page}: ${target}`);
  demand(
    dead.length === 0,
    `${links.length} links of its pages lead somewhere${dead.map((link) => `\n${link}`).join('')}`,
  );

  for (const name of ['@types/node', 'undici-types']) {
    cpSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
  const entries = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
  for (const resolution of /** @type {const} */ (['nodenext', 'bundler'])) {
    const names = entries.map((path) => `offhook${path.slice(1)}`);
    const complaints = complaintsOfTypes(folder, names, resolution);
    demand(
      complaints.length === 0,
      `its types stand alone (${resolution})${complaints.map((line) => `\n${line}`).join('')}`,
    );
  }
  const bin = join(folder, 'node_modules/.bin/offhook');
  demand(output(bin, ['--version'], folder).trim() === manifest.version, 'offhook --version');
  output(bin, ['init', 'made', '--yes'], folder);
  const made = join(folder, 'made');
  output('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'], made);
  demand(
    !lstatSync(join(made, 'node_modules/offhook')).isSymbolicLink(),
    'a project of offhook init is installed from the tarball',
  );
  demand(/^(#|ℹ) pass 1$/m.test(output('npm', ['test'], made)), 'its test passes');
  demand(
    existsSync(join(folder, 'node_modules/offhook/dist/dashboard/page.html')),
    'the page is in the package',
  );

  /** @type {[string, string][]} */
  const nodes = [[process.version, process.execPath]];
  for (const major of [22, 24]) nodes.push([`v${major}`, await nodeOfVersion(major)]);
  const sums = new Set();
  for (const [version, node] of nodes) {
    for (const [place, backend, flags] of /** @type {[string, string, string[]][]} */ ([
      [folder, 'native', []],
      [bare, 'wasm', []],
      [bare, 'javascript', ['--jitless']], // without a compiler there is no WebAssembly
    ])) {
      if (backend === 'native' && addons.length === 0) {
        missing('addon, since none could be built here');
        continue;
      }
      const [chosen, sum] = output(node, [...flags, '--input-type=module', '-e', SINE], place).split(/\s/);
      demand(chosen === backend, `${chosen} is chosen by Node ${version}`);
      sums.add(sum);
    }
    const count = output(
      node,
      ['--input-type=module', '-e', "console.log(Object.keys(await import('offhook')).length)"],
      folder,
    );
    demand(Number(count) > 0, `offhook can be imported by Node ${version}`);
  }
  checkMusl(packages, tarballs);
  if (!answers('qemu-aarch64'))
    missing('qemu-aarch64 and the C library of arm64, to run the addon for arm64');
  else if (!tarballs.some((name) => name.includes('linux-arm64-gnu')))
    missing('an addon for arm64', { canBeHad: hasRustTarget('aarch64-unknown-linux-gnu') });
  else {
    const node = await nodeOfVersion(22, 'arm64');
    const place = install(tarball, addons, '--cpu=arm64', '--os=linux', '--libc=glibc');
    demand(
      chosenIn(place)[0] === 'transcoder-linux-arm64-gnu',
      `npm chooses ${chosenIn(place)[0]} for arm64`,
    );
    const emulated = ['-L', '/usr/aarch64-linux-gnu', node, '--input-type=module', '-e', SINE];
    const [chosen, sum] = output('qemu-aarch64', emulated, place).split(/\s/);
    demand(chosen === 'native', `${chosen} is chosen on arm64`);
    sums.add(sum);
  }
  demand(sums.size === 1, 'all of them make the same bytes');
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
