// A dashboard in a process of its own that reads the broker of a cluster, and is no node of it. Whole calls, on both carriers.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { memoryCluster } from '../../src/cluster/open-coordinator.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallsPage } from '../../src/contract/dashboard-api.js';
import type { CallStore } from '../../src/stores/call-store.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { started, stamp } from '../support/call-facts.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../support/cluster-node.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { readExposition, sampleOf } from '../support/exposition.js';
import { type EventStream, listenTo } from '../support/event-stream.js';
import { openDashboard, socketFolder, type TestDashboard, TOKEN } from '../support/ingest-dashboard.js';

const SHORT = [WAIT, { type: 'hang-up' }] as const;
const LONG = [WAIT, { type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }] as const;
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };

let room: ReturnType<typeof socketFolder>;
const dashboards: TestDashboard[] = [];
const streams: EventStream[] = [];

beforeEach(() => {
  room = socketFolder();
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await Promise.all(dashboards.splice(0).map((dashboard) => dashboard.close()));
  room.remove();
});

async function observe({ name }: Pick<ClusterPhones, 'name'>, store?: CallStore): Promise<TestDashboard> {
  const cluster = { url: 'memory:', name, secret: CLUSTER_SECRET };
  const dashboard = await openDashboard({ folder: room.folder, cluster, ...(store && { store }) });
  dashboards.push(dashboard);
  return dashboard;
}

async function listen({ url }: TestDashboard, lastEventId?: string): Promise<EventStream> {
  const headers = { ...AUTHORIZED, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) };
  const stream = await listenTo(url, headers);
  streams.push(stream);
  await eventually('the first event', () => (lastEventId ?? stream.events[0]) && true);
  return stream;
}

/** Resolves with the ID of the call that is up, as the dashboard shows it. */
async function greeted({ get }: TestDashboard): Promise<string> {
  const record = await eventually('a live call', async () => {
    const { calls } = await get<{ calls: CallRecord[] }>('/api/dashboard/active');
    return calls.find(({ transcript }) => transcript.length > 0);
  });
  return record.callId;
}

async function order({ url }: TestDashboard, callId: string, what: string, body = {}): Promise<Response> {
  return fetch(`${url}/api/dashboard/calls/${callId}/${what}`, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function ended({ get }: TestDashboard, callId: string): Promise<CallRecord> {
  return eventually('the end', async () => {
    const record = await get<CallRecord>(`/api/dashboard/calls/${callId}`);
    return record.status === 'completed' ? record : undefined;
  });
}

function cutObserver({ cluster }: ClusterPhones): () => void {
  const [nodeId = ''] = cluster.observers.keys();
  cluster.cut(nodeId);
  return () => cluster.heal(nodeId);
}

describe('a dashboard of a cluster whose broker has never answered', () => {
  it('shows what it has kept, and takes no call for lost', async () => {
    const name = 'silent';
    vi.spyOn(memoryCluster(name), 'isCut').mockReturnValue(true);
    const store = new MemoryStore();
    for (const fact of stamp([started()])) await store.append(fact);
    const dashboard = await observe({ name }, store);
    expect(dashboard.cluster).toMatchObject({ isBrokerThere: false, nodeCount: 0 });
    await pause(systemClock, 60_000);
    expect((await dashboard.get<{ calls: CallRecord[] }>('/api/dashboard/active')).calls).toMatchObject([
      { callId: 'call-1', status: 'active' },
    ]);
    const page = await listen(dashboard);
    await eventually('that it says so', () => page.events.find(([type]) => type === 'broker'));
  });
});

describe('the page of a server of a cluster', () => {
  it('says that the broker is away, and that it is back', async () => {
    await using phones = await ClusterPhones.on('carrier-a');
    const { port } = await phones.serve();
    const stream = await listenTo(`http://127.0.0.1:${port}`, {});
    streams.push(stream);
    const said = () => stream.events.filter(([type]) => type === 'broker').map(([, data]) => data);
    const [nodeId = ''] = phones.cluster.nodes.keys();
    phones.cluster.cut(nodeId);
    await eventually('that it is away', () => said()[0]);
    phones.cluster.heal(nodeId);
    await eventually('that it is back', () => said()[1]);
    expect(said()).toEqual([{ isThere: false }, { isThere: true }]);
  });
});

describe.each(SIMULATED_CARRIERS)('a dashboard of a cluster, on %s', { timeout: 120_000 }, (id) => {
  it('shows and commands the calls of all servers, and is none of them', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve();
    const dashboard = await observe(phones);
    expect(dashboard.cluster).toMatchObject({ isBrokerThere: true, nodeCount: 2 });
    const page = await listen(dashboard);
    expect(page.events[0]).toEqual(['snapshot', expect.objectContaining({ controls: true, entry: null })]);
    const calling = phones.simulator.call({ script: [...LONG] });
    const callId = await greeted(dashboard);
    const said = await order(dashboard, callId, 'say', { text: 'The shop closes at six.' });
    expect(await said.json()).toEqual({ callId, outcome: 'heard' });
    expect((await order(dashboard, 'no-such-call', 'hangup')).status).toBe(404);
    expect((await order(dashboard, callId, 'hangup')).status).toBe(202);
    const { carrierCallId } = await calling;
    const [record] = await phones.records(carrierCallId);
    expect(record).toMatchObject({ endReason: 'operator-hangup' });
    expect(await ended(dashboard, callId)).toEqual(record);
    expect((await order(dashboard, callId, 'hangup')).status).toBe(409);
    const places = (facts: EventStream['facts']) => facts.map(({ term, seq, type }) => [term, seq, type]);
    await eventually('all facts', () => (page.facts.length === phones.facts.length ? true : undefined));
    expect(places(page.facts)).toEqual(
      places(phones.facts.toSorted((a, b) => a.term - b.term || a.seq - b.seq)),
    );
    for (const { server } of phones.phones)
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^offhook_cluster_nodes 2$/m);
    const metrics = await (await fetch(`${dashboard.url}/metrics`, { headers: AUTHORIZED })).text();
    expect(metrics).toMatch(/^offhook_cluster_nodes 2$/m);
    expect(metrics).toMatch(/^offhook_cluster_broker_up 1$/m);
    expect(metrics).toMatch(/^offhook_calls_held 1$/m);
    expect(await dashboard.get('/ready')).toEqual({ status: 'ready', broker: 'there' });
  });

  it('has its history after a restart, and tells a page that comes back what it missed', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve();
    const store = new MemoryStore();
    const first = await observe(phones, store);
    const before = await phones.simulator.call({ script: [...SHORT] });
    const [one] = await phones.records(before.carrierCallId);
    await ended(first, one?.callId ?? '');
    await first.close();
    const between = await phones.simulator.call({ script: [...SHORT] });
    const [two] = await phones.records(between.carrierCallId);
    // With what it has kept, and without.
    for (const dashboard of [await observe(phones, store), await observe(phones)])
      expect(
        (await dashboard.get<CallsPage>('/api/dashboard/calls')).calls.map(({ callId }) => callId),
      ).toEqual([two?.callId, one?.callId]);
    const dashboard = dashboards.at(-1) as TestDashboard;
    const page = await listen(dashboard);
    const calling = phones.simulator.call({ script: [...LONG] });
    const callId = await greeted(dashboard);
    await eventually('a fact', () => page.facts[0]);
    const { lastEventId } = page;
    page.close();
    const heard = page.facts.length;
    await order(dashboard, callId, 'hangup');
    await calling;
    await ended(dashboard, callId);
    const back = await listen(dashboard, lastEventId);
    await eventually('the end', () => back.facts.find(({ type }) => type === 'call.ended'));
    await pause(systemClock, 500);
    expect(back.events.filter(([type]) => type === 'snapshot')).toEqual([]);
    const ofCall = phones.facts.filter((fact) => fact.callId === callId).toSorted((a, b) => a.seq - b.seq);
    expect([...page.facts.slice(0, heard), ...back.facts]).toEqual(ofCall);
  });

  it('never gets a call when all servers are full, or dead, and shows those as lost whose server is', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve({}, { maxCalls: 1 });
    const dashboard = await observe(phones);
    const calling = phones.simulator.call({ script: [...LONG] });
    const callId = await greeted(dashboard);
    expect(await phones.simulator.call({ script: [...SHORT] })).toMatchObject({ ok: false });
    // Both are gone at once, and nobody is left to say so.
    for (const nodeId of phones.cluster.nodes.keys()) phones.cluster.cut(nodeId);
    phones.proxy.useAll([]);
    const page = await listen(dashboard);
    expect(await phones.simulator.call({ script: [...SHORT] }).catch(() => ({ ok: false }))).toMatchObject({
      ok: false,
    });
    await pause(systemClock, 55_000);
    expect(page.facts).toContainEqual(
      expect.objectContaining({ callId, type: 'call.ended', endReason: 'process-lost' }),
    );
    expect(await dashboard.get(`/api/dashboard/calls/${callId}`)).toMatchObject({
      endReason: 'process-lost',
    });
    for (const nodeId of phones.cluster.nodes.keys()) phones.cluster.heal(nodeId);
    await calling;
    await eventually('what a server says of it', async () => {
      const { endReason } = await dashboard.get<CallRecord>(`/api/dashboard/calls/${callId}`);
      return endReason === 'caller-hangup' ? true : undefined;
    });
  });

  it('goes on showing what it has while the broker is away, says so, and catches up', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve();
    const dashboard = await observe(phones);
    const calling = phones.simulator.call({ script: [...LONG] });
    const callId = await greeted(dashboard);
    const page = await listen(dashboard);
    const heal = cutObserver(phones);
    await eventually('that it says so', () => page.events.find(([type]) => type === 'broker'));
    expect(page.events.at(-1)).toEqual(['broker', { isThere: false }]);
    expect(await dashboard.get('/ready')).toEqual({ status: 'ready', broker: 'away' });
    const late = await listen(dashboard);
    await eventually('that it says so to who comes', () => late.events.find(([type]) => type === 'broker'));
    await calling;
    await phones.records((await phones.phones[0]?.server.calls.get(callId))?.carrierCallId ?? '');
    // A node cannot be known to be gone.
    await pause(systemClock, 60_000);
    expect((await dashboard.get<{ calls: CallRecord[] }>('/api/dashboard/active')).calls).toMatchObject([
      { callId },
    ]);
    // What was stated meanwhile is with the servers alone.
    phones.cluster.log.splice(0);
    heal();
    const record = await ended(dashboard, callId);
    expect(record).toEqual(await phones.phones[0]?.server.calls.get(callId));
    await eventually('that it is back', () =>
      page.events.find(([type, data]) => type === 'broker' && (data as { isThere: boolean }).isThere),
    );
  });

  it('asks the servers for what the log has lost of a call', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve();
    const first = await observe(phones);
    const calling = phones.simulator.call({ script: [...LONG] });
    const callId = await greeted(first);
    await eventually('the greeting', () => phones.facts.find(({ type }) => type === 'turn.completed'));
    phones.cluster.log.splice(0);
    const later = await observe(phones);
    expect((await order(later, callId, 'hangup')).status).toBe(202);
    await calling;
    const record = await ended(later, callId);
    expect(record.transcript.map(({ text }) => text)).toEqual(['Hello, how can I help you?']);
    expect(record).toEqual(await ended(first, callId));
  });

  it('tells its pages anew of a call that it took for lost, and that a later server has', async () => {
    await using phones = await ClusterPhones.on(id);
    await phones.serve();
    const dashboard = await observe(phones);
    const script = [WAIT, { type: 'pause', durationMs: 90_000 }, { type: 'hang-up' }] as const;
    const calling = phones.simulator.call({ script: [...script] });
    const callId = await greeted(dashboard);
    const page = await listen(dashboard);
    const [nodeId = ''] = phones.cluster.nodes.keys();
    phones.cluster.cut(nodeId);
    // A lease, 45 seconds, and up to 5 until somebody looks.
    await eventually('that it is lost', () => page.facts.find(({ type }) => type === 'call.ended'), 70_000);
    const snapshots = () => page.events.filter(([type]) => type === 'snapshot').length;
    expect(snapshots()).toBe(1);
    await phones.serve();
    await eventually('a server that has it', async () => {
      const record = await dashboard.get<CallRecord>(`/api/dashboard/calls/${callId}`);
      return record.nodeId === nodeId ? undefined : true;
    });
    await eventually('another snapshot', () => (snapshots() > 1 ? true : undefined));
    phones.cluster.heal(nodeId);
    await calling;
  });

  it('tells what each server measures, as each server does', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 3; count += 1) await phones.serve();
    const dashboard = await observe(phones);
    const report = await phones.simulator.call({ script: [...SHORT] });
    await phones.records(report.carrierCallId);
    const calling = phones.simulator.call({ script: [...LONG] });
    await greeted(dashboard);
    const addresses = phones.phones.map(({ port }) => `http://127.0.0.1:${port}`);
    const readAt = async (url: string) =>
      readExposition(await (await fetch(`${url}/metrics/servers`, { headers: AUTHORIZED })).text());
    const urls = [...phones.phones.map(({ server }) => server.url), dashboard.url];
    const of = (families: Awaited<ReturnType<typeof readAt>>, name: string, labels = {}) =>
      addresses.map((server) => sampleOf(families, name, { server, ...labels }) ?? 0);
    for (const url of urls) {
      const families = await readAt(url);
      expect(of(families, 'offhook_server_up')).toEqual([1, 1, 1]);
      expect(of(families, 'offhook_cluster_nodes')).toEqual([3, 3, 3]);
      // One is up at one of them, and one has ended at one of them.
      expect(of(families, 'offhook_server_calls').toSorted()).toEqual([0, 0, 1]);
      const labels = { direction: 'inbound', outcome: 'answered', end_reason: 'caller-hangup' };
      expect(of(families, 'offhook_calls_total', labels).toSorted()).toEqual([0, 0, 1]);
    }
    // One that nobody reaches.
    const [nodeId = ''] = phones.cluster.nodes.keys();
    phones.cluster.cut(nodeId);
    expect(of(await readAt(dashboard.url), 'offhook_server_up')).toEqual([0, 1, 1]);
    phones.cluster.heal(nodeId);
    await calling;
    expect((await fetch(`${dashboard.url}/metrics/servers`)).status).toBe(401);
  });

  it('deletes a call on all servers', async () => {
    await using phones = await ClusterPhones.on(id);
    for (let count = 0; count < 2; count += 1) await phones.serve();
    const dashboard = await observe(phones);
    const report = await phones.simulator.call({ script: [...SHORT] });
    const [record] = await phones.records(report.carrierCallId);
    const callId = record?.callId ?? '';
    await ended(dashboard, callId);
    const forget = () =>
      fetch(`${dashboard.url}/api/dashboard/calls/${callId}`, { method: 'DELETE', headers: AUTHORIZED });
    const answer = await forget();
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { callId, carrierRecording: null, carrierCallId: null },
    ]);
    await eventually('that it is gone', async () =>
      (await dashboard.get<CallsPage>('/api/dashboard/calls')).total === 0 ? true : undefined,
    );
    for (const { server } of phones.phones) expect((await server.calls.list()).total).toBe(0);
    const again = await fetch(`${dashboard.url}/api/dashboard/calls/none`, {
      method: 'DELETE',
      headers: AUTHORIZED,
    });
    expect(again.status).toBe(404);
  });
});
