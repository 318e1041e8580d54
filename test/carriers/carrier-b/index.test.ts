import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { ConfigError, RequestError, SignatureError } from '../../../src/base/errors.js';
import { createCarrierBDoor } from '../../../src/carriers/carrier-b/index.js';

const [fixture] = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-b-signatures.json', import.meta.url), 'utf8'),
) as { publicKey: string; nowSeconds: number; headers: Record<string, string>; rawBody: string }[];
const { publicKey = '', nowSeconds = 0, headers = {}, rawBody = '' } = fixture ?? {};

const clock = { ...systemClock, wallNow: () => nowSeconds * 1000 };
const request = (body: string, ownHeaders: Record<string, string> = {}) => ({
  method: 'POST',
  target: '/webhooks/carrier-b/voice',
  headers: ownHeaders,
  rawBody: Buffer.from(body, 'latin1'),
});

beforeEach(() => {
  vi.stubEnv('CARRIER_B_PUBLIC_KEY', '');
  vi.stubEnv('TELNYX_PUBLIC_KEY', '');
  return () => vi.unstubAllEnvs();
});

describe('createCarrierBDoor', () => {
  it('verifies with the key of the environment', async () => {
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', publicKey);
    const door = createCarrierBDoor({ publicKey: '', clock });
    expect(door.verifies).toBe(true);
    await door.prepare();
    expect(() => door.verify(request(rawBody, headers), 'voice.example')).not.toThrow();
    expect(() => door.verify(request(`${rawBody} `, headers), 'voice.example')).toThrow(SignatureError);
  });

  it('stays shut until it is prepared', () => {
    const door = createCarrierBDoor({ publicKey, clock });
    expect(() => door.verify(request(rawBody, headers), 'voice.example')).toThrow(SignatureError);
  });

  it('refuses a key that cannot be one before anything listens', async () => {
    await expect(createCarrierBDoor({ publicKey: 'wrong' }).prepare()).rejects.toBeInstanceOf(ConfigError);
  });

  it('lets everything pass without a key', async () => {
    const door = createCarrierBDoor();
    await door.prepare();
    expect(door.verifies).toBe(false);
    expect(() => door.verify(request('{}'), 'voice.example')).not.toThrow();
  });

  it('answers an event with 200, and makes no call', () => {
    const { webhooks } = createCarrierBDoor();
    expect(webhooks.routes).toEqual(['voice']);
    expect(webhooks.parse('voice', request(rawBody))).toEqual({ type: 'acknowledged' });
    expect(webhooks.acknowledge('voice')).toMatchObject({ status: 200, body: '{}' });
  });

  it.each(['', 'x', '[]', 'null', '{"a":"\xff"}'])('refuses the body %j', (body) => {
    expect(() => createCarrierBDoor().webhooks.parse('voice', request(body))).toThrow(RequestError);
  });
});
