// A server that is about to stop: calls that are up are finished, new ones are refused, and then nothing is left.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallerStep } from '../../src/testing/index.js';
import { systemClock } from '../../src/base/clock.js';
import { type CarrierPhone, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { sampleOf, readExposition } from '../support/exposition.js';

const CALLER = '+15005550020';
const OTHER = '+15005550030';
const LONG: readonly CallerStep[] = [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }];
const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'pause', durationMs: 4000 },
  { type: 'say', text: 'What time is it?' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

const call = (running: CarrierPhone, script: readonly CallerStep[], from = CALLER) =>
  running.simulator.call({ from, to: OWN_NUMBER, script });

describe.concurrent.each(SIMULATED_CARRIERS)('a drain, %s', (id) => {
  it('finishes the calls that are up and refuses new ones, until nothing is left', async () => {
    await using running = await startCarrierPhone(id);
    const { phone, server } = running;
    const calling = call(running, ASKS);
    await running.active(1);
    const drained = phone.drain();

    const ready = await fetch(`${server.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining' }]);
    const metrics = readExposition(await (await fetch(`${server.url}/metrics`)).text());
    expect(sampleOf(metrics, 'offhook_draining')).toBe(1);
    expect(await call(running, LONG, OTHER)).toMatchObject({ answer: { outcome: 'busy' } });
    await expect(phone.call({ to: OTHER })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });

    expect(await calling).toMatchObject({ ok: true, answer: { outcome: 'answered' } });
    await drained;
    const reasons = running.records.map(({ endReason }) => endReason);
    expect(reasons).toEqual(['over-capacity', 'over-capacity', 'caller-hangup']);
    expect(running.records.at(-1)?.transcript.map(({ role }) => role)).toEqual(['agent', 'user', 'agent']);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  it('hangs up the calls that are left when its time is over', async () => {
    await using running = await startCarrierPhone(id);
    const calling = call(running, LONG);
    await running.active(1);
    await running.phone.drain({ timeoutSeconds: 2 });
    expect(running.records.map(({ endReason }) => endReason)).toEqual(['server-shutdown']);
    expect((await calling).end).toMatchObject({ by: 'agent', how: 'hang-up' });
  });

  it('ends the calls at the earliest time of several drains', async () => {
    await using running = await startCarrierPhone(id);
    const calling = call(running, LONG);
    await running.active(1);
    const startedAt = systemClock.now();
    const long = running.phone.drain({ timeoutSeconds: 600 });
    await Promise.all([long, running.phone.drain({ timeoutSeconds: 3 }), running.phone.drain()]);
    expect(systemClock.now() - startedAt).toBeLessThan(20_000);
    expect(running.records.map(({ endReason }) => endReason)).toEqual(['server-shutdown']);
    expect((await calling).end).toMatchObject({ by: 'agent', how: 'hang-up' });
  });

  it('is over at once with a disconnect', async () => {
    await using running = await startCarrierPhone(id);
    void call(running, LONG);
    await running.active(1);
    const drains = [running.phone.drain({ timeoutSeconds: 86_400 }), running.phone.drain()];
    await running.phone.disconnect();
    await Promise.all(drains);
    expect(running.records.map(({ endReason }) => endReason)).toEqual(['server-shutdown']);
  });
});

it('lets the same client serve again', async () => {
  await using running = await startCarrierPhone('carrier-a');
  await running.phone.drain();
  await running.phone.drain();
  const agent = running.phone.agent({ systemPrompt: 'You help.' });
  const again = { agent, port: running.server.port, host: '127.0.0.1', manageWebhook: false, dataDir: false };
  const server = await running.phone.serve({ ...again, dataDir: false });
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
});

it.each([-1, Number.NaN, 100_000, '5'])('refuses timeoutSeconds %j', async (timeoutSeconds) => {
  await using running = await startCarrierPhone('carrier-a');
  await expect(running.phone.drain({ timeoutSeconds } as never)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
  expect((await fetch(`${running.server.url}/ready`)).status).toBe(200);
});
