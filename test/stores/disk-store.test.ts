import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { describe, expect, it } from 'vitest';
import { ConfigError, StoreError } from '../../src/base/errors.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { testStore } from '../../src/testing/conformance/store.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';
import { makeFolder, openDisk } from '../support/data-folder.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const said = (id: string, text: string, final = true): CallFact => ({
  type: 'transcript.segment',
  entry: { id, turnIndex: 0, role: 'user', text, at: 5, final },
});

async function play(store: DiskStore, callId: string, facts: readonly CallFact[], at = 1000): Promise<void> {
  for (const event of stamp(facts, { callId, at })) await store.append(event);
}

const call = (callId: string, ...facts: CallFact[]): CallFact[] => [
  started({ carrierCallId: `carrier-${callId}` }),
  ...facts,
];

async function records(store: DiskStore): Promise<CallRecord[]> {
  return (await store.list({ limit: 500 })).calls;
}

/** The one log file that the library has written. */
async function logFile(folder: string): Promise<string> {
  const [name] = (await readdir(join(folder, 'calls'))).filter((file) => file.endsWith('.log'));
  return join(folder, 'calls', name ?? 'none');
}

async function change(folder: string, act: (level: ClassicLevel) => Promise<unknown>): Promise<void> {
  const level = new ClassicLevel(join(folder, 'calls'));
  await act(level);
  await level.close();
}

async function refused(folder: string): Promise<StoreError> {
  const error = await DiskStore.open({ folder }).then(
    (store) => store.close().then(() => undefined),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}

describe('DiskStore', () => {
  for (const check of testStore(async () => DiskStore.open({ folder: await makeFolder() }))) {
    it(check.name, check.run);
  }

  describe('after a restart', () => {
    it('has the records that it had, of calls that are over and of those that are not', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      const talk = [said('a', 'Hello'), { type: 'turn.completed', turn: turn(0, { totalMs: 7 }) } as const];
      await play(store, 'one', call('one', ...talk, ended()));
      await play(store, 'two', call('two', ...talk, { type: 'dtmf.received', digit: '5' }));
      const before = [await records(store), await store.aggregates(), await store.active()];
      await store.close();
      const again = await openDisk({ folder });
      expect([await records(again), await again.aggregates(), await again.active()]).toEqual(before);
      expect(await again.get('carrier-one')).toMatchObject({ callId: 'one', status: 'completed' });
    });

    it('goes on with a call, and takes what comes late', async () => {
      const folder = await makeFolder();
      const facts = call('one', said('a', 'Hello'), ended(), {
        type: 'recording.completed',
        recording: { url: null, durationMs: 9, status: 'completed' },
      });
      const events = stamp(facts, { callId: 'one' });
      for (const event of events) {
        const store = await openDisk({ folder });
        await store.append({ ...event, nodeId: `node-${event.seq}` });
        await store.close();
      }
      const store = await openDisk({ folder });
      expect(await store.get('one')).toMatchObject({
        seq: 4,
        nodeId: 'node-1',
        recording: { durationMs: 9 },
      });
      expect(await store.events('one')).toEqual(
        events.map((event) => ({ ...event, nodeId: `node-${event.seq}` })),
      );
    });

    it('keeps the transcript in its order, and nothing of what was partial', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      const partials = Array.from({ length: 50 }, (_, index) => said('first', `so far ${index}`, false));
      const open = [said('open', 'never finished', false), said('open', 'never finished at all', false)];
      const facts = [...partials, said('second', 'B'), ...open, said('first', 'A'), ended()];
      await play(store, 'one', call('one', ...facts));
      const before = await store.get('one');
      expect(before?.transcript.map(({ text }) => text)).toEqual(['A', 'B']);
      expect(await store.events('one')).toHaveLength(6);
      await store.close();
      const again = await openDisk({ folder });
      expect(await again.get('one')).toEqual(before);
    });

    it('keeps no phase, which the end forgets anyway', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      const phases = Array.from({ length: 50 }, (_, index): CallFact => {
        return { type: 'phase.changed', phase: index % 2 === 0 ? 'hearing' : 'listening' };
      });
      await play(store, 'one', call('one', ...phases));
      expect((await store.get('one'))?.phase?.name).toBe('listening');
      await play(store, 'two', call('two', ...phases, ended()));
      expect(await store.events('one')).toHaveLength(1);
      expect(await store.events('two')).toHaveLength(2);
      const before = await store.get('two');
      await store.close();
      const again = await openDisk({ folder });
      expect(await again.get('two')).toEqual(before);
      expect((await again.get('one'))?.phase).toBeNull();
    });

    it('has the calls that ended last, and no others on disk', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder, size: 3 });
      await play(store, 'up', call('up'));
      for (const id of ['a', 'b', 'c', 'd', 'e']) await play(store, id, call(id, ended()), 5000);
      await store.close();
      const level = new ClassicLevel(join(folder, 'calls'));
      const keys = (await level.keys().all()).filter((key) => key.startsWith('call/'));
      await level.close();
      expect(keys).toHaveLength(1 + 3 * 2);
      const again = await openDisk({ folder, size: 2 });
      expect((await records(again)).map(({ callId }) => callId).sort()).toEqual(['d', 'e', 'up']);
      await play(again, 'f', call('f', ended()), 6000);
      expect(await again.get('d')).toBeUndefined();
      expect(await again.events('d')).toBeUndefined();
    });

    it('lets those leave first that ended first, whenever they began', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      for (const id of ['a', 'b', 'c', 'd']) await play(store, id, call(id), 1000);
      for (const [at, id] of ['c', 'a', 'd', 'b'].entries()) {
        const [end] = stamp([ended()], { callId: id, at: 2000 + 10 * at });
        await store.append({ ...end, seq: 2 } as CallEvent);
      }
      await store.close();
      const again = await openDisk({ folder, size: 2 });
      expect((await records(again)).map(({ callId }) => callId).sort()).toEqual(['b', 'd']);
      await play(again, 'e', call('e', ended()), 6000);
      expect((await records(again)).map(({ callId }) => callId).sort()).toEqual(['b', 'e']);
    });

    it('lets that one leave first that began first, of those that ended at the same time', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      for (const id of ['a', 'b', 'c']) await play(store, id, call(id, ended()), 1000);
      await store.close();
      const again = await openDisk({ folder, size: 2 });
      expect((await records(again)).map(({ callId }) => callId).sort()).toEqual(['b', 'c']);
    });

    it.each([
      ['quotes and a formula', `"'=1+1,;\\"`],
      ['line ends', 'one\r\ntwo\nthree\u2028four'],
      ['right to left', 'שלום \u202e مرحبا'],
      ['emoji', '👩‍👩‍👧 🏴‍☠️'],
      ['NUL', 'a\0b'],
      ['half a character', `a\ud83d, \udc69b`],
      ['a megabyte', '0123456789abcdef'.repeat(65_536)],
      ['names of objects', '{"__proto__":1}'],
    ])('has its texts as they were: %s', async (_, text) => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      const facts = [
        started({ caller: text, carrierCallId: `carrier ${text}` }),
        said('a', text),
        ended({ error: { code: 'X', message: text } }),
      ];
      for (const event of stamp(facts, { callId: text })) await store.append(event);
      await store.close();
      const again = await openDisk({ folder });
      const record = await again.get(text);
      expect(record?.caller === text && record.transcript[0]?.text === text).toBe(true);
      expect(record?.error?.message === text && record.callId === text).toBe(true);
    });
  });

  it('has the end of a call on disk when append resolves, without being closed', async () => {
    const folder = await makeFolder();
    const store = await openDisk({ folder });
    await play(store, 'one', call('one', ended()));
    const bytes = await readFile(await logFile(folder), 'latin1');
    expect(bytes).toContain('"call.ended"');
  });

  it('lets nobody else look into its folder', async () => {
    const folder = join(await makeFolder(), 'data', 'server');
    await openDisk({ folder });
    for (const path of [folder, join(folder, '..')]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    const open = join(await makeFolder(), 'open');
    await mkdir(open, { mode: 0o755 });
    await openDisk({ folder: open });
    expect((await stat(open)).mode & 0o777).toBe(0o700);
  });

  it('refuses a ring that is none', async () => {
    await expect(DiskStore.open({ folder: await makeFolder(), size: 0 })).rejects.toThrow(ConfigError);
  });

  describe('says what is wrong with a folder, and how to mend it', () => {
    it('another process uses it', async () => {
      const folder = await makeFolder();
      await openDisk({ folder });
      expect((await refused(folder)).message).toBe(
        `Another process uses ${folder}: stop it, or give this one a data folder of its own.`,
      );
    });

    it('it is a file', async () => {
      const folder = join(await makeFolder(), 'file');
      await writeFile(folder, '');
      expect((await refused(folder)).message).toMatch(/file is not a folder: move what is there away/);
      expect((await refused(join(folder, 'below'))).message).toMatch(/below is not a folder/);
    });

    it.skipIf(process.getuid?.() === 0)('it cannot be written', async () => {
      const parent = await makeFolder();
      await chmod(parent, 0o500);
      expect((await refused(join(parent, 'server'))).message).toMatch(/server cannot be written: make it/);
    });

    it('it is of a newer version', async () => {
      const folder = await makeFolder();
      await (await DiskStore.open({ folder })).close();
      const level = new ClassicLevel(join(folder, 'calls'));
      await level.put('schema', '2');
      await level.close();
      const { message } = await refused(folder);
      expect(message).toContain(folder);
      expect(message).toMatch(
        /newer version of offhook \(data version 2, this one knows 1\): update offhook/,
      );
    });

    it.each([
      ['a row is no row', async (level: ClassicLevel) => level.put('call/00000000/x', '{}')],
      ['the version is none', async (level: ClassicLevel) => level.put('schema', 'one')],
    ])('%s', async (_, damage) => {
      const folder = await makeFolder();
      const store = await DiskStore.open({ folder });
      await play(store, 'one', call('one', said('a', 'Hello'), ended()));
      await store.close();
      await change(folder, damage);
      expect((await refused(folder)).message).toBe(`${folder} is damaged: move it away and start again.`);
    });
  });

  describe('leaves out what is damaged, says so once, and keeps the rest', () => {
    const LEFT_OUT = 'damaged calls on disk are left out';

    it.each([
      ['a row is missing', async (level: ClassicLevel) => level.del('call/00000001/000001')],
      ['the first row is missing', async (level: ClassicLevel) => level.del('call/00000001/000000')],
      ['the last row is missing', async (level: ClassicLevel) => level.del('call/00000001/000002')],
      [
        'all rows are missing',
        async (level: ClassicLevel) => level.clear({ gte: 'call/00000001', lt: 'call/00000002' }),
      ],
      [
        'a row is changed',
        async (level: ClassicLevel) => {
          const key = 'call/00000001/000001';
          await level.put(key, ((await level.get(key)) ?? '').replace('Hello', 'Hullo'));
        },
      ],
    ])('%s', async (_, damage) => {
      const folder = await makeFolder();
      const store = await DiskStore.open({ folder });
      for (const id of ['one', 'two']) await play(store, id, call(id, said('a', 'Hello'), ended()));
      const before = await store.get('one');
      await store.close();
      await change(folder, damage);
      const logger = new RecordedLogger();
      const again = await DiskStore.open({ folder, logger });
      expect(await records(again)).toEqual([before]);
      expect(logger.lines).toEqual([
        { level: 'error', fields: { folder, files: [], lostCalls: 1 }, sentence: LEFT_OUT },
      ]);
      await play(again, 'three', call('three', ended()));
      await again.close();
      const quiet = new RecordedLogger();
      const third = await openDisk({ folder, logger: quiet });
      expect((await records(third)).map(({ callId }) => callId).sort()).toEqual(['one', 'three']);
      expect(quiet.lines).toEqual([]);
    });

    it('a file of the library', async () => {
      const folder = await makeFolder();
      const store = await DiskStore.open({ folder });
      await play(store, 'one', call('one', ended()));
      await store.close();
      await writeFile(join(folder, 'calls', 'CURRENT'), 'MANIFEST-999999\n');
      const logger = new RecordedLogger();
      const again = await openDisk({ folder, logger });
      expect((await records(again)).map(({ callId }) => callId)).toEqual(['one']);
      expect(logger.lines).toEqual([
        { level: 'error', fields: { folder, files: ['MANIFEST'], lostCalls: 0 }, sentence: LEFT_OUT },
      ]);
      expect(await readdir(folder)).toEqual(['calls', 'ended-calls']);
    });

    it('not while another process has the folder', async () => {
      const folder = await makeFolder();
      const store = await openDisk({ folder });
      await play(store, 'one', call('one', ended()));
      await writeFile(join(folder, 'calls', 'CURRENT'), 'MANIFEST-999999\n');
      expect((await refused(folder)).message).toMatch(/^Another process uses/);
    });

    it.each([
      ['before the whole folder took its place', '', ['calls.damaged', 'calls.mended']],
      ['before the damaged one was gone', 'calls', ['calls.damaged']],
      ['before anything was whole', 'calls', ['calls.mended']],
    ])('also when the process that mended it was killed %s', async (_, whole, others) => {
      const folder = await makeFolder();
      const store = await DiskStore.open({ folder });
      await play(store, 'one', call('one', ended()));
      await store.close();
      for (const name of others) {
        const isMended = whole === '' && name === 'calls.mended';
        if (isMended) await rename(join(folder, 'calls'), join(folder, name));
        else await mkdir(join(folder, name));
      }
      const logger = new RecordedLogger();
      const again = await openDisk({ folder, logger });
      expect((await records(again)).map(({ callId }) => callId)).toEqual(['one']);
      expect(logger.lines).toEqual([]);
      expect(await readdir(folder)).toEqual(['calls', 'ended-calls']);
    });
  });

  it('cuts off a write that a crash interrupted, and says so', async () => {
    const folder = await makeFolder();
    const store = await DiskStore.open({ folder });
    await play(store, 'one', call('one', ended()));
    const whole = await stat(await logFile(folder));
    await play(store, 'two', call('two', said('a', 'Hello')));
    await store.events('two');
    // Copied while it is open: what a process that is killed leaves behind.
    const file = await logFile(folder);
    const bytes = await readFile(file);
    await store.close();
    await writeFile(file, bytes);
    await truncate(file, bytes.length - 5);
    const logger = new RecordedLogger();
    const again = await openDisk({ folder, logger });
    expect((await records(again)).map(({ callId }) => callId)).toEqual(['one']);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        fields: { folder, bytes: bytes.length - 5 - whole.size },
        sentence: 'the last write before the stop is incomplete: skipped',
      },
    ]);
    await play(again, 'three', call('three', ended()));
    expect((await records(again)).map(({ callId }) => callId).sort()).toEqual(['one', 'three']);
  });

  it('does not take a call for one that was up, where the log has lost the end of it', async () => {
    const folder = await makeFolder();
    const store = await openDisk({ folder });
    await play(store, 'one', call('one', ended()));
    await play(store, 'two', call('two', said('a', 'Hello')));
    await store.events('two');
    const before = await readFile(await logFile(folder));
    await store.append({ ...stamp([ended()], { callId: 'two' })[0], seq: 3 } as CallEvent);
    await store.close();
    // What is left is whole.
    await writeFile(await logFile(folder), before);
    const logger = new RecordedLogger();
    const again = await openDisk({ folder, logger });
    expect(await again.active()).toEqual([]);
    expect((await records(again)).map(({ callId }) => callId)).toEqual(['one']);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { files: [], lostCalls: 1 } }]);
  });

  it.skipIf(process.platform === 'win32')('outlives a full disk', async () => {
    const child = new URL('./disk/full-disk-child.mjs', import.meta.url).pathname;
    const script = 'ulimit -f 128; exec "$0" "$@"';
    const running = spawn('sh', ['-c', script, process.execPath, child, await makeFolder()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const [code] = (await once(running, 'close')) as [number];
    expect(code).toBe(0);
    const { lines, ...outcome } = JSON.parse(text) as { lines: string[]; calls: number; isTheSame: boolean };
    expect(outcome).toEqual({ calls: 60, isTheSame: true });
    expect(lines.slice(0, 2)).toEqual([
      'error cannot write to disk: calls go on, and writing is retried',
      'info writing calls to disk again',
    ]);
    // Each failure is said once, however many facts it keeps from the disk.
    expect(lines.filter((_, index) => index % 2 === 0).every((line) => line.startsWith('error'))).toBe(true);
    expect(lines.filter((_, index) => index % 2 === 1).every((line) => line.startsWith('info'))).toBe(true);
  });
});
