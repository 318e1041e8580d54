// Every package that a user's `npm install` brings, and every crate that is linked into the addon or the WASM module, has a licence that
// lets them ship it. Prints what was counted; ends with 1 where a licence is missing or unknown.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const ALLOWED = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'Zlib', 'Unlicense'],
  ...['BlueOak-1.0.0', 'CC0-1.0', 'Unicode-3.0', 'Apache-2.0 WITH LLVM-exception'],
]);

/** True for an SPDX expression that can be met by allowed licences alone. @param {string} expression @returns {boolean} */
function isAllowed(expression) {
  // From the innermost parentheses outwards, each replaced by what it comes to.
  const inner = /\(([^()]*)\)/.exec(expression);
  if (inner !== null)
    return isAllowed(expression.replace(inner[0], isAllowed(inner[1] ?? '') ? 'MIT' : 'not allowed'));
  return expression
    .split(/ OR |\//)
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())));
}

/** @typedef {{ name: string, licence: string }} Entry */

/** @returns {Entry[]} */
function npmEntries() {
  /** @type {{ packages: Record<string, { dev?: boolean, devOptional?: boolean, optional?: boolean, peer?: boolean, version?: string }> }} */
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages).flatMap(([path, { dev, devOptional, optional, version }]) => {
    if (path === '' || dev || devOptional) return [];
    const manifest = join(root, path, 'package.json');
    // Optional packages are those of other platforms.
    if (!existsSync(manifest)) return optional ? [] : [{ name: path, licence: 'not installed' }];
    const { name, license } = JSON.parse(readFileSync(manifest, 'utf8'));
    const licence = typeof license === 'string' ? license : (license?.type ?? 'none');
    return [{ name: `${name} ${version}`, licence }];
  });
}

/** @returns {Entry[]} */
function crateEntries() {
  const flags = [
    '-p',
    'transcoder-napi',
    '-p',
    'transcoder-wasm',
    '--edges',
    'normal',
    '--prefix',
    'none',
    '--format',
    '{p}|{l}',
    '--locked',
  ];
  const lines = execFileSync('cargo', ['tree', '--quiet', ...flags], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const entries = lines.filter(Boolean).map((line) => {
    const [name = '', licence = ''] = line.replace(' (*)', '').split('|');
    return { name: name.replace(/ \(.*\)$/, ''), licence: licence || 'none' };
  });
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

const entries = { packages: npmEntries(), crates: crateEntries() };
/** @type {Entry[]} */
const refused = [];
for (const [kind, list] of Object.entries(entries)) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { licence } of list) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const shown = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([licence, count]) => `${count} ${licence}`);
  console.log(`${list.length} ${kind}: ${shown.join(', ')}`);
  refused.push(...list.filter(({ licence }) => !isAllowed(licence)));
}
for (const { name, licence } of refused) console.error(`not allowed: ${name} (${licence})`);
if (refused.length > 0 || entries.packages.length === 0 || entries.crates.length === 0) process.exit(1);
