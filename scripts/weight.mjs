// `npm run weight`: what a user installs, and what each direct dependency costs: packages and bytes that it alone brings. Reads package-lock.json and
// what is installed here. `weigh()` serves the check of the package as well.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './setup.mjs';

/** @typedef {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} Entry */

/** Bytes of the files below a folder, without packages that are nested in it. @param {string} folder @returns {number} */
function bytesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === 'node_modules') return sum;
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesOf(path) : entry.isFile() ? statSync(path).size : 0);
  }, 0);
}

/** The folder that `name` leads to from the package in `from`, as Node resolves it. @param {Record<string, Entry>} packages @param {string} from @param {string} name */
function resolve(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (path in packages) return path;
    if (at === '') return undefined;
  }
}

/** Everything that `names` bring. @param {Record<string, Entry>} packages @param {readonly string[]} names */
function reach(packages, names) {
  /** @type {Set<string>} */
  const seen = new Set();
  const open = names.map((name) => `node_modules/${name}`);
  while (open.length > 0) {
    const path = /** @type {string} */ (open.pop());
    if (seen.has(path) || !existsSync(join(root, path))) continue;
    seen.add(path);
    const { dependencies, optionalDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = resolve(packages, path, name);
      if (found !== undefined) open.push(found);
    }
  }
  return seen;
}

/** What this package's dependencies weigh, the heaviest first. */
export function weigh() {
  /** @type {{ packages: Record<string, Entry> }} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages['']?.dependencies ?? {});
  const all = reach(packages, names);
  /** @param {Iterable<string>} paths */
  const bytes = (paths) => [...paths].reduce((sum, path) => sum + bytesOf(join(root, path)), 0);
  const rows = names.map((name) => {
    const others = reach(
      packages,
      names.filter((other) => other !== name),
    );
    const alone = [...all].filter((path) => !others.has(path));
    return { name, packages: alone.length, bytes: bytes(alone) };
  });
  return {
    packages: all.size,
    bytes: bytes(all),
    rows: rows.sort((a, b) => b.bytes - a.bytes),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { packages, bytes, rows } = weigh();
  /** @param {number} value */
  const megabytes = (value) => `${(value / 1e6).toFixed(2)} MB`.padStart(9);
  console.log('what each dependency brings that no other does');
  for (const row of rows)
    console.log(`${String(row.packages).padStart(4)} packages ${megabytes(row.bytes)}  ${row.name}`);
  console.log(`${String(packages).padStart(4)} packages ${megabytes(bytes)}  all, without this package`);
}
