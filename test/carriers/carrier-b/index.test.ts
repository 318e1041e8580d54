import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { ConfigError, SignatureError } from '../../../src/base/errors.js';
import { CarrierB, type CarrierBOptions } from '../../../src/carriers/carrier-b/index.js';
import { OK, startRestServer } from './rest-server.js';
import { itRefuses } from '../../support/refused-options.js';

const [fixture] = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-b-signatures.json', import.meta.url), 'utf8'),
) as { publicKey: string; nowSeconds: number; headers: Record<string, string>; rawBody: string }[];
const { publicKey = '', nowSeconds = 0, headers = {}, rawBody = '' } = fixture ?? {};

const apiKey = 'KEY0123456789ABCDEF';
const clock = { wallNow: () => nowSeconds * 1000 };
const request = (body: string, ownHeaders: Record<string, string> = {}) => ({
  method: 'POST',
  target: '/webhooks/carrier-b/voice',
  headers: ownHeaders,
  rawBody: Buffer.from(body, 'latin1'),
});

afterEach(() => vi.unstubAllEnvs());

describe('CarrierB', () => {
  it('demands no credential', async () => {
    const carrier = new CarrierB();
    await carrier.prepare();
    expect(carrier.verifies).toBe(false);
    expect(carrier.streamTokenKey).toBeUndefined();
    expect(carrier.rest.configured).toBe(false);
    expect(() => carrier.verify(request('{}'))).not.toThrow();
  });

  it('is steered by commands, and says what it cannot do', () => {
    const { commands, supports } = new CarrierB();
    expect(commands).toBeDefined();
    expect(supports).toEqual({
      recording: false,
      voiceUrl: false,
      digitsReplaceStream: false,
      callCost: false,
      callCostCoversStream: true,
    });
  });

  it.each(['CARRIER_B', 'TELNYX'])('falls back to the names %s_… for empty credentials', (prefix) => {
    vi.stubEnv(`${prefix}_API_KEY`, apiKey);
    vi.stubEnv(`${prefix}_PUBLIC_KEY`, publicKey);
    const carrier = new CarrierB({ apiKey: '', connectionId: '', publicKey: '' });
    expect(carrier.verifies).toBe(true);
    expect(carrier.rest.configured).toBe(true);
    expect(carrier.streamTokenKey).toEqual(new CarrierB({ apiKey }).streamTokenKey);
  });

  it('prefers what it is given, then the names of the house', () => {
    vi.stubEnv('CARRIER_B_API_KEY', 'house');
    vi.stubEnv('TELNYX_API_KEY', 'vendor');
    expect(new CarrierB().streamTokenKey).toEqual(new CarrierB({ apiKey: 'house' }).streamTokenKey);
    expect(new CarrierB({ apiKey }).streamTokenKey).not.toEqual(new CarrierB().streamTokenKey);
  });

  it('keys stream tokens with its one secret, and never with the public key', () => {
    expect(new CarrierB({ publicKey }).streamTokenKey).toBeUndefined();
    const { streamTokenKey } = new CarrierB({ apiKey, publicKey });
    expect(streamTokenKey).toHaveLength(32);
    expect(streamTokenKey).toEqual(new CarrierB({ apiKey: ` ${apiKey}\n` }).streamTokenKey);
  });

  itRefuses(CarrierB, [
    [{ apikey: 'x' }, 'Did you mean apiKey?'],
    [{ secret: 'x' }, 'It takes: apiKey, connectionId, publicKey, baseUrl, l16ByteOrder.'],
    [{ connectionId: 17 }, 'connectionId of new CarrierB() must be a string.'],
    [{ connectionId: 'a b' }, 'connectionId (CARRIER_B_CONNECTION_ID)'],
    [{ apiKey: 'KEY 1' }, 'apiKey (CARRIER_B_API_KEY)'],
    [{ publicKey: 'wrong' }, 'publicKey (CARRIER_B_PUBLIC_KEY)'],
    [{ l16ByteOrder: 'middle' }, "l16ByteOrder must be 'little' or 'big'."],
    [{ baseUrl: 'api.example' }, 'baseUrl must be an http or https URL without credentials.'],
    [{ baseUrl: 'ftp://api.example' }, 'baseUrl must be an http or https URL without credentials.'],
    [
      { baseUrl: 'https://user:secret@api.example' },
      'baseUrl must be an http or https URL without credentials.',
    ],
    [{ baseUrl: 'https://api.example/?a=1' }, 'baseUrl must not have a query or a fragment.'],
    [null, 'takes an object'],
  ]);

  it('refuses a key of the environment that cannot be one, without showing it', () => {
    vi.stubEnv('TELNYX_PUBLIC_KEY', 'bm90IGEga2V5');
    expect(() => new CarrierB()).toThrow(ConfigError);
    expect(() => new CarrierB()).not.toThrow('bm90IGEga2V5');
  });

  it('shows no secret when it is printed', () => {
    expect(inspect(new CarrierB({ apiKey, publicKey }), { depth: 10, showHidden: true })).not.toContain(
      apiKey,
    );
  });

  it.each(['', '/', '/v2', '/v2/'])('calls the API at a baseUrl that ends in %j', async (end) => {
    const server = await startRestServer();
    server.replies = [OK];
    await new CarrierB({ apiKey, baseUrl: `${server.url}${end}` }).rest.hangUp('v3:a');
    expect(server.seen).toMatchObject([
      { path: '/v2/calls/v3%3Aa/actions/hangup', authorization: `Bearer ${apiKey}` },
    ]);
    server.close();
  });

  it('dials for the application of the environment', async () => {
    const server = await startRestServer();
    server.replies = [{ status: 200, body: { data: { call_control_id: 'v3:b' } } }];
    vi.stubEnv('TELNYX_CONNECTION_ID', '1700000000000000001');
    const call = { callId: 'c', from: '+15005550010', to: '+15005550020', webhookBaseUrl: 'https://x' };
    const limits = { ringTimeoutSeconds: 25, maxCallSeconds: 600, machineDetection: false, recording: false };
    await new CarrierB({ apiKey, baseUrl: server.url }).rest.dial({ ...call, ...limits });
    expect(server.seen[0]?.body).toMatchObject({ connection_id: '1700000000000000001' });
    server.close();
  });

  it('lets commands fail without an API key, whatever else is there', async () => {
    const carrier = new CarrierB({ publicKey });
    const missing = expect.objectContaining({ code: 'CONFIG_MISSING' });
    await expect(carrier.commands.answer('v3:a', { callId: 'c' })).rejects.toEqual(missing);
    await expect(carrier.rest.hangUp('v3:a')).rejects.toEqual(missing);
    await expect(carrier.rest.lookUp('v3:a')).rejects.toEqual(missing);
  });
});

describe('verify', () => {
  it('takes what is signed with the key, and nothing else', async () => {
    const carrier = new CarrierB({ publicKey }, clock);
    await carrier.prepare();
    expect(() => carrier.verify(request(rawBody, headers))).not.toThrow();
    expect(() => carrier.verify(request(`${rawBody} `, headers))).toThrow(SignatureError);
    expect(() => carrier.verify(request(rawBody))).toThrow(SignatureError);
  });

  it('stays shut until it is prepared', () => {
    const carrier = new CarrierB({ publicKey }, clock);
    expect(() => carrier.verify(request(rawBody, headers))).toThrow(SignatureError);
  });
});

describe('openMedia', () => {
  const outbound = (options: CarrierBOptions, codec?: 'preferred' | 'fallback') => {
    const dialect = new CarrierB(options).openMedia(codec);
    const start = { event: 'start', stream_id: 's', start: { call_control_id: 'v3:a' } };
    const message = dialect.decode(JSON.stringify(start));
    const { payload } = JSON.parse(dialect.encodeAudio(Uint8Array.of(1, 2))).media;
    return {
      format: message.type === 'start' ? message.outboundFormat : undefined,
      bytes: [...Buffer.from(payload, 'base64')],
    };
  };

  it('speaks what the stream was asked for', () => {
    expect(outbound({})).toEqual({ format: PCM_16K, bytes: [1, 2] });
    expect(outbound({}, 'fallback')).toEqual({ format: MULAW_8K, bytes: [1, 2] });
  });

  it('speaks PCM in the byte order of the options', () => {
    expect(outbound({ l16ByteOrder: 'big' })).toEqual({ format: PCM_16K, bytes: [2, 1] });
  });
});
