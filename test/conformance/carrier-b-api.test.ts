import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Telnyx from 'telnyx';
import { type CarrierBSimulator, startCarrierBSimulator } from '../../src/testing/index.js';
import { AnsweringServer } from './answering-server.js';

const API_KEY = 'KEY0123456789';
const CONNECTION = '1700000000000000001';
const OWN = '+15005550010';
const CALLEE = '+15005550020';

let server: AnsweringServer;
let simulator: CarrierBSimulator;
let client: Telnyx;
beforeEach(async () => {
  server = await AnsweringServer.start('application/json', '{}');
  simulator = await startCarrierBSimulator({
    url: server.url,
    webhookHost: 'voice.example.com',
    apiKey: API_KEY,
    connectionId: CONNECTION,
    callees: { '*': { type: 'human', ringMs: 50 } },
  });
  const { publicKey, url } = simulator;
  client = new Telnyx({ apiKey: API_KEY, publicKey, baseURL: `${url}/v2`, maxRetries: 0 });
});
afterEach(async () => {
  await simulator.close();
  await server.close();
});

const typeOf = (body: string): string =>
  (JSON.parse(body) as { data: { event_type: string } }).data.event_type;

describe("the official package and the simulated carrier's API", () => {
  it('place, read and end a call, and every event is signed as the package wants it', async () => {
    const { data } = await client.calls.dial({ connection_id: CONNECTION, to: CALLEE, from: OWN });
    const id = data?.call_control_id ?? '';
    await server.until((seen) => seen.some(({ body }) => typeOf(body) === 'call.answered'));
    expect((await client.calls.retrieveStatus(id)).data?.is_alive).toBe(true);
    await client.calls.actions.sendDtmf(id, { digits: '12#' });
    await client.calls.actions.speak(id, { payload: 'Good bye', voice: 'female', language: 'en-US' });
    await client.calls.actions.hangup(id, {});
    await simulator.settled();
    expect((await client.calls.retrieveStatus(id)).data?.is_alive).toBe(false);
    const types = server.seen.map(({ body }) => typeOf(body));
    expect(types.slice(0, 2).sort()).toEqual(['call.answered', 'call.initiated']);
    expect(types).toContain('call.hangup');
    for (const { headers, body } of server.seen) {
      const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      const event = await client.webhooks.unwrap(body, { headers: texts });
      expect(event).toBeDefined();
    }
    expect(simulator.legs[0]?.sentDigits).toEqual(['12#']);
    // The package writes the colon of a call id bare, and sends commands without an id of their own.
    const own = /call_control_id|command_id/;
    expect(simulator.legs.flatMap(({ violations }) => violations).filter((each) => !own.test(each))).toEqual(
      [],
    );
  });

  it('fail with the codes of the vendor', async () => {
    const codeOf = (error: unknown) => JSON.stringify((error as { error?: unknown }).error);
    const stranger = new Telnyx({ apiKey: 'KEYwrong', baseURL: `${simulator.url}/v2`, maxRetries: 0 });
    const refused = await stranger.calls.retrieveStatus('v3:none').catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 401 });
    expect(codeOf(refused)).toContain('10009');
    const { data } = await client.calls.dial({ connection_id: CONNECTION, to: CALLEE, from: OWN });
    const id = data?.call_control_id ?? '';
    await client.calls.actions.hangup(id, {});
    const late = await client.calls.actions.hangup(id, {}).catch((error: unknown) => error);
    expect(late).toMatchObject({ status: 422 });
    expect(codeOf(late)).toContain('90018');
  });
});
