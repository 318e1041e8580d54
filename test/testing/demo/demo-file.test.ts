import { chmod, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDemo, writeDemoFile, type DemoFacts } from '../../../src/testing/demo/demo-file.js';
import { openRecordings } from '../../../src/testing/demo/recordings.js';

const FACTS: DemoFacts = {
  port: 8123,
  webhookHost: 'demo.example',
  authToken: 'secret',
  phoneNumber: '+15005550010',
  processId: process.pid,
};

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'offhook-demo-'));
});
afterEach(() => rm(parent, { recursive: true }));

describe.skipIf(process.platform === 'win32')('the private file of a demo', () => {
  it('is found by its port, readable by its owner alone, and gone when it is removed', async () => {
    const folder = join(parent, 'run');
    const file = await writeDemoFile(FACTS, folder);
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    expect((await lstat(file.path)).mode & 0o777).toBe(0o600);
    expect(await findDemo(8123, folder)).toEqual(FACTS);
    expect(await findDemo(8124, folder)).toBeUndefined();
    file.remove();
    file.remove();
    expect(await findDemo(8123, folder)).toBeUndefined();
  });

  it('replaces what lies in its place, without following a link', async () => {
    const other = join(parent, 'other');
    await writeFile(other, 'mine');
    const folder = join(parent, 'run');
    await mkdir(folder, { mode: 0o700 });
    await symlink(other, join(folder, 'demo-8123.json'));
    await writeDemoFile(FACTS, folder);
    expect(await findDemo(8123, folder)).toEqual(FACTS);
    expect((await lstat(other)).size).toBe(4);
  });

  it('is not written into a folder that others can open, and not believed when others can read it', async () => {
    const folder = join(parent, 'open');
    await mkdir(folder);
    await chmod(folder, 0o755);
    await expect(writeDemoFile(FACTS, folder)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await chmod(folder, 0o700);
    const file = await writeDemoFile(FACTS, folder);
    await chmod(file.path, 0o644);
    expect(await findDemo(8123, folder)).toBeUndefined();
  });

  it.each([
    ['a demo that has died', JSON.stringify({ ...FACTS, processId: 2 ** 22 + 1 })],
    ['another port', JSON.stringify({ ...FACTS, port: 1 })],
    ['half a file', '{"port":'],
    ['something else', '[]'],
  ])('is ignored when it tells of %s', async (_, content) => {
    const folder = join(parent, 'run');
    const file = await writeDemoFile(FACTS, folder);
    await writeFile(file.path, content);
    expect(await findDemo(8123, folder)).toBeUndefined();
  });
});

describe('the recordings of a demo', () => {
  it('keep the newest, and leave other files alone', async () => {
    const recordings = await openRecordings({ folder: parent, keep: 3 });
    await writeFile(join(parent, 'notes.wav'), '');
    const paths = Array.from({ length: 5 }, (_, index) =>
      recordings.nextPath(Date.UTC(2026, 0, 1, 0, 0, index)),
    );
    expect(new Set(paths).size).toBe(5);
    for (const path of paths) await writeFile(path, '');
    await recordings.prune();
    expect((await readdir(parent)).sort()).toEqual([
      `call-20260101-000002-${process.pid}-0003.wav`,
      `call-20260101-000003-${process.pid}-0004.wav`,
      `call-20260101-000004-${process.pid}-0005.wav`,
      'notes.wav',
    ]);
  });
});
