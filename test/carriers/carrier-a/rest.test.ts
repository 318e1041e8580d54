import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError, ConfigError } from '../../../src/base/errors.js';
import { createRest } from '../../../src/carriers/carrier-a/rest.js';
import type { CarrierRest } from '../../../src/carriers/carrier.js';
import { ACCOUNT, type FakeApi, type FakeReply, startFakeApi, TOKEN } from './fake-api.js';

const CA = 'CA11111111111111111111111111111111';
const webhookBaseUrl = 'https://voice.example/webhooks/carrier-a';
const stream = { url: 'wss://voice.example/ws/stream/abc', parameters: {} };
const dialRequest = {
  callId: 'abc',
  from: '+15005550010',
  to: '+15005550020',
  webhookBaseUrl,
  ringTimeoutSeconds: 25,
  maxCallSeconds: 3600,
  machineDetection: false,
  recording: false,
};
const transferRequest = {
  callId: 'abc',
  to: '+15005550030',
  callerId: '+15005550010',
  webhookBaseUrl,
  ringTimeoutSeconds: 25,
};
const urls = { voice: `${webhookBaseUrl}/voice`, status: `${webhookBaseUrl}/status` };

/** Every method, asked for something that makes sense. */
const METHODS: [string, (rest: CarrierRest) => Promise<unknown>][] = [
  ['dial', (rest) => rest.dial(dialRequest)],
  ['hangUp', (rest) => rest.hangUp(CA)],
  ['transfer', (rest) => rest.transfer(CA, transferRequest)],
  ['sendDigits', (rest) => rest.sendDigits(CA, '1', stream)],
  ['speak', (rest) => rest.speak(CA, 'Bye', { language: 'en' })],
  ['startRecording', (rest) => rest.startRecording(CA, { callId: 'abc', webhookBaseUrl })],
  ['lookUp', (rest) => rest.lookUp(CA)],
  ['setVoiceUrl', (rest) => rest.setVoiceUrl('+15005550010', urls)],
];
const IDEMPOTENT = ['hangUp', 'lookUp', 'setVoiceUrl'];
const ONCE = METHODS.filter(([name]) => !IDEMPOTENT.includes(name));
const AGAIN = METHODS.filter(([name]) => IDEMPOTENT.includes(name));

let api: FakeApi;
let rest: CarrierRest;

beforeEach(async () => {
  api = await startFakeApi();
  ({ rest } = api);
});

afterEach(() => api.close());

async function failureOf(asked: Promise<unknown>): Promise<CarrierError> {
  const error = await asked.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CarrierError);
  return error as CarrierError;
}

describe('every method', () => {
  it.each(METHODS)('%s demands credentials, and only there', async (_, ask) => {
    const bare = createRest({ baseUrl: 'http://127.0.0.1', accountSid: ACCOUNT, authToken: undefined });
    expect(bare.configured).toBe(false);
    expect(rest.configured).toBe(true);
    await expect(ask(bare)).rejects.toBeInstanceOf(ConfigError);
  });

  it.each(METHODS)('%s says what the carrier answered, without secrets and numbers', async (_, ask) => {
    const message = `Invalid +15005550020 of ${ACCOUNT}`;
    api.replies = [{ status: 400, json: { code: 21211, message, more_info: TOKEN, status: 400 } }];
    const error = await failureOf(ask(rest));
    expect(error).toMatchObject({ code: 'CARRIER_FAILED', status: 400, retryable: false });
    expect(error.message).toMatch(
      /^The carrier refused to [a-zA-Z ]+: the number to be called is not valid \(HTTP 400, code 21211\)\.$/,
    );
    expect(inspect(error, { depth: 9 })).not.toMatch(/\d{4}555\d{4}|AC333|0f1e2d/);
    expect(api.seen).toHaveLength(1);
  });

  it.each(METHODS)('%s repeats what was not processed, with growing pauses, and gives up', async (_, ask) => {
    api.replies = [{ status: 429, json: { code: 20429 } }];
    expect(await failureOf(ask(rest))).toMatchObject({ status: 429, retryable: true });
    expect(api.seen).toHaveLength(4);
    const [first = 0, second = 0, third = 0, ...more] = api.pauses;
    expect(more).toEqual([]);
    expect([first >= 100, second >= 200, third >= 400, third <= 600]).toEqual([true, true, true, true]);
  });

  it.each([
    ['2', 2000],
    ['3600', 3000],
  ])('waits the %s seconds that the carrier asks for, within bounds', async (seconds, pauseMs) => {
    api.replies = [{ status: 429, headers: { 'Retry-After': seconds } }, { status: 200 }];
    await rest.hangUp(CA);
    expect(api.pauses).toEqual([pauseMs]);
  });

  it.each([['Thu, 01 Jan 2099 00:00:00 GMT'], ['-1'], ['x'], ['0']])(
    'waits its own time when the carrier asks for %s',
    async (value) => {
      api.replies = [{ status: 429, headers: { 'Retry-After': value } }, { status: 200 }];
      await rest.hangUp(CA);
      expect(api.pauses[0]).toBeLessThanOrEqual(150);
    },
  );

  it.each(METHODS)('%s follows no redirect', async (_, ask) => {
    api.replies = [{ status: 307, headers: { Location: '/elsewhere' } }];
    const error = await failureOf(ask(rest));
    expect(error).toMatchObject({ status: 307, retryable: false });
    expect(error.message).toContain('redirect');
    expect(api.seen).toHaveLength(1);
  });

  it.each(METHODS)('%s knows that a refused connection did nothing', async (_, ask) => {
    await api.close();
    const error = await failureOf(ask(rest));
    expect(error).toMatchObject({ status: null, retryable: true });
    expect(error.message).toContain('could not be reached');
  });

  it.each(METHODS)('%s knows that an unknown host did nothing', async (_, ask) => {
    const lost = createRest({
      // A label of 64 letters cannot be looked up, so nobody is asked.
      baseUrl: `http://${'a'.repeat(64)}.invalid`,
      accountSid: ACCOUNT,
      authToken: TOKEN,
      pause: () => Promise.resolve(),
    });
    expect(await failureOf(ask(lost))).toMatchObject({ status: null, retryable: true });
  });

  it.each([
    ['no call id', ''],
    ['half a character', 'CA\ud800'],
    ['an endless one', 'C'.repeat(129)],
  ])('asks for nothing with %s', async (_, callId) => {
    expect(await failureOf(rest.hangUp(callId))).toMatchObject({ status: null, retryable: false });
    expect(await failureOf(rest.lookUp(callId))).toBeInstanceOf(CarrierError);
    expect(api.seen).toEqual([]);
  });
});

describe('what may be done twice', () => {
  it.each(AGAIN)('%s is repeated after trouble of any kind', async (_, ask) => {
    const found = { status: 200, json: { status: 'completed', incoming_phone_numbers: [] } };
    for (const trouble of [{ status: 503 }, 'cut', 'cut-body', { status: 200, text: '<html>' }] as const) {
      api.seen.length = 0;
      api.replies = [trouble, found];
      await ask(rest).catch(() => undefined);
      expect(api.seen).toHaveLength(2);
    }
  });

  it.each(AGAIN)('%s gives up after a while', async (_, ask) => {
    api.replies = [{ status: 503, json: {} }];
    expect(await failureOf(ask(rest))).toMatchObject({ status: 503, retryable: true });
    expect(api.seen).toHaveLength(4);
  });

  it('does not wait for a second time limit', async () => {
    const slow = createRest({ ...(await slowAccess()), timeoutMs: 200 });
    expect(await failureOf(slow.lookUp(CA))).toMatchObject({ status: null, retryable: true });
    expect(api.seen.length).toBeLessThanOrEqual(1);
  });
});

describe('what may be done only once', () => {
  const troubles: [string, FakeReply][] = [
    ['a cut connection', 'cut'],
    ['a server error', { status: 503, json: {} }],
    ['a success that is cut off', 'cut-body'],
    ['a success that is no JSON', { status: 200, text: '<html>' }],
    ['a success that is a JSON list', { status: 200, text: '[1]' }],
    ['an endless success', 'endless'],
  ];

  describe.each(troubles)('after %s', (_, trouble) => {
    it.each(ONCE)('%s is not repeated', async (name, ask) => {
      api.replies = [trouble];
      const error = await failureOf(ask(rest));
      expect(error.retryable).toBe(false);
      if (name === 'dial') expect(error.status).toBeNull();
      expect(api.seen).toHaveLength(1);
    });
  });

  it.each(['hang', 'hang-body'] as const)('is not repeated after the time limit: %s', async (trouble) => {
    api.replies = [trouble];
    const slow = createRest({ ...(await slowAccess(trouble)), timeoutMs: 200 });
    for (const [, ask] of ONCE) {
      api.seen.length = 0;
      const error = await failureOf(ask(slow));
      expect(error).toMatchObject({ status: null, retryable: false });
      expect(error.message).toContain('did not answer in time');
      expect(api.seen.length).toBeLessThanOrEqual(1);
    }
  });
});

/** Access to the fake API, which does not answer. */
async function slowAccess(trouble: FakeReply = 'hang') {
  api.replies = [{ status: 200, json: { status: 'ringing' } }];
  await rest.lookUp(CA);
  api.seen.length = 0;
  api.replies = [trouble];
  return { baseUrl: api.baseUrl, accountSid: ACCOUNT, authToken: TOKEN };
}

describe('dial', () => {
  const created = { sid: CA, status: 'queued', direction: 'outbound-api', price: null };

  it('places a call whose every report names it', async () => {
    api.replies = [{ status: 201, json: created }];
    await expect(rest.dial(dialRequest)).resolves.toEqual({ carrierCallId: CA });
    expect(api.seen).toEqual([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls.json`,
        authorization: `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`,
        form: [
          ['To', '+15005550020'],
          ['From', '+15005550010'],
          ['Url', `${webhookBaseUrl}/voice?callId=abc`],
          ['Method', 'POST'],
          ['StatusCallback', `${webhookBaseUrl}/status?callId=abc`],
          ['StatusCallbackMethod', 'POST'],
          ['StatusCallbackEvent', 'initiated'],
          ['StatusCallbackEvent', 'ringing'],
          ['StatusCallbackEvent', 'answered'],
          ['StatusCallbackEvent', 'completed'],
          ['Timeout', '25'],
          ['TimeLimit', '3600'],
        ],
      },
    ]);
  });

  it('asks for detection and a recording', async () => {
    api.replies = [{ status: 201, json: created }];
    await rest.dial({ ...dialRequest, machineDetection: true, recording: true });
    expect(api.seen[0]?.form.slice(12)).toEqual([
      ['MachineDetection', 'DetectMessageEnd'],
      ['AsyncAmd', 'true'],
      ['AsyncAmdStatusCallback', `${webhookBaseUrl}/amd?callId=abc`],
      ['AsyncAmdStatusCallbackMethod', 'POST'],
      ['Record', 'true'],
      ['RecordingChannels', 'dual'],
      ['RecordingStatusCallback', `${webhookBaseUrl}/recording?callId=abc`],
      ['RecordingStatusCallbackMethod', 'POST'],
      ['RecordingStatusCallbackEvent', 'completed'],
      ['RecordingStatusCallbackEvent', 'absent'],
    ]);
  });

  it.each([
    [0, 0, '1', '1'],
    [24.2, 59.9, '25', '60'],
    [10_000, Number.POSITIVE_INFINITY, '600', '86400'],
    [Number.NaN, -5, '1', '1'],
  ])('keeps %d and %d seconds within what the carrier takes', async (ring, call, timeout, timeLimit) => {
    api.replies = [{ status: 201, json: created }];
    await rest.dial({ ...dialRequest, ringTimeoutSeconds: ring, maxCallSeconds: call });
    const form = new Map(api.seen[0]?.form);
    expect([form.get('Timeout'), form.get('TimeLimit')]).toEqual([timeout, timeLimit]);
  });

  it.each([{}, { sid: null }, { sid: 7 }, { sid: '' }, { sid: 'CA 1' }])(
    'leaves open whether it was placed when the answer is %j',
    async (json) => {
      api.replies = [{ status: 201, json }];
      expect(await failureOf(rest.dial(dialRequest))).toMatchObject({ status: null, retryable: false });
      expect(api.seen).toHaveLength(1);
    },
  );

  it.each([
    [401, 20003, 'the account SID or the auth token is wrong'],
    [400, 21210, 'the calling number is neither owned nor verified'],
    [400, 21215, 'the account may not call this destination'],
  ])('is certain that nothing was placed after %i, %i', async (status, code, reason) => {
    api.replies = [{ status, json: { code } }];
    const error = await failureOf(rest.dial(dialRequest));
    expect(error).toMatchObject({ status, retryable: false });
    expect(error.message).toBe(
      `The carrier refused to place a call: ${reason} (HTTP ${status}, code ${code}).`,
    );
  });

  it('is placed once after the carrier was busy', async () => {
    api.replies = [{ status: 429 }, { status: 201, json: created }];
    await expect(rest.dial(dialRequest)).resolves.toEqual({ carrierCallId: CA });
    expect(api.seen).toHaveLength(2);
  });
});

describe('hangUp', () => {
  it('completes the call', async () => {
    api.replies = [{ status: 200, json: { status: 'completed' } }];
    await rest.hangUp(CA);
    expect(api.seen).toMatchObject([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}.json`,
        form: [['Status', 'completed']],
      },
    ]);
  });

  it.each([
    ['over already', { status: 400, json: { code: 21220, status: 400 } }],
    ['ended by an answer without a body', { status: 204 }],
  ])('is content with a call that is %s', async (_, reply) => {
    api.replies = [reply];
    await expect(rest.hangUp(CA)).resolves.toBeUndefined();
  });

  it('does not take a call that is not found for one that is over', async () => {
    api.replies = [{ status: 404, json: { code: 20404, status: 404 } }];
    expect(await failureOf(rest.hangUp(CA))).toMatchObject({ status: 404, retryable: false });
  });

  it('takes only the carrier at its word that a call is over', async () => {
    api.replies = [{ status: 400, text: '{"code":"21220"}' }];
    expect(await failureOf(rest.hangUp(CA))).toMatchObject({ status: 400 });
  });

  it('is content when it was carried out and only the answer was lost', async () => {
    api.replies = ['cut', { status: 400, json: { code: 21220 } }];
    await expect(rest.hangUp(CA)).resolves.toBeUndefined();
    expect(api.seen).toHaveLength(2);
  });

  it('keeps a hostile call id inside the path', async () => {
    api.replies = [{ status: 200, json: {} }];
    await rest.hangUp('../../x?y#z');
    expect(api.seen[0]?.url).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/..%2F..%2Fx%3Fy%23z.json`);
  });
});

describe('new instructions', () => {
  const markupOf = async (asked: Promise<void>): Promise<string | undefined> => {
    await asked;
    expect(api.seen).toHaveLength(1);
    expect(api.seen[0]?.url).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}.json`);
    expect(api.seen[0]?.form).toHaveLength(1);
    const [name, value] = api.seen[0]?.form[0] ?? [];
    return name === 'Twiml' ? value?.replace(/^.*\n<Response>|<\/Response>$/g, '') : undefined;
  };

  beforeEach(() => {
    api.replies = [{ status: 200, json: { sid: CA, status: 'in-progress' } }];
  });

  it('dial the other number, show our own, and ask for the result', async () => {
    expect(await markupOf(rest.transfer(CA, transferRequest))).toBe(
      `<Dial callerId="+15005550010" timeout="25" action="${webhookBaseUrl}/voice?callId=abc&amp;transfer=1" method="POST">+15005550030</Dial>`,
    );
  });

  it('ring within what the carrier takes', async () => {
    const request = { ...transferRequest, callerId: undefined, ringTimeoutSeconds: 1e9 };
    expect(await markupOf(rest.transfer(CA, request))).toContain('<Dial timeout="600" ');
  });

  it.each(['', '15005550030', '+1500<5550030', 'sip:anna@example.com', '+15005550030\n'])(
    'are not given for the number %j',
    async (to) => {
      expect(await failureOf(rest.transfer(CA, { ...transferRequest, to }))).toMatchObject({
        status: null,
        retryable: false,
      });
      expect(api.seen).toEqual([]);
    },
  );

  it('play keys, then open the next stream', async () => {
    expect(await markupOf(rest.sendDigits(CA, '1w2#*AD0W', stream))).toBe(
      '<Play digits="1w2#*AD0W"/><Connect><Stream url="wss://voice.example/ws/stream/abc"/></Connect>',
    );
  });

  it.each(['', 'E', 'a', '1 2', '1"/><Hangup/>', '1\n', '1'.repeat(129)])(
    'are not given for the keys %j, which no error repeats',
    async (digits) => {
      const error = await failureOf(rest.sendDigits(CA, digits, stream));
      expect(error.message).toBe(
        'The carrier is not asked to send keys: they are 1 to 128 of 0-9 A-D # * w W.',
      );
      expect(api.seen).toEqual([]);
    },
  );

  it('speak, then hang up', async () => {
    expect(await markupOf(rest.speak(CA, 'Tom & Jerry', { language: 'en-GB' }))).toBe(
      '<Say language="en-GB">Tom &amp; Jerry</Say><Hangup/>',
    );
  });

  it('fail for a call that is over', async () => {
    api.replies = [{ status: 400, json: { code: 21220 } }];
    const error = await failureOf(rest.speak(CA, 'Hi', { language: undefined }));
    expect(error).toMatchObject({ status: 400, retryable: false });
    expect(error.message).toBe(
      'The carrier refused to speak: the call is not in progress (HTTP 400, code 21220).',
    );
  });
});

describe('startRecording', () => {
  it('records both sides apart, and asks for the report', async () => {
    api.replies = [{ status: 201, json: { sid: 'RE1', status: 'in-progress' } }];
    await rest.startRecording(CA, { callId: 'abc', webhookBaseUrl });
    expect(api.seen).toMatchObject([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}/Recordings.json`,
        form: [
          ['RecordingChannels', 'dual'],
          ['RecordingStatusCallback', `${webhookBaseUrl}/recording?callId=abc`],
          ['RecordingStatusCallbackMethod', 'POST'],
          ['RecordingStatusCallbackEvent', 'completed'],
          ['RecordingStatusCallbackEvent', 'absent'],
        ],
      },
    ]);
  });
});

describe('lookUp', () => {
  const lookUp = async (json: object) => {
    api.replies = [{ status: 200, json }];
    return rest.lookUp(CA);
  };

  it('reads the resource of the call', async () => {
    await lookUp({ status: 'ringing' });
    expect(api.seen).toMatchObject([
      { method: 'GET', url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}.json`, form: [] },
    ]);
  });

  it.each([
    ['queued', false, null],
    ['ringing', false, null],
    ['in-progress', false, null],
    ['completed', true, 'answered'],
    ['busy', true, 'busy'],
    ['no-answer', true, 'no-answer'],
    ['failed', true, 'failed'],
    ['canceled', true, 'canceled'],
  ])('reads status %s', async (status, isOver, outcome) => {
    expect(await lookUp({ status, price: null, price_unit: 'USD' })).toEqual({
      isOver,
      outcome,
      costUsd: null,
    });
  });

  it.each([
    ['-0.00850', 'USD', 0.0085],
    ['-1.2', 'usd', 1.2],
    ['-0', 'USD', 0],
    ['0.0140', 'USD', 0.014],
    [-0.014, 'USD', 0.014],
    ['-0.00850', 'EUR', null],
    ['-0.00850', null, null],
    [null, 'USD', null],
    ['', 'USD', null],
    ['free', 'USD', null],
    ['-1e400', 'USD', null],
    ['NaN', 'USD', null],
    [{}, 'USD', null],
  ])('reads the price %j in %s as %s dollars', async (price, unit, costUsd) => {
    const { costUsd: cost } = await lookUp({ status: 'completed', price, price_unit: unit });
    expect(Object.is(cost, costUsd)).toBe(true);
  });

  it.each([{}, { status: null }, { status: 'constructor' }, { status: ['completed'] }])(
    'cannot tell from %j',
    async (json) => {
      expect(await failureOf(lookUp(json))).toMatchObject({ status: 200, retryable: false });
    },
  );

  it('does not take a call that is not found for one that is over', async () => {
    api.replies = [{ status: 404, json: { code: 20404 } }];
    const error = await failureOf(rest.lookUp(CA));
    expect(error.message).toBe(
      'The carrier refused to look up a call: the account has no such call or number (HTTP 404, code 20404).',
    );
  });
});

describe('setVoiceUrl', () => {
  const number = {
    sid: 'PN1',
    phone_number: '+15005550010',
    voice_url: urls.voice,
    voice_method: 'POST',
    status_callback: urls.status,
    status_callback_method: 'POST',
    voice_application_sid: '',
    trunk_sid: null,
  };
  const listOf = (...numbers: object[]): FakeReply => ({
    status: 200,
    json: { incoming_phone_numbers: numbers },
  });
  const setVoiceUrl = () => rest.setVoiceUrl('+15005550010', urls);

  it('sets both URLs of exactly this number', async () => {
    const similar = { ...number, sid: 'PN0', phone_number: '+150055500101' };
    api.replies = [
      listOf(similar, { ...number, voice_url: 'https://old.example', status_callback: null }),
      { status: 200, json: {} },
    ];
    await setVoiceUrl();
    expect(api.seen).toMatchObject([
      {
        method: 'GET',
        url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers.json?PhoneNumber=%2B15005550010`,
      },
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers/PN1.json`,
        form: [
          ['VoiceUrl', urls.voice],
          ['VoiceMethod', 'POST'],
          ['StatusCallback', urls.status],
          ['StatusCallbackMethod', 'POST'],
        ],
      },
    ]);
  });

  it('leaves the URL that is right as the operator set it', async () => {
    const own = { voice_url: `${urls.voice}#rc=2`, status_callback: '' };
    api.replies = [listOf({ ...number, ...own }), { status: 200, json: {} }];
    await setVoiceUrl();
    expect(api.seen[1]?.form).toEqual([
      ['StatusCallback', urls.status],
      ['StatusCallbackMethod', 'POST'],
    ]);
  });

  it.each([
    ['exactly', urls.voice],
    ['with connection settings of the operator', `${urls.voice}#rc=2`],
  ])('does nothing when the number points there already, %s', async (_, voiceUrl) => {
    api.replies = [listOf({ ...number, voice_url: voiceUrl })];
    await setVoiceUrl();
    expect(api.seen).toHaveLength(1);
  });

  it.each([
    ['an account without the number', listOf({ ...number, phone_number: '+15005550011' })],
    ['a number without a usable name', listOf({ ...number, sid: 'PN\ud800' })],
    ['an empty list', { status: 200, json: {} }],
    ['a list of anything', { status: 200, json: { incoming_phone_numbers: [null, 1, 'x', []] } }],
    ['a number that an application holds', listOf({ ...number, voice_application_sid: 'AP1' })],
    ['a number on a trunk', listOf({ ...number, trunk_sid: 'TK1' })],
  ] as const)('changes nothing for %s', async (_, list) => {
    api.replies = [list];
    await failureOf(setVoiceUrl());
    expect(api.seen).toHaveLength(1);
  });

  it('tells where a number leads, and changes nothing', async () => {
    api.replies = [listOf(number), listOf({ ...number, voice_url: '', trunk_sid: 'TK1' }), listOf()];
    const look = () => rest.voiceUrls?.('+15005550010');
    expect(await look()).toEqual({ voice: urls.voice, status: urls.status, isOverridden: false });
    expect(await look()).toEqual({ voice: null, status: urls.status, isOverridden: true });
    expect(await look()).toBeUndefined();
    expect(api.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });
});
