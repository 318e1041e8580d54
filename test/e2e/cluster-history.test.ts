// What the pages of a cluster show of calls that are over: the same on every server, whichever had them, and also behind a load balancer that need not be sticky.
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallsPage } from '../../src/contract/dashboard-api.js';
import { WAIT } from '../support/asking-caller.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { eventually } from '../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../support/cluster-node.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { makeFolder } from '../support/data-folder.js';
import { type EventStream, listenTo } from '../support/event-stream.js';
import { openDashboard, socketFolder } from '../support/ingest-dashboard.js';
import type { ServedPhone } from '../support/served-phone.js';
import { shownByStream } from '../support/shown-by-stream.js';

const SHORT = [WAIT, { type: 'hang-up' }] as const;
const ASKING = [WAIT, { type: 'say', text: 'what time is it' }, WAIT, { type: 'hang-up' }] as const;
const LONG = [WAIT, { type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }] as const;
/** Of the calls of all servers. */
const GAUGES =
  /^offhook_(?:calls_held|calls_active|call_duration_average_seconds|turn_latency_(?:average|p95)_seconds|cost_dollars) .*$/gm;
const FORMATS = ['json', 'csv'] as const;

async function textOf(url: string, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`);
  expect(response.status).toBe(200);
  return response.text();
}

const jsonOf = async <T>(url: string, path: string) => JSON.parse(await textOf(url, path)) as T;

/** All that is shown of calls that are over, as it can be compared. */
async function shownAt(url: string) {
  const metrics = await textOf(url, '/metrics');
  return {
    exports: await Promise.all(
      FORMATS.map((format) => textOf(url, `/api/dashboard/export/calls?format=${format}`)),
    ),
    answered: await textOf(url, '/api/dashboard/export/calls?format=csv&outcome=answered'),
    list: await jsonOf<CallsPage>(url, '/api/dashboard/calls?limit=500'),
    totals: await jsonOf<object>(url, '/api/dashboard/aggregates'),
    some: await jsonOf<object>(url, '/api/dashboard/aggregates?q=5550'),
    gauges: metrics.match(GAUGES),
  };
}

async function observe({ name }: ClusterPhones) {
  const room = socketFolder();
  onTestFinished(() => room.remove());
  const cluster = { url: 'memory:', name, secret: CLUSTER_SECRET };
  const dashboard = await openDashboard({ folder: room.folder, cluster, token: undefined });
  onTestFinished(() => dashboard.close());
  return dashboard;
}

async function listen(url: string, lastEventId?: string): Promise<EventStream> {
  const stream = await listenTo(url, lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId });
  onTestFinished(() => stream.close());
  return stream;
}

async function stop(phones: ClusterPhones, phone: ServedPhone): Promise<void> {
  phones.phones.splice(phones.phones.indexOf(phone), 1);
  phones.proxy.useAll(phones.phones.map(({ port }) => port));
  await phone.phone.disconnect();
}

describe.each(SIMULATED_CARRIERS)('the history of a cluster, on %s', { timeout: 120_000 }, (id) => {
  it('is the same on each server and each dashboard: lists, exports, totals and gauges', async () => {
    await using phones = await ClusterPhones.three(id);
    for (const script of [ASKING, SHORT, ASKING, SHORT]) {
      const { carrierCallId } = await phones.simulator.call({ script: [...script] });
      await phones.records(carrierCallId);
    }
    const owners = new Set(phones.ended.map(({ nodeId }) => nodeId));
    expect(owners.size).toBeGreaterThan(1);
    // One that had none of them, and one that cannot read of them in the log.
    await phones.serve();
    phones.cluster.log.splice(0);
    await phones.serve();
    const dashboard = await observe(phones);
    const urls = [...phones.phones.map(({ server }) => server.url), dashboard.url];
    for (const url of urls)
      await eventually('all calls', async () =>
        (await jsonOf<CallsPage>(url, '/api/dashboard/calls')).total === 4 ? true : undefined,
      );
    // The carrier's prices.
    await pause(systemClock, 120_000);
    const [first, ...others] = await Promise.all(urls.map(shownAt));
    expect(first?.list).toMatchObject({ total: 4 });
    expect(first?.totals).toMatchObject({ completedCalls: 4, activeCalls: 0 });
    expect(first?.gauges?.length).toBeGreaterThan(3);
    const [, csv = ''] = first?.exports ?? [];
    for (const { callId } of phones.ended) expect(csv).toContain(callId);
    for (const other of others) expect(other).toEqual(first);
  });

  it('is read on at another server, page by page', async () => {
    await using phones = await ClusterPhones.three(id);
    for (let count = 0; count < 4; count += 1) {
      const { carrierCallId } = await phones.simulator.call({ script: [...SHORT] });
      await phones.records(carrierCallId);
    }
    const urls = phones.phones.map(({ server }) => server.url);
    const read: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page += 1) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const path = `/api/dashboard/calls?limit=1${from}`;
      const answer: CallsPage = await jsonOf(urls[page % urls.length] ?? '', path);
      read.push(...answer.calls.map(({ callId }) => callId));
      cursor = answer.nextCursor;
    }
    expect(read).toEqual(
      phones.ended.toSorted((a, b) => b.startedAt - a.startedAt).map(({ callId }) => callId),
    );
  });

  it('is told anew to a page that comes back to another server, with nothing twice and nothing missing', async () => {
    await using phones = await ClusterPhones.three(id);
    const dashboard = await observe(phones);
    const urls = [...phones.phones.map(({ server }) => server.url), dashboard.url];
    const calling = phones.simulator.call({ script: [...LONG] });
    const opened = await Promise.all(urls.map((url) => listen(url)));
    for (const page of opened)
      await eventually('the greeting', () => page.facts.find(({ type }) => type === 'turn.completed'));
    const [callId = ''] = new Set(phones.facts.map((fact) => fact.callId));
    const ids = opened.map(({ lastEventId }) => lastEventId);
    for (const page of opened) page.close();
    await phones.phones[0]?.phone.say(callId, 'The shop closes at six.');
    // Each page comes back to the next server, in the middle of the call.
    const back = await Promise.all(
      ids.map((last, index) => listen(urls[(index + 1) % urls.length] ?? '', last)),
    );
    await phones.phones[1]?.phone.say(callId, 'Goodbye then.');
    await phones.phones[2]?.phone.hangUp(callId);
    const { carrierCallId } = await calling;
    const [record] = await phones.records(carrierCallId);
    for (const page of back) {
      await eventually('the end', () => page.facts.find(({ type }) => type === 'call.ended'));
      await pause(systemClock, 1000);
      expect(shownByStream(page, callId)).toEqual(record);
    }
    // Who comes back to the same server goes on where it was.
    const [one, page] = [urls[0] ?? '', back.at(-1)];
    const same = await listen(one, page?.lastEventId);
    const next = phones.simulator.call({ script: [...SHORT] });
    await eventually('the next call', () => same.facts.find(({ type }) => type === 'call.ended'));
    await next;
    expect(same.events.filter(([type]) => type === 'snapshot')).toEqual([]);
    expect(same.facts.filter((fact) => fact.callId === callId)).toEqual([]);
  });
});

describe('the last 500 calls of a cluster', { timeout: 120_000 }, () => {
  const callIds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `call-${String(from + index).padStart(4, '0')}`);

  /** Servers with folders of their own, and what states calls `from` up to `to` for one that is gone. */
  async function open() {
    const phones = await ClusterPhones.on('carrier-a');
    const folders = new Map<number, string>();
    const serve = async (at?: number) => {
      const dataDir = folders.get(at ?? 0) ?? (await makeFolder());
      const served = await phones.serve({}, { dataDir }, at === undefined ? {} : { at });
      folders.set(served.port, dataDir);
      return served;
    };
    const gone = phones.cluster.node({ nodeId: 'gone', address: 'http://gone.test' });
    const beganAt = systemClock.wallNow() - 3_600_000;
    const state = async (from: number, to: number) => {
      for (const [index, callId] of callIds(from, to).entries()) {
        const at = beganAt + (from + index) * 1000;
        const facts = [started({ carrierCallId: `CA-${callId}` }), ended()];
        await gone.append(stamp(facts, { callId, at }).map((fact) => ({ ...fact, nodeId: 'gone' })));
      }
    };
    return { phones, serve, state };
  }

  const shows = async ({ server }: ServedPhone, newest: string[]) => {
    const expected = newest.toReversed();
    await eventually(
      'the last calls',
      async () =>
        (await server.calls.list({ limit: 1 })).calls[0]?.callId === expected[0] ? true : undefined,
      30_000,
    );
    await pause(systemClock, 5000);
    const { calls, total } = await server.calls.list({ limit: 500 });
    expect(total).toBe(newest.length);
    expect(calls.map(({ callId }) => callId)).toEqual(expected);
  };

  it('are on each server, also on one that was away meanwhile, and on one that comes later', async () => {
    const { phones, serve, state } = await open();
    await using _ = phones;
    const [one, two] = [await serve(), await serve()];
    await state(0, 520);
    for (const phone of [one, two]) await shows(phone, callIds(20, 520));
    await stop(phones, two);
    await state(520, 540);
    // What it missed has left the log.
    phones.cluster.log.splice(0);
    const back = await serve(two.port);
    const later = await serve();
    for (const phone of [one, back, later]) await shows(phone, callIds(40, 540));
    await state(540, 560);
    for (const phone of [one, back, later]) await shows(phone, callIds(60, 560));
  });

  it('are the ones that ended last, also where a server has heard of the older ones later', async () => {
    const { phones, serve, state } = await open();
    await using _ = phones;
    const one = await serve();
    await state(0, 300);
    await shows(one, callIds(0, 300));
    phones.cluster.log.splice(0);
    await state(300, 450);
    // It reads the newer ones in the log, and asks for the older ones then.
    const later = await serve();
    for (const phone of [one, later]) await shows(phone, callIds(0, 450));
    await state(450, 600);
    for (const phone of [one, later]) await shows(phone, callIds(100, 600));
  });
});
