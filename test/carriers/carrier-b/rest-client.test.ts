import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CarrierError, ConfigError } from '../../../src/base/errors.js';
import { RestClient, type RestRequest } from '../../../src/carriers/carrier-b/rest-client.js';
import { HandTiming, OK, type RestServer, refusal, startRestServer } from './rest-server.js';
import { soon } from '../../support/soon.js';

let server: RestServer;
let timing: HandTiming;
let client: RestClient;

beforeEach(async () => {
  server = await startRestServer();
  timing = new HandTiming();
  client = new RestClient({ baseUrl: server.url, apiKey: 'KEY1' }, timing);
});
afterEach(() => server.close());

const post: RestRequest = {
  purpose: 'do a thing',
  path: '/calls/x/actions/thing',
  body: { command_id: 'id-1', n: 1 },
  isHarmless: true,
};
const once: RestRequest = { ...post, isHarmless: false };

/** The error of a request that fails. */
async function failure(request: RestRequest): Promise<CarrierError> {
  const error = await client.request(request).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CarrierError);
  return error as CarrierError;
}

/** Lets the time of the given number of tries run out, each when its request has arrived. */
async function expireTries(tries: number): Promise<void> {
  for (let seen = 1; seen <= tries; seen += 1) {
    await soon(() => expect(server.seen).toHaveLength(seen));
    timing.expire();
  }
}

describe('request', () => {
  it('sends JSON with the key, and gives the data of the answer', async () => {
    server.replies = [OK];
    await expect(client.request(post)).resolves.toEqual({ result: 'ok' });
    expect(server.seen).toEqual([
      {
        method: 'POST',
        path: '/v2/calls/x/actions/thing',
        authorization: 'Bearer KEY1',
        body: { command_id: 'id-1', n: 1 },
      },
    ]);
  });

  it('gets without a body', async () => {
    server.replies = [{ status: 200, body: { data: { is_alive: true } } }];
    await expect(client.request({ purpose: 'look', path: '/calls/x', isHarmless: true })).resolves.toEqual({
      is_alive: true,
    });
    expect(server.seen).toMatchObject([{ method: 'GET', path: '/v2/calls/x', body: {} }]);
  });

  it('reads no answer without end', async () => {
    const padding = 'x'.repeat(1024 * 1024);
    server.replies = [{ status: 200, body: { data: { result: 'ok', padding } } }];
    expect((await failure(once)).message).toContain('Check baseUrl');
    server.replies = [{ status: 422, body: { errors: [{ code: '90018', padding }] } }];
    expect((await failure(once)).message).toBe('The carrier refused to do a thing (HTTP 422).');
  });

  it.each([
    ['an error of the carrier', { status: 500, body: {} }],
    ['a gateway without an answer', { status: 504, body: '<html>' }],
    ['a cut connection', 'cut'],
    ['a busy carrier', refusal(429, '10011')],
  ] as const)('repeats the same command after %s', async (_, first) => {
    server.replies = [first, OK];
    await expect(client.request(once)).resolves.toEqual({ result: 'ok' });
    expect(server.seen).toHaveLength(2);
    expect(server.seen[1]).toEqual(server.seen[0]);
  });

  it('repeats the same command when no answer comes, with more patience each time', async () => {
    server.replies = ['hang', 'hang', OK];
    const answer = client.request(post);
    await expireTries(2);
    await expect(answer).resolves.toEqual({ result: 'ok' });
    expect(new Set(server.seen.map(({ body }) => body.command_id))).toEqual(new Set(['id-1']));
    expect(timing.limits).toEqual([1000, 3000, 6000]);
  });

  it('repeats quickly: twice, within a second', async () => {
    await failure(post);
    expect(server.seen).toHaveLength(3);
    expect(timing.pauses).toHaveLength(2);
    expect(Math.max(...timing.pauses)).toBeLessThanOrEqual(750);
  });

  it.each([
    ['as long as the carrier says', { 'x-ratelimit-reset': '2' }, 2000],
    ['not for minutes', { 'x-ratelimit-reset': '600' }, 3000],
    ['a second when it does not say', {}, 1000],
    ['a second when it says what is not a number', { 'x-ratelimit-reset': 'soon' }, 1000],
    ['a moment when the limit is lifted already', { 'x-ratelimit-reset': '0' }, 50],
  ])('waits for a rate limit: %s', async (_, headers, atLeast) => {
    server.replies = [refusal(429, '10011', headers), OK];
    await client.request(post);
    expect(timing.pauses).toHaveLength(1);
    expect(timing.pauses[0]).toBeGreaterThanOrEqual(atLeast);
    expect(timing.pauses[0]).toBeLessThanOrEqual(atLeast * 1.5);
  });

  it.each([
    [300, ''],
    [400, ''],
    [401, ': apiKey (CARRIER_B_API_KEY) is wrong'],
    [403, ''],
    [404, ''],
    [422, ''],
  ])('does not repeat after %i, and names the code alone%s', async (status, because) => {
    server.replies = [refusal(status, '90034')];
    const error = await failure(post);
    expect(error).toMatchObject({ status, retryable: false, code: 'CARRIER_FAILED' });
    expect(error.message).toBe(`The carrier refused to do a thing${because} (HTTP ${status}, code 90034).`);
    expect(server.seen).toHaveLength(1);
  });

  it('takes a refusal that is fine for an answer', async () => {
    server.replies = [refusal(422, '90018')];
    const isFine = vi.fn(() => true);
    await expect(client.request({ ...post, isFine })).resolves.toBeUndefined();
    expect(isFine).toHaveBeenCalledWith(expect.objectContaining({ status: 422, code: '90018' }));
  });

  it('never follows a redirect with the key', async () => {
    const redirect = { status: 307, body: '', headers: { location: `${server.url}/elsewhere` } };
    server.replies = [redirect, redirect, redirect];
    await failure(post);
    expect(server.seen.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  it.each([
    ['a page', '<html>welcome</html>'],
    ['nothing', ''],
    ['a list', []],
    ['an object without data', {}],
    ['data that is none', { data: 'ok' }],
  ])('does not take %s for an answer of the API', async (_, body) => {
    server.replies = [{ status: 200, body }];
    const error = await failure(once);
    expect(error).toMatchObject({ status: null, retryable: false });
    expect(error.message).toContain('baseUrl');
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['errors that are no list', { errors: 'x' }],
    ['an error that is none', { errors: [null] }],
    ['a code that is a sentence', { errors: [{ code: 'a <b>' }] }],
    ['a code that is longer than any', { errors: [{ code: '9'.repeat(17) }] }],
  ])('survives a refusal with %s', async (_, body) => {
    server.replies = [{ status: 422, body }];
    expect((await failure(post)).message).toBe('The carrier refused to do a thing (HTTP 422).');
  });

  it('refuses to send anything without a key', async () => {
    const bare = new RestClient({ baseUrl: server.url, apiKey: undefined }, timing);
    expect(bare.hasKey).toBe(false);
    await expect(bare.request(post)).rejects.toBeInstanceOf(ConfigError);
    expect(server.seen).toEqual([]);
  });
});

describe('what a failure leaves open', () => {
  it('is nothing when the carrier could not be reached', async () => {
    server.close();
    expect(await failure(once)).toMatchObject({
      status: null,
      retryable: true,
      message: expect.stringMatching(
        /could not be reached to do a thing \(127\.0\.0\.1:\d+, ECONNREFUSED\)\.$/,
      ),
    });
  });

  it('is everything when the answer was lost', async () => {
    server.replies = ['cut', 'cut', 'cut'];
    expect(await failure(once)).toMatchObject({ status: null, retryable: false });
  });

  it('is everything when the time was up', async () => {
    server.replies = ['hang', 'hang', 'hang'];
    const error = failure(once);
    await expireTries(3);
    expect(await error).toMatchObject({
      status: null,
      retryable: false,
      message: expect.stringMatching(
        /^The carrier did not answer in time to do a thing \(127\.0\.0\.1:\d+\)\.$/,
      ),
    });
  });

  it('is everything when an answer was lost and the repeat refused', async () => {
    server.replies = ['cut', refusal(422, '90018')];
    expect(await failure(once)).toMatchObject({ status: null, retryable: false });
    server.replies = [{ status: 504, body: '' }, refusal(429, '10011'), refusal(429, '10011')];
    expect(await failure(once)).toMatchObject({ status: null, retryable: false });
  });

  it('is nothing when the carrier was busy all the time', async () => {
    server.replies = [refusal(429, '10011'), refusal(429, '10011'), refusal(429, '10011')];
    expect(await failure(once)).toMatchObject({ status: 429, retryable: true });
  });

  it('is told by the status when the carrier itself failed', async () => {
    expect(await failure(once)).toMatchObject({ status: 500, retryable: false });
  });

  it('is of no matter where doing it again does no harm', async () => {
    server.replies = ['cut', 'cut', 'cut'];
    expect(await failure(post)).toMatchObject({ status: null, retryable: true });
    expect(await failure(post)).toMatchObject({ status: 500, retryable: true });
  });
});
