// What the files of a data folder hold: their bytes, and what the compressed ones of its database say.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLevelFolder } from '../../src/stores/disk/level-files/folder.js';

/** One text with everything below a folder in it. A file that goes meanwhile is empty. */
export async function bytesBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const bytes = await Promise.all(files.map(bytesOf));
  const database = await readLevelFolder(join(folder, 'calls'));
  return [...bytes, ...database.entries().map(({ key, value = '' }) => `${key} ${value}`)].join('\n');
}

function bytesOf(file: string): Promise<string> {
  return readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
