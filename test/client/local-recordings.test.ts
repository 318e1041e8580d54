import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { LocalRecordings } from '../../src/client/local-recordings.js';
import type { LocalRecording } from '../../src/contract/call-record.js';
import { Recordings } from '../../src/recordings/recordings.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { makeFolder } from '../recordings/rig.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';

const BEGUN: LocalRecording = {
  status: 'recording',
  file: null,
  startedAt: 1000,
  durationMs: null,
  bytes: null,
  pauses: [],
  trouble: null,
};

it('finishes what the process before has left, where a deleted call cannot be removed', async () => {
  const [dataDir, store, logger] = [await makeFolder(), new MemoryStore(), new RecordedLogger()];
  Object.defineProperty(store, 'isKept', { value: true });
  mkdirSync(join(dataDir, 'recordings', 'tapes'), { recursive: true });
  writeFileSync(join(dataDir, 'recordings', 'tapes', 'gone.1.tape'), 'x');
  const facts = [started(), { type: 'local-recording.updated', recording: BEGUN } as const, ended()];
  for (const callId of ['gone', 'kept'])
    for (const event of stamp(facts, { callId })) await store.append(event);
  await store.append({ type: 'call.forgotten', callId: 'gone', nodeId: 'node', term: 2, seq: 1, at: 9 });
  const remove = vi.spyOn(Recordings.prototype, 'remove').mockRejectedValue(new Error('EPERM'));
  onTestFinished(() => remove.mockRestore());
  const told: string[] = [];
  const recordings = new LocalRecordings({
    options: { localRecording: {} as never, dataDir },
    recordedLocally: ({ callId }) => void told.push(callId),
    clock: systemClock,
    logger,
  });
  await recordings.open(store);
  recordings.recover(store);
  await soon(() => expect(told).toEqual(['kept']));
  await recordings.close(1000);
  expect(remove).toHaveBeenCalledWith('gone');
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ callId: 'gone' }) }),
  );
});

it('finishes in a cluster what is of this server, and leaves the rest to whoever has it', async () => {
  const [dataDir, store, logger] = [await makeFolder(), new MemoryStore(), new RecordedLogger()];
  Object.defineProperty(store, 'isKept', { value: true });
  const address = 'http://10.0.0.5:8000';
  const say = async (callId: string, server: string, isOver: boolean) => {
    const recording = { ...BEGUN, server };
    const facts = [started(), { type: 'local-recording.updated', recording } as const];
    for (const event of stamp(isOver ? [...facts, ended()] : facts, { callId })) await store.append(event);
  };
  await say('ours', address, true);
  await say('theirs', 'http://10.0.0.6:8000', true);
  await say('up', address, false);
  const told: LocalRecording[] = [];
  const recordings = new LocalRecordings({
    options: { localRecording: {} as never, dataDir, cluster: { address } },
    recordedLocally: ({ callId }, recording) => void told.push({ ...recording, file: callId }),
    clock: systemClock,
    logger,
  });
  await recordings.open(store);
  recordings.recover(store);
  await say('up', address, true);
  for (const callId of ['theirs', 'up', 'nobody']) recordings.endedElsewhere(callId, store);
  await soon(() => expect(told.length).toBeGreaterThan(1));
  await recordings.close(1000);
  expect(told.map(({ file, status, server }) => [file, status, server])).toEqual([
    ['ours', 'failed', address],
    ['up', 'failed', address],
  ]);
  expect(logger.lines.filter(({ fields }) => fields?.callId === 'theirs')).toEqual([]);
});
