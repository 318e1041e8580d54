import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UsageError } from '../../../src/cli/context.js';
import { findOrigin, toSpec } from '../../../src/cli/init/package-origin.js';

let root: string;
let own: string;
let project: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'offhook-origin-'));
  own = join(root, 'app/node_modules/offhook');
  project = join(root, 'app/phone-agent');
  await mkdir(own, { recursive: true });
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

/** What npm leaves beside what it has installed. */
async function installed(packages: Readonly<Record<string, string>>) {
  const entries = Object.entries(packages).map(([name, resolved]) => [`node_modules/${name}`, { resolved }]);
  const lockfile = join(root, 'app/node_modules/.package-lock.json');
  await writeFile(lockfile, JSON.stringify({ packages: Object.fromEntries(entries) }));
}

it('a clone is depended on as a folder', () => {
  expect(findOrigin(join(root, 'agent'), join(root, 'clone'))).toEqual({
    dependencies: { offhook: 'file:../clone' },
    optionalDependencies: {},
  });
});

it('a package that came as a tarball is taken from it, with the addons that did', async () => {
  await mkdir(join(root, 'release'));
  for (const name of ['offhook', 'addon', 'other']) await writeFile(join(root, 'release', `${name}.tgz`), '');
  await installed({
    offhook: 'file:../release/offhook.tgz',
    '@offhook/transcoder-linux-x64-gnu': 'file:../release/addon.tgz',
    '@offhook/transcoder-gone': 'file:../release/gone.tgz',
    other: 'file:../release/other.tgz',
  });
  expect(findOrigin(project, own)).toEqual({
    dependencies: { offhook: 'file:../../release/offhook.tgz' },
    optionalDependencies: { '@offhook/transcoder-linux-x64-gnu': 'file:../../release/addon.tgz' },
  });
});

it.each([
  ['the tarball is gone', { offhook: 'file:../release/gone.tgz' }],
  ['it came from elsewhere', { offhook: 'https://packages.example.com/offhook.tgz' }],
  ['npm did not install it', undefined],
])('otherwise from where it is installed: %s', async (_reason, packages) => {
  if (packages !== undefined) await installed(packages as Record<string, string>);
  expect(findOrigin(project, own).dependencies).toEqual({ offhook: 'file:../node_modules/offhook' });
});

it.each(['offhook-9.9.9.tgz', 'clone'])(
  'what a user types for %s leads there from the project',
  async (name) => {
    const file = join(root, name);
    await writeFile(file, '');
    const typed = relative('', file);
    for (const way of [file, typed, `./${typed}`, `file:${typed}`, `file://${file}`])
      expect(toSpec(way, project), way).toBe(`file:../../${name}`);
  },
);

it.each(['./gone.tgz', 'gone.tgz', '../gone', '/gone', 'file:gone'])(
  '%s, where there is nothing, is refused',
  (typed) => {
    expect(() => toSpec(typed, project)).toThrow(UsageError);
  },
);

it.each([
  '1.2.3',
  'next',
  'npm:offhook@1',
  'https://packages.example.com/offhook.tgz',
  'git+ssh://git@code.example.com/offhook.git',
])('%s is for npm to find', (typed) => {
  expect(toSpec(typed, project)).toBe(typed);
});
