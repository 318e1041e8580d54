import { chmod, mkdir, open as openFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StateFolder } from '../../src/stores/state-folder.js';
import { makeFolder } from '../support/data-folder.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

async function open(folder: string, { isSynced = false } = {}) {
  const [clock, logger] = [new FakeClock(), new RecordedLogger()];
  return { clock, logger, states: await StateFolder.open({ folder, isSynced, clock, logger }) };
}

describe.each([false, true])('a folder of live calls (synced: %s)', (isSynced) => {
  it('gives the next process the newest of each call, and nothing of those that are over', async () => {
    const folder = join(await makeFolder(), 'live');
    const { states } = await open(folder, { isSynced });
    await states.write('one', 'first');
    await states.write('one', 'second');
    await states.write('two', 'other');
    await states.remove('two');
    const { texts } = await (await open(folder)).states.read();
    expect([...texts]).toEqual([['one', ['second']]]);
  });

  it(isSynced ? 'has each write on the disk before it counts' : 'leaves the disk to the system', async () => {
    const folder = await makeFolder();
    const file = await openFile(join(folder, 'any'), 'w');
    await file.close();
    // In the order in which it happens: a file that takes its place has been synced.
    const seen: string[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(file), 'sync').mockImplementation(async () => {
      seen.push(...(await readdir(folder)).filter((name) => name.startsWith('one')));
    });
    onTestFinished(() => sync.mockRestore());
    const { states } = await open(folder, { isSynced });
    await states.write('one', 'text');
    expect(seen).toEqual(isSynced ? ['one.json.next'] : []);
    expect([...(await states.read()).texts]).toEqual([['one', ['text']]]);
  });
});

describe('a folder of live calls', () => {
  it('is its owner’s alone', async () => {
    const folder = join(await makeFolder(), 'live');
    const { states } = await open(folder);
    await states.write('one', 'text');
    await states.live();
    for (const [path, mode] of [
      [folder, 0o700],
      [join(folder, 'one.json'), 0o600],
      [join(folder, 'alive'), 0o600],
    ] as const)
      expect((await stat(path)).mode & 0o777).toBe(mode);
    states.close();
  });

  it('says when the last process was there', async () => {
    const folder = await makeFolder();
    const { states } = await open(folder);
    expect((await states.read()).lastAliveAt).toBe(0);
    await states.live();
    const before = new Date(90_000);
    await utimes(join(folder, 'alive'), before, before);
    expect((await states.read()).lastAliveAt).toBe(before.getTime());
    states.close();
  });

  it('says so again and again', async () => {
    const folder = await makeFolder();
    const { states, clock } = await open(folder);
    await states.live();
    const before = new Date(90_000);
    for (let time = 0; time < 3; time += 1) {
      await utimes(join(folder, 'alive'), before, before);
      clock.advance(500);
      await expect.poll(async () => (await states.read()).lastAliveAt > before.getTime()).toBe(true);
      await expect.poll(() => clock.pending).toBe(1);
    }
    states.close();
    expect(clock.pending).toBe(0);
  });

  it('has a write that was under way beside what was there before', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'one.json'), 'before');
    await writeFile(join(folder, 'one.json.next'), 'newer');
    const { states } = await open(folder);
    expect([...(await states.read()).texts]).toEqual([['one', ['newer', 'before']]]);
    await states.remove('one');
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes nothing else for a call, and clears it away', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, '..json'), 'no call');
    await mkdir(join(folder, 'folder'));
    const { states } = await open(folder);
    expect((await states.read()).texts.size).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps no call under a name that leads elsewhere', async () => {
    const folder = join(await makeFolder(), 'live');
    const { states, logger } = await open(folder);
    for (const callId of ['../out', 'a/b', '', 'x'.repeat(101), 'nul\0']) {
      await states.write(callId, 'text');
      await states.remove(callId);
    }
    expect(await readdir(join(folder, '..'))).toEqual(['live']);
    expect(await readdir(folder)).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it('that cannot be written to is said once, and holds nothing up', async () => {
    const folder = await makeFolder();
    const { states, logger } = await open(folder);
    // In the way of every write.
    await mkdir(join(folder, 'one.json.next'));
    await states.write('one', 'text');
    await states.write('one', 'text');
    expect(logger.lines.map(({ sentence }) => sentence)).toEqual([
      'live calls are not kept on disk: they would end with this process',
    ]);
    await states.write('two', 'text');
    expect(logger.lines).toHaveLength(2);
    expect(logger.lines[1]?.sentence).toBe('keeping live calls on disk again');
    await chmod(folder, 0o700);
  });
});
