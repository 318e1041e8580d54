// Packs the package, installs it in an empty folder as a user would, and checks what arrives there.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, setUp } from './setup.mjs';

const MAX_PACKAGES = 110;
const MAX_BYTES = 30e6;

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
