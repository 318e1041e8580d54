import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { ClientBench, PUBLIC_HOST, toneVoice } from '../support/client-bench.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { openLedger } from '../../src/testing/index.js';
import { send } from '../support/dashboard-server.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('serve', () => {
  it('resolves when it listens, with its addresses, and warns once of each open door', async () => {
    bench.phone = bench.create();
    const server = await bench.serve({ dashboardToken: undefined });
    expect(server).toMatchObject({
      port: bench.port,
      url: `http://127.0.0.1:${bench.port}`,
      dashboardUrl: `http://127.0.0.1:${bench.port}/`,
    });
    expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: 'ok', mode: 'local' });
    expect(bench.warnings()).toEqual([
      'stages not set: chosen by the keys in the environment, else from the local stack, which is for trials only',
      'dashboard and API are open to anyone who can reach these addresses: set dashboardToken',
      'manageWebhook skipped: nothing is changed at the carrier',
    ]);
    expect(bench.logger.lines.find((line) => line.sentence.startsWith('dashboard and'))?.fields).toEqual({
      addresses: [server.url],
    });
    expect(bench.logger.lines.filter((line) => line.sentence === 'transcoder chosen')).toMatchObject([
      { level: 'info', fields: { backend: expect.stringMatching(/native|wasm|javascript/) } },
    ]);
  });

  it('names what is open without a token, from outside as well', async () => {
    await bench.serve({ manageWebhook: false, dashboardToken: undefined });
    const line = bench.logger.lines.find(({ sentence }) => sentence.startsWith('dashboard and'));
    expect(line?.fields).toEqual({
      addresses: [`http://127.0.0.1:${bench.port}`, `https://${PUBLIC_HOST}`],
    });
  });

  it('answers a browser without a token under its public host, and under no other', async () => {
    const server = await bench.serve({ dashboardToken: undefined });
    const statusFor = async (Host: string) => (await send(server.url, { headers: { Host } })).status;
    expect([await statusFor(PUBLIC_HOST), await statusFor('evil.example')]).toEqual([200, 403]);
  });

  it('says that it shuts down, and when it has', async () => {
    await bench.serve();
    await bench.phone.disconnect();
    expect(bench.logger.lines.slice(-2)).toEqual([
      { level: 'info', fields: { calls: 0 }, sentence: 'shutting down' },
      { level: 'info', fields: {}, sentence: 'shut down' },
    ]);
  });

  it('leaves nothing that runs when it refuses an agent', async () => {
    using ledger = openLedger();
    const phone = bench.create();
    const agent = phone.agent({ llm: new ChatCompletions() });
    const refused = ledger.run(() => bench.serve({ agent }));
    await expect(refused).rejects.toMatchObject({ code: 'CONFIG_MISSING' });
    expect(await ledger.read()).toEqual([]);
  });

  it('has nothing to warn of when everything is set', async () => {
    const rest = new PlainRest();
    bench.phone = bench.create({
      carrier: createPlainCarrier({ rest, key: new Uint8Array([1]) }),
      webhookUrl: PUBLIC_HOST,
    });
    const stt = { name: 'stt', open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }) };
    await bench.serve({ dashboardToken: 's3cret-of-16-chars', onMessage: () => '' }, { stt, tts: toneVoice });
    expect(bench.warnings()).toEqual([]);
    const base = `https://${PUBLIC_HOST}/webhooks/carrier-b`;
    expect(rest.requests).toEqual([`setVoiceUrl +15005550010 ${base}/voice ${base}/status`]);
    expect(bench.logger.text).not.toContain('s3cret');
  });

  it('warns of missing secrets, and takes the page away but not the API', async () => {
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest: new PlainRest() }) });
    const server = await bench.serve({ dashboard: false });
    expect(server.dashboardUrl).toBeNull();
    expect(bench.logger.lines.find((line) => line.sentence.startsWith('webhooks are not'))?.fields).toEqual({
      setting: 'PLAIN_SECRET',
    });
    expect((await fetch(server.url)).status).toBe(404);
    expect((await fetch(`${server.url}/api/dashboard/calls`)).status).toBe(200);
  });

  it.each(['slow', 'failing'])('is not held up by a %s carrier', async (trouble) => {
    const rest = new PlainRest();
    if (trouble === 'slow') rest.answer = new Promise(() => {});
    else rest.failure = new Error('500');
    const carrier = createPlainCarrier({ rest, key: new Uint8Array([1]) });
    bench.phone = bench.create({ carrier, webhookUrl: PUBLIC_HOST });
    await bench.serve();
    expect(rest.requests).toHaveLength(1);
  });

  it('leaves the number alone when it is managed elsewhere', async () => {
    const rest = new PlainRest();
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest }), webhookUrl: PUBLIC_HOST });
    await bench.serve({ manageWebhook: false });
    expect(rest.requests).toEqual([]);
    expect(bench.logger.sentences('warn').join()).not.toContain('manageWebhook');
  });

  it('refuses to serve twice, and serves again after disconnect', async () => {
    await bench.serve();
    await expect(bench.serve()).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' });
    await bench.phone.disconnect();
    await bench.serve();
    expect((await fetch(`http://127.0.0.1:${bench.port}/health`)).status).toBe(200);
  });

  it('names a port that is in use, and can be asked again', async () => {
    const other = bench.create();
    await bench.serveOf(other);
    await expect(bench.serve()).rejects.toMatchObject({
      code: 'CONFIG_PORT_IN_USE',
      message: expect.stringContaining(String(bench.port)),
    });
    await other.disconnect();
    await bench.serve();
  });

  it('listens on nothing when an option cannot work', async () => {
    await expect(bench.serve({ maxCalls: 0 })).rejects.toBeInstanceOf(ConfigError);
    await expect(bench.serve({ tunnel: true })).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' });
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });
});
