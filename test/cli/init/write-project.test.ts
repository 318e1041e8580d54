import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeProject } from '../../../src/cli/init/write-project.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-write-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const files = new Map([
  ['a', 'one'],
  ['b', 'two'],
]);

it('makes the folders that are missing', async () => {
  await writeProject(join(folder, 'x/y'), files);
  expect(await readFile(join(folder, 'x/y/b'), 'utf8')).toBe('two');
});

it('leaves alone what else is in the folder', async () => {
  await writeFile(join(folder, 'c'), 'mine');
  await writeProject(folder, files);
  expect((await readdir(folder)).toSorted()).toEqual(['a', 'b', 'c']);
});

it('names all files that are there, links to nowhere included', async () => {
  await writeFile(join(folder, 'a'), 'mine');
  await symlink('nowhere', join(folder, 'b'));
  await expect(writeProject(folder, files)).rejects.toMatchObject({
    code: 'CONFIG_CONFLICT',
    message: expect.stringMatching(/^a, b are already in /),
  });
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('mine');
});

it('takes back what it has made when a file cannot be written', async () => {
  const unwritable = new Map([...files, ['c/d', 'in a folder that is not there']]);
  await expect(writeProject(join(folder, 'x/y'), unwritable)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('(ENOENT)'),
  });
  expect(await readdir(folder)).toEqual([]);
  await expect(writeProject(folder, unwritable)).rejects.toThrow('(ENOENT)');
  expect(await readdir(folder)).toEqual([]);
});

it('refuses a file in the place of the folder', async () => {
  await writeFile(join(folder, 'x'), 'mine');
  await expect(writeProject(join(folder, 'x'), files)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('(ENOTDIR)'),
  });
});
