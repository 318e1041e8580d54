// Calls that the servers of a cluster record: each keeps its own, any other plays them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { type CallRecord, type CarrierId, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { openToneVoice, readWav } from '../../src/testing/index.js';
import { readTones } from '../../src/testing/tone-reader.js';
import { WAIT, asksUpon } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../support/cluster-node.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { makeFolder } from '../support/data-folder.js';
import { openDashboard, socketFolder } from '../support/ingest-dashboard.js';
import type { ServedPhone } from '../support/served-phone.js';

const TOKEN = 'a-token-of-sixteen-characters';
const AGENT = { tts: { name: 'tones', open: openToneVoice } };
/** Longer than one message between servers. */
const LONG_CALL = [
  WAIT,
  { type: 'say', text: 'what do you have' },
  WAIT,
  { type: 'pause', durationMs: 20_000 },
  { type: 'hang-up' },
] as const;

/** Three servers that record, each in its own folder. */
async function open(id: CarrierId) {
  const phones = await ClusterPhones.on(id, { openVoice: openToneVoice });
  const folders = new Map<number, string>();
  const serve = async (at?: number): Promise<ServedPhone> => {
    const dataDir = folders.get(at ?? 0) ?? (await makeFolder());
    const options = { dataDir, localRecording: true, dashboardToken: TOKEN };
    const served = await phones.serve(AGENT, options, at === undefined ? {} : { at });
    folders.set(served.port, dataDir);
    return served;
  };
  const stop = async (phone: ServedPhone) => {
    phones.phones.splice(phones.phones.indexOf(phone), 1);
    phones.proxy.useAll(phones.phones.map(({ port }) => port));
    await phone.phone.disconnect();
  };
  const filesOf = ({ port }: ServedPhone) => readdir(join(folders.get(port) ?? '', 'recordings'));
  for (let count = 0; count < 3; count += 1) await serve();
  return { phones, serve, stop, filesOf };
}

function ask({ server }: ServedPhone, path: string, init: RequestInit = {}): Promise<Response> {
  return askAt(server.url, path, init);
}

function askAt(url: string, path: string, init: RequestInit): Promise<Response> {
  const headers = { Authorization: `Bearer ${TOKEN}`, ...init.headers };
  return fetch(`${url}/api/dashboard/calls/${path}`, { ...init, headers });
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** The record of a call whose recording is there, once all servers show it. */
async function recorded({ phones }: ClusterPhones, carrierCallId: string) {
  const shown = await Promise.all(
    phones.map(({ server }) =>
      eventually('the recording', async () => {
        const record = await server.calls.get(carrierCallId);
        return record?.localRecording?.status === 'completed' ? record : undefined;
      }),
    ),
  );
  const record = shown[0] as CallRecord;
  for (const other of shown) expect(other.localRecording).toEqual(record.localRecording);
  const isOwner = ({ port }: ServedPhone) => record.localRecording?.server === `http://127.0.0.1:${port}`;
  const owner = phones.find(isOwner) as ServedPhone;
  const [one, two] = phones.filter((phone) => phone !== owner) as [ServedPhone, ServedPhone];
  return { record, callId: record.callId, path: `${record.callId}/audio`, owner, one, two };
}

describe.each(SIMULATED_CARRIERS)('a recording in a cluster, on %s', { timeout: 60_000 }, (id) => {
  it('is with the server that had the call, and is played by each', async () => {
    const { phones, filesOf } = await open(id);
    await using _ = phones;
    const report = await phones.simulator.call({ script: [...LONG_CALL] });
    const { record, callId, path, owner, one, two } = await recorded(phones, report.carrierCallId);
    expect(record.localRecording).toMatchObject({ file: `${callId}.wav`, trouble: null });
    expect(await filesOf(owner)).toEqual([`${callId}.wav`, 'tapes']);
    expect([await filesOf(one), await filesOf(two)]).toEqual([['tapes'], ['tapes']]);
    const whole = await bytesOf(await ask(owner, path));
    expect(whole.length).toBe(record.localRecording?.bytes);
    expect(whole.length).toBeGreaterThan(256 * 1024);
    for (const other of [one, two]) {
      const response = await ask(other, path);
      expect(response.status).toBe(200);
      expect(whole.equals(await bytesOf(response))).toBe(true);
      const head = await ask(other, path, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)]);
      const range = 'bytes=1000-299999';
      const part = await ask(other, path, { headers: { Range: range } });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `${range.replace('=', ' ')}/${whole.length}`,
      ]);
      expect(whole.subarray(1000, 300_000).equals(await bytesOf(part))).toBe(true);
      expect((await ask(other, path, { headers: { Range: 'bytes=99999999-' } })).status).toBe(416);
      expect((await ask(other, path, { headers: { Authorization: 'Bearer another-token' } })).status).toBe(
        401,
      );
    }
    for (const { logger } of phones.phones)
      expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is told to be away while its server is, and is played once that is back', async () => {
    const { phones, serve, stop } = await open(id);
    await using _ = phones;
    const report = await phones.simulator.call({ script: [...LONG_CALL] });
    const { path, owner, one } = await recorded(phones, report.carrierCallId);
    const whole = await bytesOf(await ask(owner, path));
    await stop(owner);
    const away = await ask(one, path);
    expect([away.status, await away.json()]).toEqual([
      503,
      {
        error: {
          code: 'CLUSTER_FAILED',
          message: `The recording is on the server http://127.0.0.1:${owner.port}, which is not reached: try again once it is back.`,
        },
      },
    ]);
    await serve(owner.port);
    expect(whole.equals(await bytesOf(await ask(one, path)))).toBe(true);
  });

  it('is played and deleted by a dashboard that is no server', async () => {
    const { phones, serve, stop, filesOf } = await open(id);
    await using _ = phones;
    const report = await phones.simulator.call({ script: [...LONG_CALL] });
    const { callId, path, owner, one } = await recorded(phones, report.carrierCallId);
    const whole = await bytesOf(await ask(owner, path));
    const room = socketFolder();
    onTestFinished(() => room.remove());
    const cluster = { url: 'memory:', name: phones.name, secret: CLUSTER_SECRET };
    const dashboard = await openDashboard({ folder: room.folder, cluster, token: TOKEN });
    onTestFinished(() => dashboard.close());
    const asked = (what: string, init: RequestInit = {}) => askAt(dashboard.url, what, init);
    expect(whole.equals(await bytesOf(await asked(path)))).toBe(true);
    const part = await asked(path, { headers: { Range: 'bytes=1000-299999' } });
    expect(part.status).toBe(206);
    expect(whole.subarray(1000, 300_000).equals(await bytesOf(part))).toBe(true);
    expect((await asked('none/audio')).status).toBe(404);
    await stop(owner);
    const away = await asked(path);
    expect([away.status, await away.json()]).toEqual([
      503,
      { error: expect.objectContaining({ code: 'CLUSTER_FAILED' }) },
    ]);
    const back = await serve(owner.port);
    expect(whole.equals(await bytesOf(await asked(path)))).toBe(true);
    expect((await asked(callId, { method: 'DELETE' })).status).toBe(200);
    await eventually('the deletion', async () => ((await filesOf(back)).length === 1 ? true : undefined));
    for (const response of [await asked(path), await ask(one, path)]) expect(response.status).toBe(404);
  });

  it('is deleted wherever the call is, also once a server that was away is back', async () => {
    const { phones, serve, stop, filesOf } = await open(id);
    await using _ = phones;
    const here = await phones.simulator.call({ script: [...LONG_CALL] });
    const first = await recorded(phones, here.carrierCallId);
    await first.one.phone.forget(first.callId);
    expect(await filesOf(first.owner)).toEqual(['tapes']);
    expect((await ask(first.two, first.path)).status).toBe(404);
    const away = await phones.simulator.call({ script: [...LONG_CALL] });
    const { callId, owner, one } = await recorded(phones, away.carrierCallId);
    await stop(owner);
    await one.phone.forget(callId);
    expect(await filesOf(owner)).toEqual([`${callId}.wav`, 'tapes']);
    const back = await serve(owner.port);
    await eventually('the deletion', async () => ((await filesOf(back)).length === 1 ? true : undefined));
    expect(await back.server.calls.get(callId)).toBeUndefined();
  });

  it('has what was said at the server where the call ended, and what came before stays where that was', async () => {
    const { phones, filesOf } = await open(id);
    await using _ = phones;
    const isMoved = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isMoved.signal) });
    const greeting = await eventually('the greeting', () =>
      phones.facts.find(({ type }) => type === 'turn.completed'),
    );
    phones.simulator.legs[0]?.dropStream();
    await eventually('the next stream', () =>
      (phones.simulator.legs[0]?.reports.length ?? 0) > 0 ? true : undefined,
    );
    await pause(systemClock, 2000);
    isMoved.abort();
    const report = await calling;
    const { record, callId, path, owner } = await recorded(phones, report.carrierCallId);
    expect(greeting.nodeId).not.toBe(record.nodeId);
    expect(record.localRecording).toMatchObject({ status: 'completed', trouble: 'moved' });
    const before = phones.phones.find(({ facts }) => facts.includes(greeting)) as ServedPhone;
    expect(before).not.toBe(owner);
    const response = await ask(before, path);
    expect(response.status).toBe(200);
    const { channels, sampleRateHz } = readWav(await bytesOf(response));
    const [heard = [], said = []] = channels.map((samples) => readTones(samples, { sampleRateHz }));
    expect(heard.map(({ text }) => text).join(' ')).toBe('what time is it?');
    expect(said.map(({ text }) => text)).not.toContain('hello,');
    expect(said.map(({ text }) => text).join(' ')).toContain('what time is it?');
    // In their places: what is missing is silent.
    expect(heard[0]?.startMs).toBeGreaterThan(2000);
    const isFile = async () => ((await filesOf(before)).includes(`${callId}.wav`) ? true : undefined);
    await eventually('the first part', isFile);
    expect(await filesOf(owner)).toContain(`${callId}.wav`);
    await phones.phones[2]?.phone.forget(callId);
    for (const phone of phones.phones) expect(await filesOf(phone)).toEqual(['tapes']);
  });
});
