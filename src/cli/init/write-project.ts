// Writes all files of a project or none, and never over another file.
import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../base/errors.js';

/**
 * Writes the files, by name, into a folder that may be there already. What was made is taken away again when not all of it can be.
 * @throws ConfigError for a file that is there, and for a folder or file that cannot be made.
 */
export async function writeProject(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const taken: string[] = [];
  for (const name of files.keys()) if (await isThere(folder, name)) taken.push(name);
  if (taken.length > 0) throw alreadyThere(folder, taken);
  const written: string[] = [];
  const made: string[] = [];
  try {
    await makeFolders(folder, made);
    for (const [name, text] of files) {
      const path = join(folder, name);
      written.push(path);
      await writeFile(path, text, { flag: 'wx' });
    }
  } catch (error) {
    // Somebody else has made this one meanwhile.
    if (codeOf(error) === 'EEXIST') written.pop();
    for (const path of written) await rm(path, { force: true });
    // A folder in which somebody else has put something meanwhile stays.
    for (const path of made.toReversed()) await rmdir(path).catch(() => {});
    throw refused(folder, error);
  }
}

async function isThere(folder: string, name: string): Promise<boolean> {
  try {
    await lstat(join(folder, name));
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw refused(folder, error);
  }
}

/** Makes what is missing, and adds it to `made`, the outermost first. */
async function makeFolders(folder: string, made: string[]): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !(await isThere(path, '.')); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path);
    made.push(path);
  }
}

function alreadyThere(folder: string, names: readonly string[]): ConfigError {
  const verb = names.length === 1 ? 'is' : 'are';
  return new ConfigError(
    'CONFIG_CONFLICT',
    `${names.join(', ')} ${verb} already in ${folder}. Nothing was written: name another folder.`,
  );
}

function refused(folder: string, cause: unknown): unknown {
  const code = codeOf(cause);
  if (code === undefined) return cause;
  return new ConfigError('CONFIG_INVALID', `The project cannot be written to ${folder} (${code}).`, {
    cause,
  });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
