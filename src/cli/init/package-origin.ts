// Where this package came from, as the `package.json` of a new project names it: the package is on no registry under its name yet.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../context.js';

const NAME = 'offhook';
/** What the platform's own transcoder is called, without the platform. */
const ADDONS = '@offhook/transcoder-';

export interface PackageOrigin {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** The folder of this package. */
function ownFolder(): string {
  return fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, '');
}

/**
 * What a project in `folder` depends on. Installed from a tarball that is still there: the tarball, with those of its addons. Otherwise the
 * folder that this command runs from, such as a clone.
 */
export function findOrigin(folder: string, own: string = ownFolder()): PackageOrigin {
  const tarballs = tarballsBeside(own);
  const at = (path: string) => specOf(path, folder);
  const addons = [...tarballs].filter(([name]) => name.startsWith(ADDONS));
  const tarball = tarballs.get(NAME);
  return {
    dependencies: { [NAME]: at(tarball ?? own) },
    optionalDependencies: Object.fromEntries(
      tarball === undefined ? [] : addons.map(([name, path]) => [name, at(path)]),
    ),
  };
}

/** How the package.json of `folder` names a file or folder. */
function specOf(path: string, folder: string): string {
  return `file:${relative(resolve(folder), path).replaceAll('\\', '/')}`;
}

/** A file or folder, not a version, a repository or an address. Source: npm-package-arg. */
const PATH = /^(file:|\.{1,2}([\\/]|$)|[\\/]|[a-z]:[\\/])|^[^:]+\.(tgz|tar|tar\.gz)$/i;

/**
 * What the package.json of `folder` says for what a user typed: a path is read from where they are, as `npm install` reads it.
 * @throws UsageError for a path where there is nothing.
 */
export function toSpec(typed: string, folder: string): string {
  if (!PATH.test(typed)) return typed;
  const path = resolve(typed.replace(/^file:/i, ''));
  if (!existsSync(path)) throw new UsageError(`--offhook: there is no ${path}.`);
  return specOf(path, folder);
}

/** The files from which npm installed the packages beside this one, by name. Source: npm, package-lock.json, hidden lockfiles. */
function tarballsBeside(own: string): ReadonlyMap<string, string> {
  const modules = dirname(own);
  if (basename(modules) !== 'node_modules') return new Map();
  const entries = Object.entries(readPackages(join(modules, '.package-lock.json')));
  return new Map(
    entries.flatMap(([path, { resolved }]): [string, string][] => {
      if (typeof resolved !== 'string' || !resolved.startsWith('file:')) return [];
      const file = resolve(dirname(modules), resolved.slice('file:'.length));
      return existsSync(file) ? [[path.replace(/^node_modules\//, ''), file]] : [];
    }),
  );
}

/** Empty where there is no such lockfile: another package manager has installed. */
function readPackages(lockfile: string): Readonly<Record<string, { resolved?: unknown }>> {
  try {
    const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
      packages?: Record<string, { resolved?: unknown }>;
    };
    return packages ?? {};
  } catch {
    return {};
  }
}
