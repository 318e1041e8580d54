// Tests that need programs of the system, which not every machine has.
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { describe, it } from 'vitest';

/** Debian keeps servers of PostgreSQL beside each other, and out of PATH. */
const POSTGRESQL = '/usr/lib/postgresql';
/** Debian's packages, where they have another name than the program. */
const PACKAGES: Readonly<Record<string, string>> = {
  initdb: 'postgresql',
  postgres: 'postgresql',
  nginx: 'nginx-light',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd',
};

/**
 * `describe` where all programs are there; `body` gets their paths, in the same order. Elsewhere its tests are skipped, which the log says;
 * where everything must be proved (CI is `true`) a test fails instead.
 */
export function describeNeeding(
  programs: string | string[],
  name: string,
  body: (...paths: string[]) => void,
): void {
  const names = [programs].flat();
  const paths = names.map(findProgram);
  const missing = names.filter((_, index) => paths[index] === undefined);
  if (missing.length === 0) {
    describe(name, () => body(...paths.map((path) => path ?? '')));
    return;
  }
  const needed = missing
    .map((program) => `${program} (Debian package ${PACKAGES[program] ?? program})`)
    .join(', ');
  if (process.env.CI === 'true') {
    it(`${name}: finds ${needed}`, () => {
      throw new Error(`Missing, without which these tests prove nothing: ${needed}.`);
    });
    return;
  }
  console.warn(`SKIPPED: ${name}. Missing: ${needed}.`);
  describe.skip(`${name} (skipped: ${needed} is missing)`, () => body(...names));
}

function findProgram(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', ...postgresqlFolders()];
  return folders.map((folder) => resolve(folder, program)).find(isExecutable);
}

/** The newest first. */
function postgresqlFolders(): string[] {
  try {
    const versions = readdirSync(POSTGRESQL).sort((one, other) => Number(other) - Number(one));
    return versions.map((version) => join(POSTGRESQL, version, 'bin'));
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
