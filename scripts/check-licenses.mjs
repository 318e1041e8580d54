// Every package that a user's `npm install` brings, and every crate that is linked into the addon or the WASM module, has a license that
// lets them ship it. Prints what was counted; ends with 1 where a license is missing or unknown.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const ALLOWED = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'Zlib', 'Unlicense'],
  ...['BlueOak-1.0.0', 'CC0-1.0', 'Unicode-3.0', 'Apache-2.0 WITH LLVM-exception'],
]);

/** True for an SPDX expression that can be met by allowed licenses alone. @param {string} expression @returns {boolean} */
function isAllowed(expression) {
  // From the innermost parentheses outwards, each replaced by what it comes to.
  const inner = /\(([^()]*)\)/.exec(expression);
  if (inner !== null)
    return isAllowed(expression.replace(inner[0], isAllowed(inner[1] ?? '') ? 'MIT' : 'not allowed'));
  return expression
    .split(/ OR |\//)
    .some((choice) => choice.split(' AND ').every((license) => ALLOWED.has(license.trim())));
}

/** @typedef {{ name: string, license: string }} Entry */

/** @returns {Entry[]} */
function npmEntries() {
  /** @type {{ packages: Record<string, { dev?: boolean, devOptional?: boolean, optional?: boolean, peer?: boolean, version?: string }> }} */
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages).flatMap(([path, { dev, devOptional, optional, version }]) => {
    if (path === '' || dev || devOptional) return [];
    const manifest = join(root, path, 'package.json');
    // Optional packages are those of other platforms.
    if (!existsSync(manifest)) return optional ? [] : [{ name: path, license: 'not installed' }];
    const { name, license } = JSON.parse(readFileSync(manifest, 'utf8'));
    const expression = typeof license === 'string' ? license : (license?.type ?? 'none');
    return [{ name: `${name} ${version}`, license: expression }];
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
    const [name = '', license = ''] = line.replace(' (*)', '').split('|');
    return { name: name.replace(/ \(.*\)$/, ''), license: license || 'none' };
  });
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

const entries = { packages: npmEntries(), crates: crateEntries() };
/** @type {Entry[]} */
const refused = [];
for (const [kind, list] of Object.entries(entries)) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { license } of list) counts.set(license, (counts.get(license) ?? 0) + 1);
  const shown = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([license, count]) => `${count} ${license}`);
  console.log(`${list.length} ${kind}: ${shown.join(', ')}`);
  refused.push(...list.filter(({ license }) => !isAllowed(license)));
}
for (const { name, license } of refused) console.error(`not allowed: ${name} (${license})`);
if (refused.length > 0 || entries.packages.length === 0 || entries.crates.length === 0) process.exit(1);
