import { describe, expect, it } from 'vitest';
import { LOSSES } from '../../src/calls/ending/lost-call.js';
import { attachCallbacks } from '../../src/calls/facts/callbacks.js';
import { takeOver } from '../../src/client/take-over.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord, HangUpState } from '../../src/contract/call-record.js';
import { EventBus } from '../../src/events/bus.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, IDENTITY, stamp, started } from '../support/call-facts.js';
import { makeFolder, openDisk } from '../support/data-folder.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const said = (id: string, final: boolean): CallFact => ({
  type: 'transcript.segment',
  entry: { id, turnIndex: 0, role: 'user', text: id, at: 5, final },
});

/** A process that starts with what is in `folder`. */
async function start(folder: string) {
  const logger = new RecordedLogger();
  const [bus, store] = [new EventBus(logger), await openDisk({ folder })];
  const [told, facts]: [CallRecord[], CallEvent[]] = [[], []];
  const recalled: [callId: string, hangUp: HangUpState | null][] = [];
  bus.subscribeDurable((event) => store.append(event));
  bus.subscribe((event) => facts.push(event));
  const callbacks = attachCallbacks(bus, { callbacks: { onCallEnd: (record) => told.push(record) }, logger });
  const desk = {
    mayBeUp: ({ callId }: CallRecord) => callId === 'talking',
    recall: ({ callId, hangUp }: CallRecord) => void recalled.push([callId, hangUp]),
  };
  await takeOver(store, { nodeId: 'node-2', bus, callbacks, desk, logger });
  return { bus, store, told, facts, recalled, logger };
}

/** What a process has left behind that was killed with two calls up. */
async function leaveBehind(): Promise<string> {
  const folder = await makeFolder();
  const store = await DiskStore.open({ folder });
  const calls: [string, CallFact[]][] = [
    ['over', [started({ carrierCallId: 'carrier-over' }), ended()]],
    ['talking', [started(), said('heard', true), said('half', false), said('half', false)]],
    ['ringing', [{ ...IDENTITY, type: 'call.status', status: 'ringing' }]],
  ];
  for (const [index, [callId, facts]] of calls.entries()) {
    for (const event of stamp(facts, { callId, at: 1000 * (index + 1) })) await store.append(event);
  }
  await store.close();
  return folder;
}

describe('takeOver', () => {
  it('ends the calls that died with the process before, when they were last known to be', async () => {
    const { told, facts, store, logger } = await start(await leaveBehind());
    expect(facts.map(({ type }) => type)).toEqual([
      'incident.noted',
      'call.ended',
      'incident.noted',
      'call.ended',
    ]);
    expect(told.map(({ callId }) => callId)).toEqual(['talking', 'ringing']);
    expect(told[0]).toMatchObject({
      status: 'completed',
      endReason: 'process-lost',
      outcome: 'answered',
      endedAt: 2020,
      durationMs: 20,
      nodeId: 'node-2',
      originId: 'node-1',
      term: 2,
      incidents: [{ at: 2020, code: 'process-lost', message: LOSSES['not-kept'], durationMs: null }],
    });
    expect(told[0]?.transcript.map(({ text }) => text)).toEqual(['heard']);
    expect(await store.active()).toEqual([]);
    expect(await store.get('talking')).toEqual(told[0]);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { calls: 2 } }]);
  });

  it('takes a call that a fax had answered for one that failed', async () => {
    const folder = await makeFolder();
    const store = await DiskStore.open({ folder });
    const facts: CallFact[] = [
      started(),
      { type: 'amd.detected', amd: { answeredBy: 'fax', detectedAt: 5 } },
    ];
    for (const event of stamp(facts, { callId: 'fax', at: 1000 })) await store.append(event);
    await store.close();
    const { told, logger } = await start(folder);
    expect(told).toMatchObject([{ callId: 'fax', endReason: 'process-lost', outcome: 'failed' }]);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { calls: 1 } }]);
  });

  it('does so once', async () => {
    const folder = await leaveBehind();
    const first = await start(folder);
    await first.store.close();
    const second = await start(folder);
    expect([second.facts, second.told, second.logger.lines]).toEqual([[], [], []]);
    expect(await second.store.get('talking')).toEqual(first.told[0]);
  });

  it('is believed by those who have heard more than was kept', async () => {
    const folder = await leaveBehind();
    const elsewhere = new MemoryStore();
    const heard = [started(), ...Array.from({ length: 200 }, () => said('half', false))];
    for (const event of stamp(heard, { callId: 'talking', at: 2000 })) await elsewhere.append(event);
    for (const event of (await start(folder)).facts) await elsewhere.append(event);
    expect(await elsewhere.get('talking')).toMatchObject({ status: 'completed', endReason: 'process-lost' });
  });

  it('tells the desk which calls are over, and which of them are yet to be hung up, until that is done', async () => {
    const folder = await leaveBehind();
    const first = await start(folder);
    const left = [
      ['over', null],
      ['ringing', null],
      ['talking', 'pending'],
    ];
    expect(first.recalled.sort()).toEqual(left);
    await first.store.close();
    const second = await start(folder);
    expect(second.recalled.sort()).toEqual(left);
    const seq = ((await second.store.get('talking'))?.seq ?? 0) + 1;
    const done = { type: 'hangup.updated', state: 'done' } as const;
    await second.store.append({ callId: 'talking', nodeId: 'node-2', term: 2, seq, at: 9000, ...done });
    await second.store.close();
    expect((await start(folder)).recalled).toContainEqual(['talking', 'done']);
  });

  it('has nothing to do for a store that forgets', async () => {
    const logger = new RecordedLogger();
    const bus = new EventBus(logger);
    const refuse = () => {
      throw new Error('nothing is to be taken over');
    };
    await takeOver(new MemoryStore(), {
      nodeId: 'node-2',
      bus,
      callbacks: { adopt: refuse },
      desk: { recall: refuse, mayBeUp: refuse },
      logger,
    });
    expect(logger.lines).toEqual([]);
  });
});
