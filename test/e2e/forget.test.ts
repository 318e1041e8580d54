// Whole calls that are deleted afterwards: on this machine, on dashboards, and at the carrier.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import type { CallEvent, ServeOptions } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { type CarrierPhone, eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { bytesBelow } from '../support/folder-bytes.js';
import { openDashboard, socketFolder, TOKEN as DASHBOARD_TOKEN } from '../support/ingest-dashboard.js';
import { playedOn } from '../support/rotated.js';

const TOKEN = 'the-token-of-the-page';
const SCRIPT: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'My parrot is ill.' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-forget-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

function start(id: CarrierId, serve: Partial<ServeOptions>): Promise<CarrierPhone> {
  return startCarrierPhone(
    id,
    { firstMessage: 'Parrot clinic, hello.' },
    {
      serve: { dashboardToken: TOKEN, onMessage: () => 'Bring your parrot at noon.', ...serve },
      simulator: { openVoice: openToneVoice },
    },
  );
}

/** The API asks for the token that the rig does not have. */
function recordOf(
  { server }: CarrierPhone,
  carrierCallId: string,
  isReady = (record: CallRecord) => record.status === 'completed',
): Promise<CallRecord> {
  return eventually(`the record of ${carrierCallId}`, async () => {
    const record = await server.calls.get(carrierCallId);
    return record !== undefined && isReady(record) ? record : undefined;
  });
}

async function ask(
  { server }: CarrierPhone,
  method: string,
  path: string,
  token: string | undefined = TOKEN,
): Promise<{ status: number; body: unknown }> {
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/api/dashboard/${path}`, { method, headers });
  return { status: answer.status, body: await answer.json() };
}

describe.each(playedOn('carrier-b'))('%s, a call that is deleted', (id) => {
  it('is nowhere on this machine any more, nor after a restart', { timeout: 60_000 }, async () => {
    const dataDir = await makeFolder();
    let callId = '';
    let carrierCallId = '';
    {
      await using running = await start(id, { dataDir });
      const calling = running.simulator.call({
        script: [...SCRIPT.slice(0, -1), { type: 'pause', durationMs: 3000 }],
      });
      const [live] = await eventually('the call', async () => {
        const active = await running.server.calls.active();
        return active.length > 0 ? active : undefined;
      });
      ({ callId } = live ?? { callId });
      expect(await ask(running, 'DELETE', `calls/${callId}`)).toMatchObject({ status: 409 });
      await expect(running.phone.forget(callId)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
      ({ carrierCallId } = await calling);
      await recordOf(running, carrierCallId);
      const other = await running.simulator.call({ script: SCRIPT });
      const kept = await recordOf(running, other.carrierCallId);
      expect(await bytesBelow(dataDir)).toContain(carrierCallId);
      expect(await ask(running, 'DELETE', `calls/${callId}`, '')).toMatchObject({ status: 401 });
      expect(await ask(running, 'DELETE', `calls/${carrierCallId}`)).toEqual({
        status: 200,
        body: { callId, carrierRecording: null, carrierCallId: null },
      });
      expect(await bytesBelow(dataDir)).not.toContain(carrierCallId);
      expect(await ask(running, 'GET', `calls/${callId}`)).toMatchObject({ status: 404 });
      expect(await ask(running, 'GET', 'calls')).toMatchObject({
        body: { calls: [{ callId: kept.callId }], total: 1 },
      });
      // Twice is once.
      expect(await ask(running, 'DELETE', `calls/${callId}`)).toMatchObject({ status: 200 });
      expect(await ask(running, 'DELETE', 'calls/nobody')).toMatchObject({ status: 404 });
      await expect(running.phone.forget('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await running.phone.forget(kept.callId);
      expect(await bytesBelow(dataDir)).not.toMatch(/parrot/i);
    }
    expect(await bytesBelow(dataDir)).not.toMatch(/parrot/i);
    await using again = await start(id, { dataDir });
    expect((await again.server.calls.list()).total).toBe(0);
    expect(await again.phone.forget(callId)).toMatchObject({ carrierRecording: null });
    expect(await bytesBelow(dataDir)).not.toMatch(/parrot/i);
  });

  it('is taken off pages that are open, and from what pages that come back are sent', {
    timeout: 60_000,
  }, async () => {
    await using running = await start(id, {});
    const heard: CallEvent[] = [];
    running.server.events.subscribe((event) => void heard.push(event));
    const { carrierCallId } = await running.simulator.call({ script: SCRIPT });
    const { callId } = await recordOf(running, carrierCallId);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const stream = async (lastEventId: string) => {
      const controller = new AbortController();
      const answer = await fetch(`${running.server.url}/api/dashboard/events`, {
        headers: { ...headers, 'Last-Event-ID': lastEventId },
        signal: controller.signal,
      });
      let text = '';
      for await (const chunk of answer.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString('utf8');
        if (/event: (snapshot|call.ended|call.forgotten)\n[\s\S]*\n\n/.test(text)) break;
      }
      controller.abort();
      return text;
    };
    const [, epoch] = /id: ([0-9a-f]+)-\d+\nevent: snapshot/.exec(await stream('none')) ?? [];
    expect(await stream(`${epoch}-0`)).toMatch(/parrot|clinic/i);
    await running.phone.forget(callId);
    expect(heard.at(-1)).toMatchObject({ type: 'call.forgotten', callId, term: 2 });
    const replayed = await stream(`${epoch}-0`);
    expect(replayed).toContain('event: call.forgotten');
    expect(replayed).not.toMatch(/parrot|clinic/i);
  });

  it('leaves standalone dashboards, those that were away, too', { timeout: 60_000 }, async () => {
    const [dataDir, room] = [await makeFolder(), socketFolder()];
    onTestFinished(() => room.remove());
    const dashboard = await openDashboard({ folder: room.folder });
    onTestFinished(() => dashboard.close());
    const feed = { dashboardUrl: dashboard.url, dashboardIngestToken: DASHBOARD_TOKEN };
    const ids: string[] = [];
    {
      await using running = await start(id, { dataDir, ...feed });
      for (let index = 0; index < 2; index += 1) {
        const { carrierCallId } = await running.simulator.call({ script: SCRIPT });
        ids.push((await recordOf(running, carrierCallId)).callId);
      }
      const [first = ''] = ids;
      await eventually('both calls on the dashboard', async () =>
        [...(await dashboard.records()).values()].every(({ status }) => status === 'completed') &&
        (await dashboard.records()).size === 2
          ? true
          : undefined,
      );
      await running.phone.forget(first);
      await eventually('the call to leave', async () =>
        (await dashboard.records()).has(first) ? undefined : true,
      );
    }
    const [, second = ''] = ids;
    {
      await using alone = await start(id, { dataDir, dashboardUrl: false });
      await alone.phone.forget(second);
    }
    expect((await dashboard.records()).has(second)).toBe(true);
    await using back = await start(id, { dataDir, ...feed });
    await eventually('the call to leave', async () =>
      (await dashboard.records()).size === 0 ? true : undefined,
    );
    expect((await back.server.calls.list()).total).toBe(0);
  });
});

describe('a recording at carrier A', () => {
  it('is deleted there with its call', { timeout: 60_000 }, async () => {
    await using running = await start('carrier-a', { recording: true });
    const { carrierCallId } = await running.simulator.call({ script: SCRIPT });
    const { callId, recording } = await recordOf(
      running,
      carrierCallId,
      (record) => record.recording !== null,
    );
    expect(recording?.status).toBe('completed');
    expect(await running.phone.forget(callId)).toEqual({ carrierRecording: 'deleted', carrierCallId: null });
    const deleted = running.simulator.requests.filter(({ method }) => method === 'DELETE');
    expect(deleted).toMatchObject([
      { path: expect.stringMatching(/\/Recordings\/RE\w+\.json$/), status: 204 },
    ]);
  });

  it('is said to be there still where the carrier refuses to delete it', { timeout: 60_000 }, async () => {
    await using running = await start('carrier-a', { recording: true });
    const { carrierCallId } = await running.simulator.call({ script: SCRIPT });
    const { callId } = await recordOf(running, carrierCallId, (record) => record.recording !== null);
    running.simulator.disturb({ restFailures: [{ purpose: 'look-up', status: 500, times: 100 }] });
    expect(await running.phone.forget(callId)).toEqual({ carrierRecording: 'failed', carrierCallId });
    expect((await running.server.calls.list()).total).toBe(0);
  });
});

describe('without a dashboard token', () => {
  it('nobody deletes over HTTP, the application does', { timeout: 60_000 }, async () => {
    await using running = await startCarrierPhone('carrier-b');
    const { carrierCallId } = await running.simulator.call({ script: SCRIPT });
    const { callId } = await recordOf(running, carrierCallId);
    const refused = await ask(running, 'DELETE', `calls/${callId}`, '');
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'AUTH_FORBIDDEN' } } });
    await running.phone.forget(callId);
    expect((await running.server.calls.list()).total).toBe(0);
  });
});
