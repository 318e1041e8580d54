// The folder with the recordings of the demo: the newest ones are kept.
import { readdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ConfigError } from '../../base/errors.js';
import { makeFolder } from '../../base/make-folder.js';
import { fileErrorCode, requireWritable } from '../writable.js';

const NAME = /^call-\d{8}-\d{6}-\d+-\d{4}\.wav$/;

export interface Recordings {
  /** Path for the next recording, relative to the working directory when it lies inside. Two demos never share one. `at` is epoch milliseconds. */
  nextPath(at: number): string;
  /** Removes all but the newest `keep`. */
  prune(): Promise<void>;
}

/** Opens the folder, mode 0700, and makes it when it is not there. @throws ConfigError when that cannot be done. */
export async function openRecordings(options: { folder: string; keep: number }): Promise<Recordings> {
  const folder = resolve(options.folder);
  try {
    await makeFolder(folder);
  } catch (error) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `The folder ${folder} cannot be created (${fileErrorCode(error)}): start the demo in a folder that you can write to.`,
      { cause: error },
    );
  }
  await requireWritable(join(folder, 'call.wav'));
  const shown = relative(process.cwd(), folder);
  const base = shown.startsWith('..') ? folder : shown;
  let count = 0;
  return {
    nextPath(at) {
      count += 1;
      const [day = '', time = ''] = new Date(at)
        .toISOString()
        .replace(/[-:]|\..*$/g, '')
        .split('T');
      return join(base, `call-${day}-${time}-${process.pid}-${String(count % 10_000).padStart(4, '0')}.wav`);
    },
    async prune() {
      const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
      const old = names.slice(0, Math.max(0, names.length - options.keep));
      await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}
