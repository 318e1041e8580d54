// Calls that are deleted: what is left of them in the files of the folder, now and after the next start.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../src/base/errors.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { LevelLog } from '../../src/stores/disk/level-log.js';
import { readLevelFolder } from '../../src/stores/disk/level-files/folder.js';
import { encodeFact, rowsOf } from '../../src/stores/disk/row.js';
import type { DiskStore } from '../../src/stores/disk-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { makeFolder, openDisk } from '../support/data-folder.js';

const said = (id: string, text: string): CallFact => ({
  type: 'transcript.segment',
  entry: { id, turnIndex: 0, role: 'user', text, at: 5, final: true },
});

/** A call of `length` sentences, none of which another call has. */
const talk = (callId: string, length = 3): CallFact[] => [
  started({ carrierCallId: `carrier-${callId}`, caller: `+1555${callId}` }),
  ...Array.from({ length }, (_, index) => said(`${index}`, `secret of ${callId}, number ${index}`)),
  ended(),
];

/** The folder of a call that is over, and its store, which is closed. */
async function leaveCall(callId: string): Promise<{ folder: string; store: DiskStore }> {
  const folder = await makeFolder();
  const store = await openDisk({ folder });
  await play(store, callId);
  await store.close();
  return { folder, store };
}

async function play(store: DiskStore, callId: string, facts = talk(callId)): Promise<void> {
  for (const event of stamp(facts, { callId })) await store.append(event);
}

const forgotten = (callId: string, at = 9000): CallEvent => ({
  type: 'call.forgotten',
  callId,
  nodeId: 'node',
  term: 2,
  seq: 1,
  at,
});

/** Where a text stands in the folder: in the bytes of a file, or in what the compressed ones hold. */
async function findIn(folder: string, text: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile());
  const found: string[] = [];
  for (const { parentPath, name } of files)
    if ((await bytesOf(join(parentPath, name))).includes(text)) found.push(name);
  const { entries } = await readLevelFolder(join(folder, 'calls'));
  for (const { key, value } of entries()) if (value?.includes(text) === true) found.push(key);
  return found;
}

/** Of a file that the library has just put others in the place of: none. */
function bytesOf(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
}

describe('a call that is deleted', () => {
  it('is in no list, counts nowhere, and its facts are one', async () => {
    const store = await openDisk({ folder: await makeFolder() });
    await play(store, '0001');
    await play(store, '0002');
    await store.append(forgotten('0001'));
    expect([await store.get('0001'), await store.get('carrier-0001')]).toEqual([undefined, undefined]);
    expect((await store.list({ limit: 10 })).calls.map(({ callId }) => callId)).toEqual(['0002']);
    expect((await store.aggregates()).totalCalls).toBe(1);
    expect(await store.events('0001')).toEqual([forgotten('0001')]);
    expect(await store.forgotten()).toEqual([forgotten('0001')]);
  });

  it('leaves no byte in any file, and the others whole', async () => {
    const folder = await makeFolder();
    const store = await openDisk({ folder });
    await play(store, '0001');
    await play(store, '0002');
    await play(store, '0003');
    expect((await findIn(folder, 'secret of 0002')).length).toBeGreaterThan(0);
    await store.append(forgotten('0002'));
    expect([await findIn(folder, 'secret of 0002'), await findIn(folder, '+15550002')]).toEqual([[], []]);
    expect((await store.get('0001'))?.transcript).toHaveLength(3);
    await store.close();
    expect(await findIn(folder, 'secret of 0002')).toEqual([]);
    const again = await openDisk({ folder });
    expect((await again.get('0003'))?.transcript).toHaveLength(3);
    expect(await again.get('0002')).toBeUndefined();
    expect(await findIn(folder, 'secret of 0002')).toEqual([]);
  });

  it.each([
    ['written before the last start', 1],
    ['among many, in files of several levels', 5],
  ])('leaves no byte where it was %s', async (_, starts) => {
    const folder = await makeFolder();
    const filler = 'x'.repeat(2000);
    for (let start = 0; start < starts; start += 1) {
      const store = await openDisk({ folder });
      for (let index = 0; index < 20; index += 1) {
        const callId = `${String(start).padStart(2, '0')}${String(index).padStart(2, '0')}`;
        const random = Array.from({ length: 20 }, () => said('x', filler + String(Math.sin(index))));
        await play(store, callId, [...talk(callId).slice(0, -1), ...random, ended()]);
      }
      await store.close();
    }
    const store = await openDisk({ folder });
    for (const callId of ['0000', '0007', `${String(starts - 1).padStart(2, '0')}19`]) {
      expect((await findIn(folder, `secret of ${callId}`)).length).toBeGreaterThan(0);
      await store.append(forgotten(callId));
      expect(await findIn(folder, `secret of ${callId}`)).toEqual([]);
    }
    expect((await store.list({ limit: 500 })).total).toBe(starts * 20 - 3);
  });

  it('takes no fact that comes later, also after a restart', async () => {
    const folder = await makeFolder();
    const store = await openDisk({ folder });
    await play(store, '0001');
    await store.append(forgotten('0001'));
    const late = stamp([...talk('0001'), said('9', 'secret that came late')], { callId: '0001' });
    for (const event of late) await store.append({ ...event, term: 3 });
    expect(await store.get('0001')).toBeUndefined();
    await store.close();
    const again = await openDisk({ folder });
    for (const event of late) await again.append({ ...event, term: 3 });
    expect([await again.get('0001'), await again.forgotten()]).toEqual([undefined, [forgotten('0001')]]);
    await again.close();
    expect(await findIn(folder, 'secret')).toEqual([]);
  });

  it('is rid of at the next start where the process died before its files were', async () => {
    const { folder } = await leaveCall('0001');
    const log = await LevelLog.open({ folder });
    await log.erase({ call: 0, rows: 5, callId: '0001', value: encodeFact(forgotten('0001')) });
    await log.close();
    expect((await findIn(folder, 'secret of 0001')).length).toBeGreaterThan(0);
    const again = await openDisk({ folder });
    expect(await again.forgotten()).toEqual([forgotten('0001')]);
    expect(await findIn(folder, 'secret of 0001')).toEqual([]);
  });

  it('is said to be on disk still where that cannot be written, and is gone once it can', async () => {
    const { folder, store } = await leaveCall('0001');
    const error: unknown = await store.append(forgotten('0001')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(await store.get('0001')).toBeUndefined();
    expect((await findIn(folder, 'secret of 0001')).length).toBeGreaterThan(0);
  });

  it('leaves no byte where somebody reads its facts meanwhile', async () => {
    const folder = await makeFolder();
    const log = await LevelLog.open({ folder });
    onTestFinished(() => log.close());
    const rows = Array.from({ length: 5 }, (_, row) => ({
      call: 0,
      row,
      value: `secret ${row}`,
      isOver: false,
    }));
    await log.append(rows);
    const reader = log.read(rowsOf(0));
    await reader.next();
    const erasure = { call: 0, rows: 5, callId: '0001', value: encodeFact(forgotten('0001')) };
    await log.erase(erasure);
    const scrubbing = log.scrub(erasure);
    await reader.return(undefined);
    await scrubbing;
    expect(await findIn(folder, 'secret')).toEqual([]);
  });

  it('leaves no byte where somebody begins to read meanwhile', async () => {
    const folder = await makeFolder();
    const log = await LevelLog.open({ folder });
    onTestFinished(() => log.close());
    const other = { call: 1, row: 0, value: 'another call', isOver: false };
    await log.append([{ call: 0, row: 0, value: 'secret', isOver: false }, other]);
    const erasure = { call: 0, rows: 1, callId: '0001', value: encodeFact(forgotten('0001')) };
    await log.erase(erasure);
    const scrubbing = log.scrub(erasure);
    const reader = log.read(rowsOf(1));
    const first = reader.next();
    await scrubbing;
    expect(await findIn(folder, 'secret')).toEqual([]);
    expect((await first).value).toEqual([[expect.any(String), 'another call']]);
    await reader.return(undefined);
  });

  it('that is not here is none to be remembered', async () => {
    const store = await openDisk({ folder: await makeFolder() });
    await store.append(forgotten('0001'));
    expect(await store.forgotten()).toEqual([]);
  });
});
