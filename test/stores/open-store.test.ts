import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { openStore } from '../../src/stores/open-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { makeFolder, openDisk } from '../support/data-folder.js';
import { RecordedLogger } from '../support/recorded-logger.js';

describe('openStore', () => {
  const open = async (dataDir: string | false, logger: RecordedLogger) =>
    openStore({ dataDir, role: 'server' }, { logger, clock: systemClock });

  it('keeps calls on disk, each role in a folder of its own', async () => {
    const [dataDir, logger] = [await makeFolder(), new RecordedLogger()];
    const store = await open(dataDir, logger);
    for (const event of stamp([started(), ended()])) await store.append(event);
    await store.close();
    expect(store).toBeInstanceOf(DiskStore);
    expect(await (await openDisk({ folder: join(dataDir, 'server') })).get('call-1')).toBeDefined();
    expect(logger.lines).toEqual([]);
  });

  it('keeps them in memory where that is wanted', async () => {
    const logger = new RecordedLogger();
    expect(await open(false, logger)).toBeInstanceOf(MemoryStore);
    expect(logger.lines).toEqual([]);
  });

  it.each(['locked', 'a file'])(
    'says in one line that the folder is %s, and keeps them in memory',
    async (what) => {
      const [dataDir, logger] = [await makeFolder(), new RecordedLogger()];
      const folder = join(dataDir, 'server');
      if (what === 'locked') await openDisk({ folder });
      else await writeFile(folder, '');
      const store = await open(dataDir, logger);
      expect(store).toBeInstanceOf(MemoryStore);
      for (const event of stamp([started(), ended()])) await store.append(event);
      expect(logger.lines).toEqual([
        {
          level: 'warn',
          fields: {
            folder,
            setting: 'dataDir',
            error: 'StoreError',
            code: 'STORE_FAILED',
            message: expect.stringMatching(
              what === 'locked' ? /Another process uses .*server: stop it/ : /server is not a folder: move/,
            ),
          },
          sentence: 'calls are kept in memory only and lost at exit',
        },
      ]);
    },
  );

  // A file system that has no room for folders answers as if there were none; a loop of links leads nowhere.
  it.each([
    ['in /proc', 'linux', async () => '/proc/offhook'],
    ['below a file', 'any', async (free: string) => below(free, (path) => writeFile(path, ''))],
    ['below a loop of links', 'any', async (free: string) => below(free, (path) => symlink(path, path))],
    [
      'below a link to nothing',
      'any',
      async (free: string) => below(free, (path) => symlink(`${path}-gone`, path)),
    ],
  ])('says so, and keeps them in memory, with a folder %s', async (_, platform, place) => {
    if (platform !== 'any' && platform !== process.platform) return;
    const logger = new RecordedLogger();
    const store = await open(await place(await makeFolder()), logger);
    expect(store).toBeInstanceOf(MemoryStore);
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        sentence: 'calls are kept in memory only and lost at exit',
        fields: { code: 'STORE_FAILED' },
      },
    ]);
  });
});

async function below(folder: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(folder, 'taken');
  await make(path);
  return join(path, 'calls');
}
