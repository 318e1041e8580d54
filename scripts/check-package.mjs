// Packs the package, installs it in an empty folder as a user would, and checks what arrives there.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root, setUp } from './setup.mjs';

const MAX_PACKAGES = 110;
const MAX_BYTES = 30e6;
const MAX_PACKED = 1.5e6;

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

await setUp();
const folder = mkdtempSync(join(tmpdir(), 'offhook-package-'));
try {
  output('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  output('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`], folder);

  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).filter((path) => existsSync(join(folder, path)) && path !== '');
  demand(packages.length <= MAX_PACKAGES, `${packages.length} packages, at most ${MAX_PACKAGES}`);
  const bytes = bytesBelow(join(folder, 'node_modules'));
  demand(bytes <= MAX_BYTES, `${(bytes / 1e6).toFixed(1)} MB installed, at most ${MAX_BYTES / 1e6} MB`);

  const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/offhook/package.json'), 'utf8'));
  const scripts = ['preinstall', 'install', 'postinstall'].filter((name) => name in manifest.scripts);
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
  const packed = statSync(join(folder, tarball)).size;
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
  demand(
    existsSync(join(folder, 'node_modules/offhook/dist/dashboard/page.html')),
    'the page is in the package',
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
