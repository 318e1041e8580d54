import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import twilio from 'twilio';
import { type CarrierASimulator, startCarrierASimulator } from '../../src/testing/index.js';
import { AnsweringServer } from './answering-server.js';

const ACCOUNT = `AC${'0a'.repeat(16)}`;
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const OWN = '+15005550010';
const CALLEE = '+15005550020';
const HOST = 'voice.example.com';
const URLS = `https://${HOST}/webhooks/carrier-a`;

/** The package speaks to its vendor's host only: each request is turned to the simulator. */
function loopbackClient(origin: string): twilio.RequestClient {
  const client = new twilio.RequestClient();
  const send: typeof client.request = client.request.bind(client);
  client.request = (options) => {
    const { pathname, search } = new URL(options.uri);
    options.uri = `${origin}${pathname}${search}`;
    return send(options);
  };
  return client;
}

let server: AnsweringServer;
let simulator: CarrierASimulator;
let client: twilio.Twilio;
beforeEach(async () => {
  const markup = '<?xml version="1.0" encoding="UTF-8"?><Response><Pause length="30"/></Response>';
  server = await AnsweringServer.start('text/xml', markup);
  simulator = await startCarrierASimulator({
    url: server.url,
    webhookHost: HOST,
    accountSid: ACCOUNT,
    authToken: TOKEN,
    phoneNumbers: [OWN],
    callees: { '*': { type: 'human', ringMs: 50 } },
  });
  client = twilio(ACCOUNT, TOKEN, { httpClient: loopbackClient(simulator.url) });
});
afterEach(async () => {
  await simulator.close();
  await server.close();
});

describe("the official package and the simulated carrier's API", () => {
  it('place, read, redirect and end a call, and every webhook is signed as the package wants it', async () => {
    const call = await client.calls.create({
      to: CALLEE,
      from: OWN,
      url: `${URLS}/voice?callId=c1`,
      statusCallback: `${URLS}/status?callId=c1`,
      statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
      machineDetection: 'DetectMessageEnd',
      asyncAmd: 'true',
      asyncAmdStatusCallback: `${URLS}/amd?callId=c1`,
    });
    expect(call).toMatchObject({ status: 'queued', to: CALLEE, from: OWN, direction: 'outbound-api' });
    expect(call.sid).toMatch(/^CA[0-9a-f]{32}$/);
    await server.until((seen) => seen.some(({ path }) => path.includes('/amd')));
    expect((await client.calls(call.sid).fetch()).status).toBe('in-progress');
    await client.calls(call.sid).update({ twiml: '<Response><Pause length="9"/></Response>' });
    await client.calls(call.sid).update({ status: 'completed' });
    await simulator.settled();
    expect((await client.calls(call.sid).fetch()).status).toBe('completed');
    const statuses = server.seen
      .filter(({ path }) => path.includes('/status'))
      .map(({ body }) => new URLSearchParams(body).get('CallStatus'));
    expect(statuses).toEqual(['initiated', 'ringing', 'in-progress', 'completed']);
    for (const { path, headers, body } of server.seen) {
      const signature = String(headers['x-twilio-signature']);
      const parameters = Object.fromEntries(new URLSearchParams(body));
      expect(twilio.validateRequest(TOKEN, signature, `https://${HOST}${path}`, parameters), path).toBe(true);
    }
    expect(simulator.legs.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it('fail with the codes of the vendor', async () => {
    await expect(client.calls(`CA${'9'.repeat(32)}`).fetch()).rejects.toMatchObject({
      status: 404,
      code: 20404,
    });
    await expect(client.calls.create({ to: '12', from: OWN, url: `${URLS}/voice` })).rejects.toMatchObject({
      status: 400,
      code: 21211,
    });
    const stranger = twilio(ACCOUNT, 'f'.repeat(32), { httpClient: loopbackClient(simulator.url) });
    await expect(stranger.calls(`CA${'9'.repeat(32)}`).fetch()).rejects.toMatchObject({
      status: 401,
      code: 20003,
    });
  });

  it('set the voice URL of a number', async () => {
    const [number] = await client.incomingPhoneNumbers.list({ phoneNumber: OWN });
    expect(number?.phoneNumber).toBe(OWN);
    const sid = number?.sid ?? '';
    await client.incomingPhoneNumbers(sid).update({ voiceUrl: `${URLS}/voice`, voiceMethod: 'POST' });
    expect((await client.incomingPhoneNumbers(sid).fetch()).voiceUrl).toBe(`${URLS}/voice`);
  });
});
