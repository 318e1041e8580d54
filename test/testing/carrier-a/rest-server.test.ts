import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRestServer, type CarrierARestServer } from '../../../src/testing/carrier-a/rest-server.js';

const ACCOUNT = `AC${'1'.repeat(32)}`;
const BASIC = `Basic ${Buffer.from(`${ACCOUNT}:secret`).toString('base64')}`;

describe('the REST API of the simulated carrier', () => {
  let server: CarrierARestServer;
  beforeEach(async () => {
    server = await startRestServer({
      accountSid: ACCOUNT,
      authToken: 'secret',
      phoneNumbers: ['+15005550010', '+15005550011'],
    });
  });
  afterEach(() => server.close());

  async function ask(path: string, options: { form?: Record<string, string>; authorization?: string } = {}) {
    const { form, authorization = BASIC } = options;
    const response = await fetch(`${server.url}/2010-04-01/Accounts/${ACCOUNT}/${path}`, {
      headers: { authorization },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  function register() {
    const acts: string[] = [];
    const over = server.register('CA1', {
      from: '+15005550020',
      to: '+15005550010',
      hangUp: () => acts.push('hang-up'),
      redirect: (to) => acts.push(`redirect ${to}`),
    });
    return { acts, over };
  }

  it('demands credentials', async () => {
    expect(await ask('Calls/CA1.json', { authorization: 'Basic eDp5' })).toMatchObject({
      status: 401,
      body: { code: 20003 },
    });
  });

  it('reads, redirects and ends a call, and says that it is over', async () => {
    const { acts, over } = register();
    expect((await ask('Calls/CA1.json')).body).toMatchObject({ sid: 'CA1', status: 'in-progress' });
    const dial = '<Response><Dial callerId="+15005550010">+15005550030</Dial></Response>';
    expect((await ask('Calls/CA1.json', { form: { Twiml: dial } })).status).toBe(200);
    expect((await ask('Calls/CA1.json', { form: { Status: 'completed' } })).status).toBe(200);
    expect(acts).toEqual(['redirect +15005550030', 'hang-up']);
    over();
    expect((await ask('Calls/CA1.json')).body).toMatchObject({ status: 'completed' });
    expect(await ask('Calls/CA1.json', { form: { Status: 'completed' } })).toMatchObject({
      status: 400,
      body: { code: 21220 },
    });
    expect(acts).toHaveLength(2);
  });

  it('refuses broken instructions and unknown calls', async () => {
    const { acts } = register();
    expect((await ask('Calls/CA1.json', { form: { Twiml: '<Response><Dial>' } })).status).toBe(400);
    expect((await ask('Calls/CA1.json', { form: { Colour: 'red' } })).body).toMatchObject({ code: 21204 });
    expect(await ask('Calls/CA2.json', { form: { Status: 'completed' } })).toMatchObject({
      status: 404,
      body: { code: 20404 },
    });
    expect(acts).toEqual([]);
  });

  it('keeps the webhooks of a number', async () => {
    const { body } = await ask('IncomingPhoneNumbers.json?PhoneNumber=%2B15005550010');
    const numbers = body.incoming_phone_numbers as { sid: string; phone_number: string; voice_url: string }[];
    expect(numbers[0]).toMatchObject({ phone_number: '+15005550010', voice_url: '' });
    const VoiceUrl = 'https://voice.example/webhooks/carrier-a/voice';
    await ask(`IncomingPhoneNumbers/${numbers[0]?.sid}.json`, { form: { VoiceUrl, VoiceMethod: 'POST' } });
    expect(server.numbers[0]?.voiceUrl).toBe(VoiceUrl);
    expect(server.requests.at(-1)).toMatchObject({ method: 'POST', parameters: { VoiceUrl } });
  });
});
