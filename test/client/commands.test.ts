import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Offhook } from '../../src/client.js';
import { ClientBench, PUBLIC_HOST, until } from '../support/client-bench.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('commands', () => {
  const commands: [string, (phone: Offhook) => Promise<unknown>][] = [
    ['call', (each) => each.call({ to: '+15550111' })],
    ['hangUp', (each) => each.hangUp('x')],
    ['transfer', (each) => each.transfer('x', '+15550123')],
    ['sendDigits', (each) => each.sendDigits('x', '1')],
    ['say', (each) => each.say('x', 'Hello.')],
    ['inform', (each) => each.inform('x', 'They are in a hurry.')],
  ];

  it.each(commands)('%s needs a running server', async (name, run) => {
    const message = expect.stringContaining(`${name}() needs a running server`);
    const missing = { code: 'CONFIG_MISSING', message };
    const over = { code: 'REQUEST_CONFLICT', message };
    await expect(run(bench.phone)).rejects.toMatchObject(missing);
    for (let times = 0; times < 2; times += 1) {
      const serving = bench.serve();
      await expect(run(bench.phone)).rejects.toMatchObject(missing);
      await serving;
      const closing = bench.phone.disconnect();
      await new Promise((resolve) => setImmediate(resolve));
      await expect(run(bench.phone)).rejects.toMatchObject(over);
      await closing;
      await expect(run(bench.phone)).rejects.toMatchObject(over);
    }
  });

  it.each(commands)('%s says after a drain that the server was shut down', async (_, run) => {
    await bench.serve();
    await bench.phone.drain({ timeoutSeconds: 0 });
    await expect(run(bench.phone)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
  });

  it.each(commands)('%s needs a server that has started', async (_, run) => {
    const serving = bench.serve();
    await Promise.all([expect(serving).rejects.toThrow(), bench.phone.disconnect()]);
    await expect(run(bench.phone)).rejects.toMatchObject({ code: 'CONFIG_MISSING' });
  });

  it.each(commands.slice(1))('%s knows no call that never was', async (_, run) => {
    await bench.serve();
    await expect(run(bench.phone)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each<[string, unknown, unknown?]>([
    ['no text', undefined],
    ['an empty text', ' \n\u0000'],
    ['a text without words', '**—** 🎉'],
    ['a text that is too long', 'word '.repeat(801)],
    ['an option that is not known', 'Hello.', { interupt: true }],
    ['an option that is no boolean', 'Hello.', { interruptible: 'no' }],
    ['options that are none', 'Hello.', null],
  ])('say refuses %s', async (_, text, options) => {
    await bench.serve();
    const refused = bench.phone.say('x', text as string, options as object);
    await expect(refused).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });

  it.each<[string, unknown]>([
    ['no text', 7],
    ['an empty text', '  '],
    ['a text that is too long', 'x'.repeat(4001)],
  ])('inform refuses %s', async (_, text) => {
    await bench.serve();
    await expect(bench.phone.inform('x', text as string)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });

  it('transfer refuses what is not a number', async () => {
    await bench.serve();
    await expect(bench.phone.transfer('x', '5550123')).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });
});

describe('an outbound call', () => {
  const report = (message: object) =>
    fetch(`http://127.0.0.1:${bench.port}/webhooks/carrier-b/status`, {
      method: 'POST',
      body: JSON.stringify(message),
    });

  it('is placed, and one that nobody takes has its record and onCallEnd, but no onCallStart', async () => {
    const rest = new PlainRest();
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest }), webhookUrl: PUBLIC_HOST });
    const heard: string[] = [];
    await bench.serve({
      manageWebhook: false,
      onCallStart: () => void heard.push('start'),
      onCallEnd: ({ outcome }) => void heard.push(`end ${outcome}`),
    });
    const { callId, ended } = await bench.phone.call({ to: '+15550111', ringTimeoutSeconds: 30 });
    expect(rest.dials).toMatchObject([
      {
        callId,
        from: '+15005550010',
        to: '+15550111',
        webhookBaseUrl: `https://${PUBLIC_HOST}/webhooks/carrier-b`,
        ringTimeoutSeconds: 30,
        machineDetection: false,
        recording: false,
      },
    ]);
    const status = { type: 'status', callId, carrierCallId: 'carrier-call-1', sequence: null };
    await report({ ...status, status: 'ringing', outcome: null });
    await report({ ...status, status: 'completed', outcome: 'busy' });
    expect(await ended).toMatchObject({
      callId,
      direction: 'outbound',
      outcome: 'busy',
      caller: '+15005550010',
      callee: '+15550111',
    });
    await until(async () => heard.length > 0);
    expect(heard).toEqual(['end busy']);
  });

  it('is refused with the setting that is missing', async () => {
    const rest = new PlainRest();
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest }) });
    await bench.serve();
    await expect(bench.phone.call({ to: '+15550111' })).rejects.toMatchObject({
      message: expect.stringContaining('webhookUrl'),
    });
    rest.configured = false;
    await expect(bench.phone.call({ to: '+15550111' })).rejects.toMatchObject({
      message: expect.stringContaining('CARRIER_B_API_KEY'),
    });
    await expect(bench.phone.call({ to: '0111' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(rest.dials).toEqual([]);
  });
});
