import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CarrierError, ConfigError } from '../../../../src/base/errors.js';
import { createRest } from '../../../../src/carriers/carrier-a/rest.js';
import { createRestTiming } from '../../../../src/carriers/rest-timing.js';
import { ACCOUNT, TOKEN, type FakeReply } from '../fake-api.js';
import { AGAIN, CA, METHODS, ONCE, api, failureOf, rest, useFakeApi } from './setup.js';

useFakeApi();

describe('every method', () => {
  it.each(METHODS)('%s demands credentials, and only there', async (_, ask) => {
    const timing = createRestTiming();
    const bare = createRest({
      baseUrl: 'http://127.0.0.1',
      accountSid: ACCOUNT,
      authToken: undefined,
      timing,
    });
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
    expect(error.message).toMatch(/could not be reached to .+ \(127\.0\.0\.1:\d+, ECONNREFUSED\)\.$/);
  });

  it.each(METHODS)('%s knows that an unknown host did nothing', async (_, ask) => {
    const lost = createRest({
      // A label of 64 letters cannot be looked up, so nobody is asked.
      baseUrl: `http://${'a'.repeat(64)}.invalid`,
      accountSid: ACCOUNT,
      authToken: TOKEN,
      timing: { ...createRestTiming(), pause: async () => {} },
    });
    expect(await failureOf(ask(lost))).toMatchObject({
      status: null,
      retryable: true,
      message: expect.stringMatching(/\(a{64}\.invalid, E[A-Z_]+\)\.$/),
    });
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
    ['a success that is not JSON', { status: 200, text: '<html>' }],
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

async function slowAccess(trouble: FakeReply = 'hang') {
  api.replies = [{ status: 200, json: { status: 'ringing' } }];
  await rest.lookUp(CA);
  api.seen.length = 0;
  api.replies = [trouble];
  return { baseUrl: api.baseUrl, accountSid: ACCOUNT, authToken: TOKEN, timing: createRestTiming() };
}
