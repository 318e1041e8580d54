// The pages that readers are given: tracked files, and new ones that are to be.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Paths of all files of the repository, ignored ones aside. */
export function repositoryFiles(): string[] {
  const flags = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', flags, { cwd: ROOT, encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .filter((path) => existsSync(ROOT + path));
}

/** Text of every Markdown page by its path. */
export function allPages(): Map<string, string> {
  const paths = repositoryFiles().filter((path) => path.endsWith('.md'));
  return new Map(paths.map((path) => [path, readFileSync(ROOT + path, 'utf8')]));
}
