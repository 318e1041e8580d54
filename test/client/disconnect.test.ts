import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { startCarrierASimulator } from '../../src/testing/carrier-a/simulator.js';
import { AUTH_TOKEN, ClientBench, PUBLIC_HOST, until } from '../support/client-bench.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('disconnect', () => {
  it('does nothing before serve, and may be called again', async () => {
    await bench.phone.disconnect();
    await bench.serve();
    await Promise.all([bench.phone.disconnect(), bench.phone.disconnect()]);
    await bench.phone.disconnect();
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });

  it('stops a serve that is still starting', async () => {
    const serving = bench.serve();
    await Promise.all([
      expect(serving).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' }),
      bench.phone.disconnect(),
    ]);
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });

  it('tells the pages that are open, also when no call is up', async () => {
    await bench.serve();
    const answer = await fetch(`http://127.0.0.1:${bench.port}/api/dashboard/events`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: snapshot')) text += (await reader?.read())?.value ?? '';
    const closed = bench.phone.disconnect();
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
      text += piece.value;
    expect(text).toContain('event: draining');
    await closed;
  });

  it('is what disposes of the client', async () => {
    {
      await using disposed = bench.create();
      await bench.serveOf(disposed);
    }
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });

  it.each([10, 0])(
    'hangs up through the carrier, then closes with 1001, and tells of the end before it resolves: %d s',
    async (drainSeconds) => {
      const accountSid = `AC${'0'.repeat(32)}`;
      const simulator = await startCarrierASimulator({
        url: `http://127.0.0.1:${bench.port}`,
        accountSid,
        authToken: AUTH_TOKEN,
        unknownCalls: 'accept',
      });
      const carrier = new CarrierA({ accountSid, authToken: AUTH_TOKEN, baseUrl: simulator.url });
      bench.phone = bench.create({ carrier, webhookUrl: PUBLIC_HOST });
      const ended: CallRecord[] = [];
      await bench.serve({
        manageWebhook: false,
        drainSeconds,
        onCallEnd: async (record) => {
          if (drainSeconds > 0) await new Promise((resolve) => setTimeout(resolve, 20));
          ended.push(record);
        },
      });
      const calls = [await bench.dial('+15550111'), await bench.dial('+15550112')];
      await until(async () => (await bench.active()).length === 2);
      const hungUpAtClose = calls.map(async ({ closed }) => {
        await closed;
        return simulator.requests.map(({ path }) => path);
      });
      await bench.phone.disconnect();
      expect(ended.map(({ endReason, outcome }) => [endReason, outcome])).toEqual([
        ['server-shutdown', 'answered'],
        ['server-shutdown', 'answered'],
      ]);
      for (const [index, call] of calls.entries()) {
        expect(await call.closed).toEqual({ code: 1001, reason: 'Server shutting down' });
        const paths = (await hungUpAtClose[index])?.join() ?? '';
        for (const { callSid } of calls) expect(paths).toContain(callSid);
      }
      await simulator.close();
    },
  );

  it('does not wait for an onCallEnd that never returns', async () => {
    await bench.serve({ drainSeconds: 0.2, onCallEnd: () => new Promise(() => {}) });
    const call = await bench.dial('+15550111');
    await until(async () => (await bench.active()).length === 1);
    await bench.phone.disconnect();
    await call.closed;
  });
});
