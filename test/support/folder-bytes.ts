// What the files of a data folder hold: their bytes, and what the compressed ones of its database say.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLevelFolder } from '../../src/stores/disk/level-files/folder.js';

/** One text with everything below a folder in it. */
export async function bytesBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const bytes = await Promise.all(files.map((file) => readFile(file, 'latin1')));
  const database = await readLevelFolder(join(folder, 'calls'));
  return [...bytes, ...database.entries().map(({ key, value = '' }) => `${key} ${value}`)].join('\n');
}
