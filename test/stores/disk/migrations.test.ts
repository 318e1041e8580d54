import { ClassicLevel } from 'classic-level';
import { describe, expect, it } from 'vitest';
import { LevelLog } from '../../../src/stores/disk/level-log.js';
import {
  type Migration,
  MIGRATIONS,
  type Migrations,
  SCHEMA_VERSION,
} from '../../../src/stores/disk/migrations.js';
import { makeFolder } from '../../support/data-folder.js';

async function contents(folder: string): Promise<Record<string, string>> {
  const level = new ClassicLevel(`${folder}/calls`);
  const { owner: _owner, ...entries } = Object.fromEntries(await level.iterator().all());
  await level.close();
  return entries;
}

async function open(folder: string, target: number, migrations: Migrations = new Map()): Promise<void> {
  const log = await LevelLog.open({ folder, schema: { target, migrations } });
  await log.close();
}

/** Gives every row a louder name and text. */
const shout: Migration = async (entries) => {
  const changes = [];
  for await (const [key, value] of entries) {
    if (key.startsWith('call/')) changes.push({ key }, { key: key.toUpperCase(), value: `${value}!` });
  }
  return changes;
};
const note: Migration = async () => [{ key: 'note', value: 'from 2 to 3' }];
const shouting: Migrations = new Map([
  [1, shout],
  [2, note],
]);

describe('migrations', () => {
  it('lead from every version that there has been to today’s', () => {
    const past = Array.from({ length: SCHEMA_VERSION - 1 }, (_, index) => index + 1);
    expect([...MIGRATIONS.keys()].sort()).toEqual(past);
  });

  it('give a new folder today’s version', async () => {
    const folder = await makeFolder();
    await open(folder, 7);
    expect(await contents(folder)).toEqual({ schema: '7' });
  });

  it('bring what an older version wrote up to date, one version after the other', async () => {
    const folder = await makeFolder();
    const log = await LevelLog.open({ folder, schema: { target: 1, migrations: new Map() } });
    await log.append([{ call: 0, row: 0, value: 'hello', isOver: false }]);
    await log.close();
    await open(folder, 3, shouting);
    expect(await contents(folder)).toEqual({
      'CALL/00000000/000000': 'hello!',
      note: 'from 2 to 3',
      schema: '3',
    });
    await open(folder, 3, shouting);
    expect((await contents(folder))['CALL/00000000/000000']).toBe('hello!');
  });

  it('leave what is there as it is when one of them fails', async () => {
    const folder = await makeFolder();
    await open(folder, 1);
    const failing: Migrations = new Map([
      [1, shout],
      [2, () => Promise.reject(new Error('cannot'))],
    ]);
    await expect(open(folder, 3, failing)).rejects.toThrow(folder);
    expect(await contents(folder)).toEqual({ schema: '2' });
    await open(folder, 3, shouting);
    expect(await contents(folder)).toMatchObject({ schema: '3' });
  });

  it('refuse a version that is newer, or that no way leads from', async () => {
    const folder = await makeFolder();
    await open(folder, 5);
    await expect(open(folder, 4)).rejects.toThrow(`${folder} was written by a newer version of offhook`);
    await expect(open(folder, 6)).rejects.toThrow(`${folder} holds data version 5, which this version`);
    expect(await contents(folder)).toEqual({ schema: '5' });
  });
});
