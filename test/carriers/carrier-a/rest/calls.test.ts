import { describe, expect, it } from 'vitest';
import { ACCOUNT, TOKEN } from '../fake-api.js';
import {
  CA,
  api,
  dialRequest,
  failureOf,
  rest,
  transferRequest,
  useFakeApi,
  webhookBaseUrl,
} from './setup.js';

useFakeApi();

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
    [401, 20003, 'accountSid (CARRIER_A_ACCOUNT_SID) or authToken (CARRIER_A_AUTH_TOKEN) is wrong'],
    [400, 21201, 'the number to be called is missing'],
    [400, 21205, 'a webhook URL is not valid'],
    [400, 21210, 'the calling number is neither owned nor verified'],
    [400, 21211, 'the number to be called is not valid'],
    [400, 21212, 'the calling number is not valid'],
    [400, 21213, 'the calling number is missing'],
    [400, 21215, 'the account may not call this destination'],
    [400, 21262, 'the callback of answering-machine detection is not valid'],
    [400, 21609, 'a status callback URL is not valid'],
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
    expect(await failureOf(rest.hangUp(CA))).toMatchObject({ status: 404, retryable: false, isFinal: true });
  });

  it.each([
    { status: 404, text: '<html>' },
    { status: 404, json: { code: 21220.5 } },
    { status: 500, json: { code: 20500 } },
  ])('does not take the last word from elsewhere, or of a moment: %j', async (reply) => {
    api.replies = [reply, reply, reply, reply];
    expect(await failureOf(rest.hangUp(CA))).toMatchObject({ isFinal: false });
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

describe('limit', () => {
  it('has the carrier end the call by itself, within its bounds', async () => {
    api.replies = [
      { status: 200, json: { sid: CA } },
      { status: 200, json: { sid: CA } },
    ];
    await rest.limit?.(CA, 3660);
    await rest.limit?.(CA, 1e9);
    expect(api.seen).toMatchObject([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}.json`,
        form: [['TimeLimit', '3660']],
      },
      { form: [['TimeLimit', '86400']] },
    ]);
  });

  it('is lifted for a caller who is handed over', async () => {
    api.replies = [{ status: 200, json: { sid: CA } }];
    await rest.transfer(CA, transferRequest);
    expect(new Map(api.seen[0]?.form).get('TimeLimit')).toBe('14400');
  });
});

describe('deleteRecordings', () => {
  const listed = { status: 200, json: { recordings: [{ sid: 'RE1' }, { sid: 7 }, null, { sid: 'RE2' }] } };
  const asked = () => api.seen.map(({ method, url }) => [method, url?.slice(url.indexOf(ACCOUNT) + 34)]);

  it('deletes each that the carrier lists', async () => {
    api.replies = [listed, { status: 204, text: '' }];
    await rest.deleteRecordings?.(CA);
    expect(asked()).toEqual([
      ['GET', `/Calls/${CA}/Recordings.json?PageSize=1000`],
      ['DELETE', '/Recordings/RE1.json'],
      ['DELETE', '/Recordings/RE2.json'],
    ]);
  });

  it('is content with none, and with one that is gone already', async () => {
    api.replies = [{ status: 200, json: { recordings: [] } }];
    await rest.deleteRecordings?.(CA);
    api.replies = [listed, { status: 404, json: { code: 20404 } }];
    await rest.deleteRecordings?.(CA);
    expect(asked()).toHaveLength(4);
  });

  it('fails where one cannot be deleted', async () => {
    api.replies = [listed, { status: 403, json: { code: 20003 } }];
    expect(await failureOf(Promise.resolve(rest.deleteRecordings?.(CA)))).toMatchObject({
      code: 'CARRIER_FAILED',
      status: 403,
    });
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
