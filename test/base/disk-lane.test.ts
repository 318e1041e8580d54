// A disk that stands still, as a process sees it: pipes that nobody reads. What is written there must leave threads to everything else.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import disk, { stat } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { DiskLane } from '../../src/base/disk-lane.js';
import { Recordings } from '../../src/recordings/recordings.js';
import { diskFiles } from '../../src/recordings/tape.js';
import { StateFolder } from '../../src/stores/state-folder.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** More than a process has threads for disks. */
const CALLS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** More than fits into a pipe. */
const LONG = Buffer.alloc(200_000);

it('begins a piece of work when the one before is done, however that ended', async () => {
  const lane = new DiskLane();
  const order: string[] = [];
  const failed = lane.run(async () => {
    order.push('first');
    await Promise.resolve();
    order.push('first failed');
    throw new Error('no space');
  });
  const second = lane.run(async () => void order.push('second'));
  await expect(failed).rejects.toThrow('no space');
  await second;
  expect(order).toEqual(['first', 'first failed', 'second']);
});

describe.skipIf(process.platform === 'win32')('a disk that stands still holds up no other work', () => {
  let folder: string;
  let pipes: string[];
  let writing: Promise<unknown>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'disk-lane-'));
    writing = Promise.resolve();
  });
  afterEach(async () => {
    await drained();
    rmSync(folder, { recursive: true });
  });

  function stuck(ending: string): void {
    pipes = CALLS.map((callId) => join(folder, `${callId}${ending}`));
    execFileSync('mkfifo', pipes);
  }

  /** Reads the pipes until everything is written. */
  async function drained(): Promise<void> {
    const readers = pipes.map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    let isOver = false;
    void writing.then(() => (isOver = true));
    const page = Buffer.alloc(65_536);
    while (!isOver) {
      for (const fd of readers)
        try {
          readSync(fd, page);
        } catch {
          // Nothing is in it now.
        }
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const fd of readers) closeSync(fd);
  }

  it('while the states of calls are kept', async () => {
    stuck('.json.next');
    const options = { folder, isSynced: false, clock: new FakeClock(), logger: new RecordedLogger() };
    const states = await StateFolder.open(options);
    writing = Promise.all(CALLS.map((callId) => states.write(callId, '{}')));
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('while calls are recorded', async () => {
    stuck('.tape');
    const written = pipes.map((path) => {
      const fd = openSync(path, constants.O_RDWR);
      return new Promise<void>((resolve) => {
        diskFiles.write(fd, LONG, null as never, () => {
          diskFiles.close(fd);
          resolve();
        });
      });
    });
    writing = Promise.all(written);
    expect((await stat(folder)).isDirectory()).toBe(true);
  });
});

it.each([
  ['readdir', (recordings: Recordings, callId: string) => recordings.recover(callId, null)],
  ['open', (recordings: Recordings, callId: string) => recordings.read(callId).catch(() => undefined)],
  ['lstat', (recordings: Recordings, callId: string) => recordings.remove(callId)],
] as const)('recordings ask a disk one thing at a time behind the calls, too: %s', async (name, ask) => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-lane-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const limits = { key: undefined, keepMs: undefined, maxBytes: undefined };
  const recordings = await Recordings.open({
    folder,
    ...limits,
    clock: systemClock,
    logger: new RecordedLogger(),
  });
  let goOn = () => {};
  const stands = new Promise<void>((resolve) => (goOn = resolve));
  const real = disk[name] as (...given: unknown[]) => Promise<never>;
  const asked = vi.spyOn(disk, name).mockImplementation(async (...given: unknown[]) => {
    await stands;
    return real(...given);
  });
  syncBuiltinESMExports();
  const asking = CALLS.map((callId) => ask(recordings, callId));
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  await new Promise((resolve) => setTimeout(resolve, 20));
  const atOnce = asked.mock.calls.length;
  asked.mockRestore();
  syncBuiltinESMExports();
  goOn();
  await Promise.all(asking);
  await recordings.close();
  expect(atOnce).toBe(1);
});
