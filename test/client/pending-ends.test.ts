import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { attachCallbacks } from '../../src/calls/facts/callbacks.js';
import { PendingEnds } from '../../src/client/pending-ends.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { EventBus } from '../../src/events/bus.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';

let folder: string;
let logger: RecordedLogger;
let clock: FakeClock;
let ends: PendingEnds;

beforeEach(async () => {
  folder = join(await makeFolder(), 'ended');
  logger = new RecordedLogger();
  clock = new FakeClock();
  ends = new PendingEnds({ folder, clock, logger });
});

const files = () => readdir(folder).catch(() => []);
const facts = (callId = 'call-1') =>
  stamp([started(), ended(), { type: 'incident.noted', code: 'odd', message: '' }], { callId });

async function storeOf(...events: CallEvent[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const event of events) await store.append(event);
  return store;
}

describe('before the end of a call is stored', () => {
  it('its file is there; its other facts wait for nothing, and keep their order', async () => {
    const stored: unknown[] = [];
    const there: string[][] = [];
    const append = ends.before(async (event) => {
      const index = stored.push(event.type) - 1;
      there[index] = await files();
    });
    const [start, end, late] = facts() as [CallEvent, CallEvent, CallEvent];
    const first = append(start);
    expect(stored).toEqual(['call.started']);
    await first;
    const writes = [append(end), append(late), append({ ...late, callId: 'call-2' })];
    expect(stored).toEqual(['call.started', 'incident.noted']);
    await Promise.all(writes);
    await append(late);
    expect(stored.slice(2)).toEqual(['call.ended', 'incident.noted', 'incident.noted']);
    expect(there[0]).toEqual([]);
    expect(there[2]).toEqual(['call-1.json']);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'call-1.json'))).mode & 0o777).toBe(0o600);
  });

  it('a disk that fails holds nothing up, and is told of once', async () => {
    await writeFile(folder, 'no folder');
    const stored: string[] = [];
    const append = ends.before(async ({ type }) => void stored.push(type));
    for (const callId of ['call-1', 'call-2']) for (const event of facts(callId)) await append(event);
    expect(stored).toHaveLength(6);
    expect(logger.sentences('warn')).toEqual([
      'cannot write to disk: onCallEnd is not repeated if the process dies while it runs',
    ]);
  });

  it.skipIf(process.platform === 'win32')(
    'a disk that does not answer is waited for no longer than a second',
    async () => {
      await mkdir(folder);
      const pipe = join(folder, 'call-1.json');
      // Whoever opens it to write waits for a reader.
      execFileSync('mkfifo', [pipe]);
      const stored: string[] = [];
      const append = ends.before(async ({ type }) => void stored.push(type));
      const written = facts().map((event) => append(event));
      clock.advance(999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(stored).toEqual(['call.started']);
      clock.advance(1);
      await Promise.all(written);
      expect(stored).toEqual(['call.started', 'call.ended', 'incident.noted']);
      await readFile(pipe);
      await ends.told('call-1');
      expect(await files()).toEqual([]);
    },
  );

  it('passes on what the store refuses', async () => {
    const append = ends.before(async () => Promise.reject(new Error('full')));
    for (const event of facts()) await expect(append(event)).rejects.toThrow('full');
  });
});

describe('a call whose end was told', () => {
  const attach = (store: MemoryStore, onCallEnd: () => unknown) => {
    const bus = new EventBus(logger);
    bus.subscribeDurable(ends.before((event) => store.append(event)));
    const endTold = (callId: string) => ends.told(callId);
    return { bus, callbacks: attachCallbacks(bus, { callbacks: { onCallEnd }, logger, endTold }) };
  };

  it('has a file while its callback runs', async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { bus, callbacks } = attach(new MemoryStore(), () => running);
    for (const event of facts()) bus.publish(event);
    await bus.settled();
    expect(await files()).toEqual(['call-1.json']);
    finish();
    await callbacks.settled();
    expect(await files()).toEqual([]);
  });

  it('has none where its beginning was never heard of, and so no callback ran', async () => {
    const { bus, callbacks } = attach(new MemoryStore(), () => {});
    bus.publish(facts()[1] as CallEvent);
    await bus.settled();
    await callbacks.settled();
    await soon(async () => expect(await files()).toEqual([]));
  });

  it('has none where its file was still being written', async () => {
    const begun = ends.begin('call-1');
    await ends.told('call-1');
    await begun;
    expect(await files()).toEqual([]);
  });
});

describe('what a process has left', () => {
  it('is every call that is over, the one that ended first before the others', async () => {
    const [one, two] = [facts('call-1'), stamp([started(), ended()], { callId: 'a/../b' })];
    const store = await storeOf(...two.map((event) => ({ ...event, at: event.at + 5000 })), ...one);
    await ends.begin('a/../b');
    await ends.begin('call-1', { deliveries: 2 });
    const left = await ends.left(store);
    expect(left.map(({ record, deliveries }) => [record.callId, deliveries])).toEqual([
      ['call-1', 3],
      ['a/../b', 1],
    ]);
    expect(await files()).toHaveLength(2);
  });

  it('is no call that is up, whose end is yet to be told, nor one that the store does not have', async () => {
    const store = await storeOf(...facts('call-1').slice(0, 1));
    await ends.begin('call-1');
    await ends.begin('call-2');
    expect(await ends.left(store)).toEqual([]);
    expect(await files()).toEqual(['call-1.json']);
  });

  it('is no call whose callback returns here as the others are looked for', async () => {
    const store = await storeOf(...facts());
    await ends.begin('call-1');
    const looking = ends.left(store, (callId) => ends.isRunning(callId));
    await ends.told('call-1');
    expect(await looking).toEqual([]);
    expect(await files()).toEqual([]);
  });

  it('is nothing where there is no folder', async () => {
    expect(await ends.left(new MemoryStore())).toEqual([]);
  });

  it.each(['', '{}'])(
    'is told of once more where a file was not written to its end, and leaves alone what is none of ours: "%s"',
    async (text) => {
      await mkdir(folder);
      await writeFile(join(folder, 'call-1.json'), text);
      for (const name of ['%zz.json', 'notes.txt']) await writeFile(join(folder, name), 'mine');
      const left = await ends.left(await storeOf(...facts()));
      expect(left).toMatchObject([{ record: { callId: 'call-1' }, deliveries: 1 }]);
      expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
      expect(await files()).toHaveLength(3);
    },
  );

  it('is given up after five processes', async () => {
    const store = await storeOf(...facts());
    await ends.begin('call-1', { deliveries: 3 });
    expect(await ends.left(store)).toHaveLength(1);
    await ends.begin('call-1', { deliveries: 4 });
    expect(await ends.left(store)).toEqual([]);
    expect(await files()).toEqual([]);
    expect(logger.sentences('error')).toEqual(['onCallEnd never returned: it is not called again']);
  });
});
