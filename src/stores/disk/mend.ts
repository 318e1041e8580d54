// Makes a damaged LevelDB folder whole again, with everything in it that can still be read.
import { access, rename, rm } from 'node:fs/promises';
import type { ClassicLevel } from 'classic-level';
import type { Entry } from './level-files/entry.js';

/** Entries that are written at a time. */
const BATCH = 1000;

/** Opens a folder of that name. */
export type LevelMaker = (location: string) => ClassicLevel;

/** Takes the place of `location`, which nobody may have open. @throws Error when another process has, or the disk fails. */
export async function mend(location: string, entries: readonly Entry[], make: LevelMaker): Promise<void> {
  await assertUnlocked(make(location));
  const { mended, damaged } = names(location);
  await remove(mended);
  const level = make(mended);
  await level.open();
  try {
    const last = lastOfEachKey(entries);
    for (let start = 0; start < last.length; start += BATCH) {
      await level.batch(
        last.slice(start, start + BATCH).map(([key, value]) => ({ type: 'put', key, value })),
        { sync: true },
      );
    }
  } finally {
    await level.close();
  }
  await rename(location, damaged);
  await rename(mended, location);
  await remove(damaged);
}

/** Finishes what a process that mended a folder was killed in. */
export async function finishMending(location: string): Promise<void> {
  const { mended, damaged } = names(location);
  if (!(await hasPath(location)) && (await hasPath(damaged))) await rename(mended, location);
  await remove(mended);
  await remove(damaged);
}

function names(location: string) {
  return { mended: `${location}.mended`, damaged: `${location}.damaged` };
}

const hasPath = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const remove = (path: string) => rm(path, { recursive: true, force: true });

/** The library looks at the lock first: this never opens anything. */
async function assertUnlocked(level: ClassicLevel): Promise<void> {
  try {
    await level.open({ createIfMissing: false, errorIfExists: true });
    await level.close();
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown } };
    if (cause?.code === 'LEVEL_LOCKED') throw error;
  }
}

function lastOfEachKey(entries: readonly Entry[]): [key: string, value: string][] {
  const last = new Map<string, Entry>();
  for (const entry of entries) {
    if (entry.sequence >= (last.get(entry.key)?.sequence ?? 0)) last.set(entry.key, entry);
  }
  return [...last].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]]));
}
