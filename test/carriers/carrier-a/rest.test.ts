import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError, ConfigError } from '../../../src/base/errors.js';
import { createRest } from '../../../src/carriers/carrier-a/rest.js';
import type { CarrierRest } from '../../../src/carriers/carrier.js';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  form: Record<string, string>;
}

type Answer = { status: number; body: unknown } | 'cut';

const ACCOUNT = 'AC33333333333333333333333333333333';
const voice = 'https://voice.example/webhooks/carrier-a/voice';
const status = 'https://voice.example/webhooks/carrier-a/status';

let server: Server;
let rest: CarrierRest;
let seen: Seen[];
let answers: Answer[];

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

beforeEach(async () => {
  seen = [];
  answers = [];
  server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    const { method, url, headers } = request;
    seen.push({ method, url, authorization: headers.authorization, form });
    const answer = answers.shift() ?? { status: 500, body: {} };
    if (answer === 'cut') request.socket.destroy();
    else
      response
        .writeHead(answer.status, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  rest = createRest({ baseUrl, accountSid: ACCOUNT, authToken: 'secret' });
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('hangUp', () => {
  it('completes the call, with Basic authentication', async () => {
    answers = [{ status: 200, body: { status: 'completed' } }];
    await rest.hangUp('CA1');
    expect(seen).toEqual([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/CA1.json`,
        authorization: `Basic ${Buffer.from(`${ACCOUNT}:secret`).toString('base64')}`,
        form: { Status: 'completed' },
      },
    ]);
  });

  it('is content with a call that is over already', async () => {
    answers = [{ status: 400, body: { code: 21220, status: 400 } }];
    await expect(rest.hangUp('CA1')).resolves.toBeUndefined();
  });

  it('keeps a hostile call id inside the path', async () => {
    answers = [{ status: 200, body: {} }];
    await rest.hangUp('../../x?y');
    expect(seen[0]?.url).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/..%2F..%2Fx%3Fy.json`);
  });

  it.each([
    ['a busy carrier', { status: 429, body: { code: 20429 } }],
    ['an overloaded one', { status: 503, body: {} }],
    ['a cut connection', 'cut'],
  ] as const)('repeats itself after %s', async (_, first) => {
    answers = [first, { status: 200, body: {} }];
    await rest.hangUp('CA1');
    expect(seen).toHaveLength(2);
  });

  it('says what the carrier answered, without the account or the secret', async () => {
    answers = [{ status: 401, body: { code: 20003, message: `Authenticate ${ACCOUNT}` } }];
    const error: unknown = await rest.hangUp('CA1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CarrierError);
    expect(error).toMatchObject({
      status: 401,
      retryable: false,
      message: 'The carrier refused to hang up a call (HTTP 401, code 20003).',
    });
  });

  it('survives an answer that is no JSON', async () => {
    answers = [{ status: 404, body: undefined }];
    await expect(rest.hangUp('CA1')).rejects.toMatchObject({ status: 404 });
  });
});

describe('transfer', () => {
  it('dials the other number, escaped, and shows our own', async () => {
    answers = [{ status: 200, body: {} }];
    await rest.transfer('CA1', '+1500<5550030', '+15005550010');
    expect(seen[0]?.form.Twiml).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Dial callerId="+15005550010" timeout="30">+1500&lt;5550030</Dial></Response>',
    );
  });

  it('repeats only what was not processed', async () => {
    answers = [
      { status: 429, body: {} },
      { status: 503, body: {} },
    ];
    await expect(rest.transfer('CA1', '+15005550030', undefined)).rejects.toMatchObject({
      status: 503,
      retryable: true,
    });
    expect(seen).toHaveLength(2);
  });

  it('is not repeated after a cut connection', async () => {
    answers = ['cut'];
    await expect(rest.transfer('CA1', '+15005550030', undefined)).rejects.toMatchObject({ status: null });
    expect(seen).toHaveLength(1);
  });
});

describe('isOver', () => {
  it.each([
    ['in-progress', false],
    ['ringing', false],
    ['completed', true],
    ['canceled', true],
    [null, false],
  ])('reads status %s as %s', async (callStatus, isOver) => {
    answers = [{ status: 200, body: { status: callStatus } }];
    await expect(rest.isOver('CA1')).resolves.toBe(isOver);
  });
});

describe('setVoiceUrl', () => {
  const number = {
    sid: 'PN1',
    phone_number: '+15005550010',
    voice_url: voice,
    voice_method: 'POST',
    status_callback: status,
    status_callback_method: 'POST',
    voice_application_sid: '',
    trunk_sid: null,
  };
  const listOf = (...numbers: object[]): Answer => ({
    status: 200,
    body: { incoming_phone_numbers: numbers },
  });

  it('sets both URLs of exactly this number', async () => {
    const similar = { ...number, sid: 'PN0', phone_number: '+150055500101' };
    answers = [listOf(similar, { ...number, voice_url: 'https://old.example' }), { status: 200, body: {} }];
    await rest.setVoiceUrl('+15005550010', { voice, status });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers.json?PhoneNumber=%2B15005550010`,
    });
    expect(seen[1]).toMatchObject({
      method: 'POST',
      url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers/PN1.json`,
      form: {
        VoiceUrl: voice,
        VoiceMethod: 'POST',
        StatusCallback: status,
        StatusCallbackMethod: 'POST',
      },
    });
  });

  it.each([
    ['exactly', voice],
    ['with connection settings of the operator', `${voice}#rc=2`],
  ])('does nothing when the number points there already, %s', async (_, voiceUrl) => {
    answers = [listOf({ ...number, voice_url: voiceUrl })];
    await rest.setVoiceUrl('+15005550010', { voice, status });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['an account without the number', listOf({ ...number, phone_number: '+15005550011' })],
    ['an empty list', { status: 200, body: {} }],
    ['a number that an application holds', listOf({ ...number, voice_application_sid: 'AP1' })],
    ['a number on a trunk', listOf({ ...number, trunk_sid: 'TK1' })],
  ] as const)('changes nothing for %s', async (_, list) => {
    answers = [list];
    await expect(rest.setVoiceUrl('+15005550010', { voice, status })).rejects.toBeInstanceOf(CarrierError);
    expect(seen).toHaveLength(1);
  });
});

describe('credentials', () => {
  it('are demanded by every operation, and only there', async () => {
    const bare = createRest({ baseUrl: 'http://127.0.0.1:9', accountSid: ACCOUNT, authToken: undefined });
    expect(bare.configured).toBe(false);
    expect(rest.configured).toBe(true);
    await expect(bare.hangUp('CA1')).rejects.toBeInstanceOf(ConfigError);
    await expect(bare.transfer('CA1', '+1', undefined)).rejects.toBeInstanceOf(ConfigError);
    await expect(bare.isOver('CA1')).rejects.toBeInstanceOf(ConfigError);
    await expect(bare.setVoiceUrl('+1', { voice, status })).rejects.toBeInstanceOf(ConfigError);
  });
});
