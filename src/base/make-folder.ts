// Folders with all that is missing above them. Node's own recursive mkdir never returns where the file system answers that a folder
// is not there when one is to be made in it, as /proc does (Node 20).
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes the folder, and those above it that are missing, with mode 0700. Rejects with the error of the file system. */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !(await isThere(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      // Somebody else may make the same folder at the same time.
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  }
  const stats = await stat(folder);
  if (!stats.isDirectory())
    throw Object.assign(new Error(`${folder} is not a directory`), { code: 'ENOTDIR' });
}

async function isThere(path: string): Promise<boolean> {
  // The root has nothing above it that could be made.
  if (path === dirname(path)) return true;
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
