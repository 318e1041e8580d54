import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError, ConfigError } from '../../../src/base/errors.js';
import { RestClient } from '../../../src/carriers/carrier-b/rest-client.js';
import { createRest } from '../../../src/carriers/carrier-b/rest.js';
import type { CarrierRest } from '../../../src/carriers/carrier.js';
import { HandTiming, OK, type RestServer, refusal, startRestServer } from './rest-server.js';

const ID = 'v3:a/b==';
const PATH = '/v2/calls/v3%3Aa%2Fb%3D%3D';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const decoded = (state: unknown) => JSON.parse(Buffer.from(String(state), 'base64').toString('utf8'));

let server: RestServer;
let timing: HandTiming;
let client: RestClient;
let rest: CarrierRest;

beforeEach(async () => {
  server = await startRestServer();
  timing = new HandTiming();
  client = new RestClient({ baseUrl: server.url, apiKey: 'KEY1' }, timing);
  rest = createRest(client, '1700000000000000001');
});
afterEach(() => server.close());

const call = {
  callId: 'call-1',
  from: '+15005550010',
  to: '+15005550020',
  webhookBaseUrl: 'https://voice.example/webhooks/carrier-b',
  ringTimeoutSeconds: 25,
  maxCallSeconds: 3600,
  machineDetection: false,
  recording: true,
};
const placed = {
  status: 200,
  body: { data: { record_type: 'call', call_control_id: 'v3:b3V0Ym91bmQ', is_alive: false } },
};

describe('dial', () => {
  it('places the call, and asks for its webhooks by name', async () => {
    server.replies = [placed];
    await expect(rest.dial(call)).resolves.toEqual({ carrierCallId: 'v3:b3V0Ym91bmQ' });
    expect(server.seen[0]?.path).toBe('/v2/calls');
    const { client_state, command_id, ...fields } = server.seen[0]?.body ?? {};
    expect(fields).toEqual({
      connection_id: '1700000000000000001',
      to: '+15005550020',
      from: '+15005550010',
      timeout_secs: 25,
      time_limit_secs: 3600,
      webhook_url: 'https://voice.example/webhooks/carrier-b/voice',
    });
    expect(decoded(client_state)).toEqual({ callId: 'call-1' });
    expect(command_id).toMatch(UUID);
  });

  it('has machines detected where it is asked for', async () => {
    server.replies = [placed];
    await rest.dial({ ...call, machineDetection: true });
    expect(server.seen[0]?.body).toMatchObject({ answering_machine_detection: 'premium' });
  });

  it.each([
    [1, 5, 5, 60],
    [9999, 100_000, 600, 14_000],
    [10.2, 90.5, 11, 91],
  ])(
    'keeps %d s of ringing and %d s of talking in the range of the carrier',
    async (ring, talk, timeout, limit) => {
      server.replies = [placed];
      await rest.dial({ ...call, ringTimeoutSeconds: ring, maxCallSeconds: talk });
      expect(server.seen[0]?.body).toMatchObject({ timeout_secs: timeout, time_limit_secs: limit });
    },
  );

  it('is repeated under the same id, without haste, and a second call gets another one', async () => {
    server.replies = ['cut', placed, placed];
    await rest.dial(call);
    await rest.dial(call);
    expect(timing.limits).toEqual([5000, 5000, 5000]);
    const ids = server.seen.map(({ body }) => body.command_id);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it.each([
    ['keys behind the number', { to: '+15005550020,1234#' }],
    ['a SIP address', { to: 'sip:x@example.com' }],
    ['several numbers', { to: ['+15005550020'] as never }],
    ['a withheld number', { from: 'anonymous' }],
  ])('refuses %s, and asks for nothing', async (_, over) => {
    await expect(rest.dial({ ...call, ...over })).rejects.toBeInstanceOf(ConfigError);
    expect(server.seen).toEqual([]);
  });

  it('names the setting that is missing', async () => {
    const dialed = createRest(client, undefined).dial(call);
    await expect(dialed).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringContaining('CARRIER_B_CONNECTION_ID'),
    });
  });

  it.each([{}, { call_control_id: null }, { call_control_id: '..' }])(
    'leaves open what became of a call that is answered with %j',
    async (data) => {
      server.replies = [{ status: 200, body: { data } }];
      await expect(rest.dial(call)).rejects.toMatchObject({ status: null, retryable: false });
    },
  );

  it('says when the carrier refused', async () => {
    server.replies = [refusal(422, '90043')];
    await expect(rest.dial(call)).rejects.toMatchObject({ status: 422, retryable: false });
  });
});

describe('hangUp', () => {
  it('hangs up, with the id kept in its place in the path', async () => {
    server.replies = [OK];
    await rest.hangUp(ID);
    expect(server.seen).toMatchObject([
      { method: 'POST', path: `${PATH}/actions/hangup`, body: { command_id: expect.stringMatching(UUID) } },
    ]);
  });

  it.each([
    ['is over', refusal(422, '90018')],
    ['is forgotten', refusal(404, '10005')],
    ['is over, in a number', { status: 422, body: { errors: [{ code: 90018 }] } }],
  ])('is content with a call that %s', async (_, reply) => {
    server.replies = [reply];
    await expect(rest.hangUp(ID)).resolves.toBeUndefined();
  });

  it.each([
    ['a page that is not there', { status: 404, body: '<html>' }],
    ['another refusal', refusal(422, '90015')],
    ['a wrong key', refusal(401, '10009')],
  ])('does not take %s for a call that is over', async (_, reply) => {
    server.replies = [reply];
    await expect(rest.hangUp(ID)).rejects.toBeInstanceOf(CarrierError);
  });

  it.each(['', '.', '..', 'a b', 'é', '\ud800', 'x'.repeat(513)])('does not send the id %j', async (id) => {
    await expect(rest.hangUp(id)).rejects.toBeInstanceOf(CarrierError);
    expect(server.seen).toEqual([]);
  });
});

describe('transfer', () => {
  const request = {
    callId: 'call-1',
    to: '+15005550030',
    callerId: '+15005550010',
    webhookBaseUrl: 'https://voice.example/webhooks/carrier-b',
    ringTimeoutSeconds: 20,
  };

  it('names the call on both legs, and which leg is which', async () => {
    server.replies = [OK];
    await rest.transfer(ID, request);
    const body = server.seen[0]?.body ?? {};
    expect(server.seen[0]?.path).toBe(`${PATH}/actions/transfer`);
    expect(body).toMatchObject({
      to: '+15005550030',
      from: '+15005550010',
      timeout_secs: 20,
      webhook_url: 'https://voice.example/webhooks/carrier-b/voice',
    });
    expect(decoded(body.client_state)).toEqual({ callId: 'call-1' });
    expect(decoded(body.target_leg_client_state)).toEqual({ callId: 'call-1', leg: 'transfer' });
  });

  it('leaves the number that is shown to the carrier', async () => {
    server.replies = [OK];
    await rest.transfer(ID, { ...request, callerId: undefined });
    expect(server.seen[0]?.body).not.toHaveProperty('from');
  });

  it('refuses what is not a number', async () => {
    await expect(rest.transfer(ID, { ...request, to: '+15005550030,1' })).rejects.toBeInstanceOf(ConfigError);
    await expect(rest.transfer(ID, { ...request, callerId: 'me' })).rejects.toBeInstanceOf(ConfigError);
    expect(server.seen).toEqual([]);
  });

  it('says that the caller is gone', async () => {
    server.replies = [refusal(422, '90018')];
    await expect(rest.transfer(ID, request)).rejects.toMatchObject({ status: 422, retryable: false });
  });
});

describe('sendDigits', () => {
  it('sends keys beside the stream', async () => {
    server.replies = [OK];
    await rest.sendDigits(ID, '12w#', { url: 'wss://x', parameters: {} });
    expect(server.seen).toMatchObject([{ path: `${PATH}/actions/send_dtmf`, body: { digits: '12w#' } }]);
  });
});

describe('speak', () => {
  it.each([
    [undefined, 'en-US', 'basic'],
    ['en', 'en-US', 'basic'],
    ['en-GB', 'en-GB', 'premium'],
    ['en-NZ', 'en-US', 'basic'],
    ['de', 'de-DE', 'premium'],
    ['DE-at', 'de-DE', 'premium'],
    ['pt-BR', 'pt-BR', 'premium'],
    ['zh-TW', 'cmn-CN', 'premium'],
    ['ar', 'arb', 'premium'],
    ['no', 'nb-NO', 'premium'],
    ['tlh', 'en-US', 'basic'],
    ['', 'en-US', 'basic'],
  ])('speaks %j in the voice of %s', async (language, spoken, level) => {
    server.replies = [OK];
    await rest.speak(ID, 'Sorry.', { language });
    expect(server.seen).toMatchObject([
      {
        path: `${PATH}/actions/speak`,
        body: {
          payload: 'Sorry.',
          payload_type: 'text',
          voice: 'female',
          language: spoken,
          service_level: level,
        },
      },
    ]);
  });

  it('cuts a text that the carrier would refuse', async () => {
    server.replies = [OK, OK];
    await rest.speak(ID, 'x'.repeat(5000), { language: undefined });
    expect(server.seen[0]?.body.payload).toHaveLength(3000);
    await rest.speak(ID, `${'x'.repeat(2999)}😀`, { language: undefined });
    expect(server.seen[1]?.body.payload).toBe('x'.repeat(2999));
  });
});

describe('lookUp', () => {
  const alive = (isAlive: unknown) => ({ status: 200, body: { data: { is_alive: isAlive } } });

  it.each([
    ['is alive', alive(true), false],
    ['is not', alive(false), true],
    ['is over', refusal(422, '90018'), true],
    ['is forgotten', refusal(404, '10005'), true],
  ])('tells of a call that %s', async (_, reply, isOver) => {
    server.replies = [reply];
    await expect(rest.lookUp(ID)).resolves.toEqual({ isOver, outcome: null, costUsd: null });
    expect(server.seen).toMatchObject([{ method: 'GET', path: PATH }]);
  });

  it.each([
    ['does not say', alive(undefined)],
    ['says nonsense', alive('yes')],
    ['is another server', { status: 404, body: '<html>' }],
  ])('guesses nothing when the carrier %s', async (_, reply) => {
    server.replies = [reply];
    await expect(rest.lookUp(ID)).rejects.toBeInstanceOf(CarrierError);
  });
});

describe('what the carrier does not offer', () => {
  it('is refused, with the reason', async () => {
    const recording = rest.startRecording(ID, { callId: 'call-1', webhookBaseUrl: 'https://x' });
    await expect(recording).rejects.toThrow('cannot record calls');
    const url = rest.setVoiceUrl('+15005550010', { voice: 'https://x', status: 'https://x' });
    await expect(url).rejects.toThrow('no voice URL');
    expect(server.seen).toEqual([]);
  });
});
