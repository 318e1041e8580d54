// Names in the two lockfiles, the project's and the documentation site's, what npm has left out: packages for other platforms that the registry in use does not have. Without them
// `npm ci` refuses the file everywhere. They are known by their owners, which ask for one version of each; their contents are not, so these
// have no `integrity` until npm meets them. Run it after a change of dependencies; without such gaps it changes nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];
const LIBRARIES = new Map([
  ['gnu', 'glibc'],
  ['musl', 'musl'],
]);

/**
 * As npm writes it, in its order.
 * @typedef {{ version?: string, cpu?: string[], dev?: boolean, libc?: string[], optional?: boolean, os?: string[], optionalDependencies?: Record<string, string> }} Entry
 */

/** What runs where is told by the name. @param {string} name @param {string} version @param {Entry} owner @returns {Entry} */
function toEntry(name, version, owner) {
  const words = name.split(/[/-]/);
  const of = (/** @type {string[]} */ known) => words.filter((word) => known.includes(word));
  const [cpu, os] = [of(PROCESSORS), of(SYSTEMS)];
  const libc = words.flatMap((word) => LIBRARIES.get(word) ?? []);
  if (cpu.length !== 1 || !/^\d+\.\d+\.\d+\S*$/.test(version))
    throw new Error(`${name} ${version} does not say where it runs, or is no version`);
  return {
    version,
    cpu,
    ...(owner.dev === true && { dev: true }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

for (const path of ['package-lock.json', 'docs/site/package-lock.json']) {
  /** @type {{ packages: Record<string, Entry> }} */
  const lock = JSON.parse(readFileSync(join(root, path), 'utf8'));
  const missing = Object.values(lock.packages).flatMap((owner) =>
    Object.entries(owner.optionalDependencies ?? {})
      .filter(([name]) => lock.packages[`node_modules/${name}`] === undefined)
      .map(
        ([name, version]) => /** @type {const} */ ([`node_modules/${name}`, toEntry(name, version, owner)]),
      ),
  );
  const all = [...Object.entries(lock.packages), ...missing];
  lock.packages = Object.fromEntries(all.sort(([one], [other]) => one.localeCompare(other, 'en')));
  if (missing.length > 0) writeFileSync(join(root, path), `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${path}: ${missing.length} packages named that were not.`);
}
