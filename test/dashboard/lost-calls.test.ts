import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallsPage, Snapshot } from '../../src/contract/dashboard-api.js';
import { Senders } from '../../src/dashboard/ingest-senders.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';
import { FakeClock } from '../support/fake-clock.js';
import { openDashboard, socketFolder, type TestDashboard, TOKEN } from '../support/ingest-dashboard.js';

const LIVE = stamp([started(), { type: 'turn.completed', turn: turn(0) }, ended()], { at: 1000 });
const OTHER = stamp([started({ carrierCallId: null })], { callId: 'other', at: 2000 }).map((event) => ({
  ...event,
  nodeId: 'node-2',
}));

let room: ReturnType<typeof socketFolder>;
let clock: FakeClock;
let store: MemoryStore;
let dashboard: TestDashboard;

beforeEach(async () => {
  room = socketFolder();
  clock = new FakeClock();
  store = new MemoryStore();
  dashboard = await openDashboard({ folder: room.folder, clock, store });
  await dashboard.ingest({ nodeId: 'node-1', events: LIVE.slice(0, 1) });
});
afterEach(async () => {
  await dashboard.close();
  room.remove();
});

const shown = async () => (await dashboard.records()).get('call-1');
const list = async (query: string) =>
  (await dashboard.get<CallsPage>(`/api/dashboard/calls?${query}`)).calls.map(({ callId }) => callId);

describe('the calls of a process that is silent', () => {
  it('are up for as long as it gives signs of life', async () => {
    for (let second = 0; second < 300; second += 40) {
      await clock.advanceAsync(40_000);
      await dashboard.ingest({ nodeId: 'node-1' });
    }
    expect(await shown()).toMatchObject({ status: 'active' });
  });

  it('are shown as process-lost after 45 seconds, since when it is silent', async () => {
    const heardAt = clock.wallNow();
    await clock.advanceAsync(44_999);
    expect(await shown()).toMatchObject({ status: 'active' });
    await clock.advanceAsync(1);
    expect(await shown()).toMatchObject({
      status: 'completed',
      endReason: 'process-lost',
      outcome: 'answered',
      endedAt: heardAt,
    });
  });

  it('stand everywhere where ended calls stand, and nowhere else', async () => {
    await clock.advanceAsync(46_000);
    await dashboard.ingest({ nodeId: 'node-2', events: OTHER });
    expect(await list('status=completed')).toEqual(['call-1']);
    expect(await list('status=active')).toEqual(['other']);
    expect(await list('limit=1')).toEqual(['other']);
    expect(await list('status=completed&q=nobody')).toEqual([]);
    expect(await dashboard.get('/api/dashboard/active')).toMatchObject({ calls: [{ callId: 'other' }] });
    expect(await dashboard.get('/api/dashboard/aggregates')).toMatchObject({
      totalCalls: 2,
      activeCalls: 1,
      completedCalls: 1,
    });
  });

  it('are chosen and counted by what is shown of them', async () => {
    await dashboard.ingest({ nodeId: 'node-2', events: OTHER });
    const counted = (query: string) => dashboard.get(`/api/dashboard/aggregates?${query}`);
    expect(await counted('from=1500')).toMatchObject({ totalCalls: 1, activeCalls: 1 });
    await clock.advanceAsync(46_000);
    await dashboard.ingest({ nodeId: 'node-2' });
    expect(await list('outcome=answered')).toEqual(['call-1']);
    expect(await list('outcome=failed')).toEqual([]);
    expect(await list('endReason=process-lost')).toEqual(['call-1']);
    expect(await list('outcome=answered&words=nothing')).toEqual([]);
    expect(await counted('from=1500')).toMatchObject({ totalCalls: 1, activeCalls: 1, completedCalls: 0 });
    expect(await counted('outcome=answered')).toMatchObject({ totalCalls: 1, completedCalls: 1 });
    expect(await counted('status=active')).toMatchObject({ totalCalls: 1, activeCalls: 1 });
  });

  it('are paged through to the end by the status that is shown', async () => {
    for (let index = 0; index < 7; index += 1) {
      const facts =
        index % 2 === 0 ? [started({ carrierCallId: null })] : [started({ carrierCallId: null }), ended()];
      await dashboard.ingest({
        nodeId: 'node-1',
        events: stamp(facts, { callId: `c${index}`, at: 5000 + index }),
      });
    }
    await clock.advanceAsync(46_000);
    await dashboard.ingest({ nodeId: 'node-2', events: OTHER });
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: CallsPage = await dashboard.get(`/api/dashboard/calls?status=completed&limit=2${more}`);
      expect(page.total).toBe(8);
      ids.push(...page.calls.map(({ callId }) => callId));
      cursor = page.nextCursor;
    }
    expect(ids).toEqual(['c6', 'c5', 'c4', 'c3', 'c2', 'c1', 'c0', 'call-1']);
  });

  it('are up again when it comes back, and end as they ended', async () => {
    await clock.advanceAsync(60_000);
    await dashboard.ingest({ nodeId: 'node-1' });
    expect(await shown()).toMatchObject({ status: 'active', endReason: null });
    await dashboard.ingest({ nodeId: 'node-1', events: LIVE.slice(1) });
    expect(await shown()).toMatchObject({ endReason: 'caller-hangup', endedAt: 1020, turnCount: 1 });
  });

  it('are lost for good after a day', async () => {
    await clock.advanceAsync(25 * 60 * 60 * 1000);
    expect(await store.active()).toEqual([]);
    expect(await store.get('call-1')).toMatchObject({ endReason: 'process-lost' });
  });

  it('are not lost because the dashboard was started anew', async () => {
    await dashboard.close();
    const again = await openDashboard({ folder: room.folder, clock, store });
    dashboard = again;
    await clock.advanceAsync(30_000);
    expect(await shown()).toMatchObject({ status: 'active' });
    await clock.advanceAsync(16_000);
    expect(await shown()).toMatchObject({ endReason: 'process-lost' });
  });

  it('end on open pages, which start anew when it comes back', async () => {
    const controller = new AbortController();
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const stream = await fetch(`${dashboard.url}/api/dashboard/events`, {
      headers,
      signal: controller.signal,
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (pattern: RegExp) => {
      while (!pattern.test(text)) text += (await reader?.read())?.value ?? '';
    };
    await readUntil(/event: snapshot\n.*\n\n/);
    await clock.advanceAsync(50_000);
    await readUntil(/event: call\.ended\n.*process-lost.*\n\n/);
    text = '';
    await dashboard.ingest({ nodeId: 'node-1' });
    await readUntil(/event: snapshot\n.*\n\n/);
    const [, data = ''] = /event: snapshot\ndata: (.*)\n\n/.exec(text) ?? [];
    expect((JSON.parse(data) as Snapshot).active).toMatchObject([{ callId: 'call-1', status: 'active' }]);
    controller.abort();
  });
});

describe('what one process may have here', () => {
  it('is bounded in calls and in length, and ended calls make room', () => {
    const senders = new Senders(clock, { activeCalls: 2, callLength: 100, activeLength: 150 });
    const charge = (callId: string, length: number) => senders.charge('a', callId, length);
    expect([charge('1', 60), charge('1', 50), charge('2', 40), charge('3', 1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(charge('2', 55)).toBe(false);
    senders.release('a', '1');
    expect([charge('3', 90), senders.charge('b', '1', 100)]).toEqual([true, true]);
  });

  it('bounds what all processes together have active, however many names one takes', () => {
    const senders = new Senders(clock, { senders: 2, totalCalls: 3, totalLength: 100 });
    const charge = (node: number, length = 10) => senders.charge(`node-${node}`, 'a', length);
    expect([charge(1), charge(2), charge(3), charge(4)]).toEqual([true, true, true, false]);
    expect(charge(1, 71)).toBe(false);
    expect(charge(1, 70)).toBe(true);
    senders.release('node-1', 'a');
    expect([charge(4), charge(4, 70), charge(4)]).toEqual([true, true, false]);
    for (const node of [2, 3, 4]) senders.release(`node-${node}`, 'a');
    for (let node = 10; node < 20; node += 1) senders.hear(`node-${node}`);
    expect(senders.count).toBeLessThanOrEqual(4);
  });

  it('is remembered of a bounded number of them', () => {
    const senders = new Senders(clock, { senders: 10 });
    for (let index = 0; index < 1000; index += 1) senders.hear(`node-${index}`);
    expect(senders.count).toBe(10);
  });
});
