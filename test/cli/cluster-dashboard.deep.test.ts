// `offhook dashboard --cluster`, in a process of its own beside servers in theirs, on a Redis that dies.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CallsPage } from '../../src/contract/dashboard-api.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../support/cluster-node.js';
import { ClusterProcesses } from '../support/cluster-processes.js';
import { makeFolder } from '../support/data-folder.js';
import { readExposition, sampleOf } from '../support/exposition.js';
import { type EventStream, listenTo } from '../support/event-stream.js';
import { freePort } from '../support/free-port.js';
import { socketFolder } from '../support/ingest-dashboard.js';
import { describeOnRedis, eachRedis } from '../support/redis-server.js';
import { shownByStream } from '../support/shown-by-stream.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const LONG_MS = 40_000;
const TOKEN = 'a-token-of-sixteen-characters';
const SIGNED = { Authorization: `Bearer ${TOKEN}` };
const LONG = [WAIT, { type: 'pause', durationMs: 120_000 }, { type: 'hang-up' }] as const;
const DOCS = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8');
/** As the docs have them. */
const RIGHTS = /^user viewer on >password (.*)$/m.exec(DOCS)?.[1]?.split(' ') ?? [];

let room: ReturnType<typeof socketFolder>;
const children: ChildProcess[] = [];
const streams: EventStream[] = [];

beforeEach(() => {
  room = socketFolder();
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  room.remove();
});

/** `url`: of the broker. Resolves with the process of the command. */
async function run(
  url: string,
  settings: Readonly<Record<string, string>> = {},
  dataDir: string = room.folder,
) {
  const port = await freePort();
  const env = {
    ...process.env,
    OFFHOOK_DASHBOARD_TOKEN: '',
    OFFHOOK_CLUSTER_URL: url,
    OFFHOOK_CLUSTER_NAME: 'phones',
    OFFHOOK_CLUSTER_SECRET: CLUSTER_SECRET,
    ...settings,
  };
  const args = ['dashboard', '--cluster', '--json', '--port', String(port), '--data-dir', dataDir];
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function start(...[url, settings, dataDir]: Parameters<typeof run>) {
  const child = await run(url, settings, dataDir);
  child.stderr?.resume();
  if (child.stdout === null) throw new Error('it prints nothing');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const said = JSON.parse(line) as { url: string; servers: number; warnings: string[] };
  const at = said.url.replace(/\/$/, '');
  const get = async <T>(path: string) => (await (await fetch(at + path)).json()) as T;
  return { child, said, at, get };
}

type Dashboard = Awaited<ReturnType<typeof start>>;

const active = async ({ get }: Dashboard) =>
  (await get<{ calls: CallRecord[] }>('/api/dashboard/active')).calls;

/** Resolves with the live call that the dashboard shows. */
const shown = (dashboard: Dashboard, isIt: (call: CallRecord) => boolean = () => true) =>
  eventually('a live call', async () => (await active(dashboard)).find(isIt), LONG_MS);

const hangUp = async ({ at }: Dashboard, callId: string) =>
  fetch(`${at}/api/dashboard/calls/${callId}/hangup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });

const ended = ({ get }: Dashboard, callId: string) =>
  eventually(
    'the end',
    async () => {
      const record = await get<CallRecord>(`/api/dashboard/calls/${callId}`);
      return record.status === 'completed' && record.hangUp !== 'pending' ? record : undefined;
    },
    LONG_MS,
  );

describeOnRedis('offhook dashboard --cluster', (program) => {
  const broker = eachRedis(program);

  it('shows and commands calls whose server and broker die, with the least rights', async () => {
    const { redis } = broker;
    await using cluster = await ClusterProcesses.three('carrier-a', redis.url);
    await redis.ask('ACL', 'SETUSER', 'viewer', 'on', '>word', ...RIGHTS);
    const dashboard = await start(redis.url.replace('redis://', 'redis://viewer:word@'));
    expect(dashboard.said.servers).toBe(3);
    const calling = cluster.simulator.call({ script: [...LONG] });
    const { callId } = await shown(dashboard, ({ transcript }) => transcript.length > 0);
    const owner = cluster.owner();
    await owner.kill();
    await cluster.moved(owner);
    await shown(dashboard, ({ incidents }) => incidents.length > 0);
    // Two troubles at once are another matter: each server knows who has the call before the broker dies.
    const left = cluster.processes.filter((process) => process !== owner);
    for (const process of left)
      await eventually('the call elsewhere', async () =>
        ((await process.record(callId))?.incidents.length ?? 0) > 0 ? true : undefined,
      );
    const page = await listenTo(dashboard.at);
    streams.push(page);
    await redis.kill();
    await eventually(
      'that the broker is away',
      () => page.events.find(([type]) => type === 'broker'),
      LONG_MS,
    );
    expect(await dashboard.get('/ready')).toEqual({ status: 'ready', broker: 'away' });
    expect(await active(dashboard)).toMatchObject([{ callId }]);
    // By what it knows of the call and of the servers.
    expect((await hangUp(dashboard, callId)).status).toBe(202);
    await calling;
    await redis.start();
    await redis.ask('ACL', 'SETUSER', 'viewer', 'on', '>word', ...RIGHTS);
    const record = await ended(dashboard, callId);
    expect(record).toMatchObject({ endReason: 'operator-hangup' });
    expect(await cluster.records(callId, left)).toEqual([record, record]);
    const next = cluster.simulator.call({ script: [...LONG] });
    const { callId: nextId } = await shown(dashboard);
    expect((await hangUp(dashboard, nextId)).status).toBe(202);
    await next;
    const nextRecord = await ended(dashboard, nextId);
    // Nobody takes it for a server; the broker that is back hears of each within a second or two.
    for (const { port } of left)
      await eventually('two servers', async () => {
        const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return /^offhook_cluster_nodes 2$/m.test(metrics) ? true : undefined;
      });
    dashboard.child.kill('SIGKILL');
    await once(dashboard.child, 'exit');
    const again = await start(redis.url);
    for (const each of [record, nextRecord]) expect(await ended(again, each.callId)).toEqual(each);
    expect(await again.get('/api/dashboard/calls')).toMatchObject({ total: 2 });
    again.child.kill('SIGTERM');
    expect(await once(again.child, 'exit')).toEqual([0, null]);
  });

  it('has the history, recordings and metrics of all servers, also of those that come back, and deletes for all', async () => {
    const { redis } = broker;
    await using cluster = await ClusterProcesses.on('carrier-b', redis.url);
    const folders = new Map<number, string>();
    const fork = async (at?: number) => {
      const dataDir = folders.get(at ?? 0) ?? (await makeFolder());
      const process = await cluster.fork({}, { dataDir, localRecording: true, dashboardToken: TOKEN }, at);
      folders.set(process.port, dataDir);
      return process;
    };
    for (let count = 0; count < 3; count += 1) await fork();
    const servers = cluster.processes.map(({ port }) => `http://127.0.0.1:${port}`);
    const dashboard = await start(redis.url, { OFFHOOK_DASHBOARD_TOKEN: TOKEN });
    const callIds: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { carrierCallId } = await cluster.simulator.call({ script: [WAIT, { type: 'hang-up' }] });
      const [record] = await cluster.records(carrierCallId);
      callIds.unshift(record?.callId ?? '');
    }
    const read = async (url: string, path: string) => (await fetch(url + path, { headers: SIGNED })).text();
    const shownAt = (url: string) =>
      Promise.all(
        ['export/calls?format=csv', 'export/calls', 'aggregates', 'calls?limit=1'].map((path) =>
          read(url, `/api/dashboard/${path}`),
        ),
      );
    /** Resolves with what all of them show alike, of these calls. */
    const alike = (urls: readonly string[], ids: readonly string[]) =>
      eventually(
        'the same everywhere',
        async () => {
          const [first, ...others] = (await Promise.all(urls.map(shownAt))).map((each) => each.join('\n'));
          const { calls } = JSON.parse(await read(urls[0] ?? '', '/api/dashboard/calls')) as CallsPage;
          const isWhole = String(calls.map(({ callId }) => callId)) === String(ids);
          const isMade = calls.every(({ localRecording }) => localRecording?.status === 'completed');
          return isWhole && isMade && others.every((each) => each === first) ? calls : undefined;
        },
        LONG_MS,
      );
    const calls = await alike([...servers, dashboard.at], callIds);
    const bytes = async (url: string, callId: string) => {
      const path = `/api/dashboard/calls/${callId}/audio`;
      return Buffer.from(await (await fetch(url + path, { headers: SIGNED })).arrayBuffer());
    };
    for (const { callId, localRecording } of calls) {
      const played = await bytes(dashboard.at, callId);
      expect(played.length).toBe(localRecording?.bytes);
      expect(played.equals(await bytes(localRecording?.server ?? '', callId))).toBe(true);
    }
    const isUp = async () => {
      const families = readExposition(await read(dashboard.at, '/metrics/servers'));
      return servers.map((server) => sampleOf(families, 'offhook_server_up', { server }));
    };
    expect(await isUp()).toEqual([1, 1, 1]);

    // A page goes from a server to the dashboard, and on to another server, in the middle of a call.
    const calling = cluster.simulator.call({ script: [...LONG] });
    const listen = async (url: string, last = '') => {
      const page = await listenTo(url, { ...SIGNED, ...(last !== '' && { 'Last-Event-ID': last }) });
      streams.push(page);
      return page;
    };
    const first = await listen(servers[0] ?? '');
    const isGreeting = ({ type }: { type: string }) => type === 'turn.completed';
    const { callId } = await eventually('the greeting', () => first.facts.find(isGreeting), LONG_MS);
    first.close();
    const second = await listen(dashboard.at, first.lastEventId);
    await eventually('a snapshot', () => second.events[0], LONG_MS);
    const third = await listen(servers[1] ?? '', second.lastEventId);
    await eventually('a snapshot', () => third.events[0], LONG_MS);
    await fetch(`${dashboard.at}/api/dashboard/calls/${callId}/hangup`, {
      method: 'POST',
      headers: { ...SIGNED, 'content-type': 'application/json' },
    });
    await calling;
    const isEnd = ({ type }: { type: string }) => type === 'call.ended';
    for (const page of [second, third]) await eventually('the end', () => page.facts.find(isEnd), LONG_MS);
    const all = [callId, ...callIds];
    const [record] = await alike([...servers, dashboard.at], all);
    const whole = JSON.parse(await read(dashboard.at, `/api/dashboard/calls/${callId}`)) as CallRecord;
    for (const page of [second, third])
      await eventually('all facts', () =>
        page.facts.filter((fact) => fact.callId === callId).at(-1)?.seq === whole.seq ? true : undefined,
      );
    for (const page of [second, third]) expect(shownByStream(page, callId)).toEqual(whole);

    // A server comes back, and another dashboard comes, when the log has nothing any more.
    const owner = cluster.processes.find(({ port }) => record?.localRecording?.server?.endsWith(`:${port}`));
    await owner?.kill();
    await redis.ask('DEL', ...((await redis.ask('KEYS', '*:log')) as string[]));
    expect((await isUp()).toSorted()).toEqual([0, 1, 1]);
    await fork(owner?.port);
    await eventually('three servers', async () => (String(await isUp()) === '1,1,1' ? true : undefined));
    const later = await start(redis.url, { OFFHOOK_DASHBOARD_TOKEN: TOKEN }, await makeFolder());
    await alike([...servers, dashboard.at, later.at], all);
    expect((await bytes(later.at, callId)).equals(await bytes(dashboard.at, callId))).toBe(true);

    const path = `/api/dashboard/calls/${callId}`;
    const deleted = await fetch(later.at + path, { method: 'DELETE', headers: SIGNED });
    expect(deleted.status).toBe(200);
    await alike([...servers, dashboard.at, later.at], callIds);
    for (const url of [...servers, dashboard.at, later.at])
      for (const what of [path, `${path}/audio`])
        expect((await fetch(url + what, { headers: SIGNED })).status).toBe(404);
    for (const folder of folders.values())
      expect(String(await readdir(join(folder, 'recordings')))).not.toContain(callId);
    // What is left of it there says which server had it.
    expect(await redis.ask('KEYS', `*:${callId}:*`)).toEqual([expect.stringMatching(/:owner$/)]);
  });

  it('says that nobody is there, that the broker does not answer, or that it refuses the password', async () => {
    const { redis } = broker;
    const empty = await start(redis.url, { OFFHOOK_CLUSTER_NAME: 'others' });
    expect(empty.said).toMatchObject({
      servers: 0,
      warnings: [expect.stringContaining('No server of the cluster others is there'), expect.any(String)],
    });
    const away = await start(`redis://127.0.0.1:${await freePort()}`, { OFFHOOK_CLUSTER_NAME: 'away' });
    expect(away.said.warnings).toEqual([
      expect.stringContaining('The broker does not answer'),
      expect.any(String),
    ]);
    await redis.ask('CONFIG', 'SET', 'requirepass', 'secret');
    const refused = await run(redis.url.replace('redis://', 'redis://:wrong@'));
    const errors: Buffer[] = [];
    refused.stderr?.on('data', (data: Buffer) => errors.push(data));
    expect(await once(refused, 'close')).toEqual([1, null]);
    expect(Buffer.concat(errors).toString()).toMatch(
      /^error: The broker refuses the user or password in its URL[^\n]*\n$/,
    );
  });
});
