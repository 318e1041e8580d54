import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError, SignatureError } from '../../../src/base/errors.js';
import { CarrierA } from '../../../src/carriers/carrier-a/index.js';
import { itRefuses } from '../../support/refused-options.js';

const authToken = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const accountSid = 'AC33333333333333333333333333333333';

afterEach(() => vi.unstubAllEnvs());

describe('CarrierA', () => {
  it('demands no credential', () => {
    const carrier = new CarrierA();
    expect(carrier.verifies).toBe(false);
    expect(carrier.streamTokenKey).toBeUndefined();
    expect(carrier.rest.configured).toBe(false);
  });

  it.each([
    ['CARRIER_A_ACCOUNT_SID', 'CARRIER_A_AUTH_TOKEN'],
    ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
  ])('falls back to %s and %s for empty credentials', (sidName, tokenName) => {
    vi.stubEnv(sidName, accountSid);
    vi.stubEnv(tokenName, authToken);
    const carrier = new CarrierA({ accountSid: '', authToken: '' });
    expect(carrier.rest.configured).toBe(true);
    expect(carrier.streamTokenKey).toEqual(new CarrierA({ authToken }).streamTokenKey);
  });

  it('prefers what it is given, then the names of the house', () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', 'house');
    vi.stubEnv('TWILIO_AUTH_TOKEN', 'vendor');
    expect(new CarrierA().streamTokenKey).toEqual(new CarrierA({ authToken: 'house' }).streamTokenKey);
    expect(new CarrierA({ authToken }).streamTokenKey).not.toEqual(new CarrierA().streamTokenKey);
  });

  it.each(['SK333', 'ac333', 'AC', 'AC3/../x', 'AC3 33'])('refuses the account SID %j', (sid) => {
    expect(() => new CarrierA({ accountSid: sid })).toThrow(ConfigError);
  });

  it('takes a secret without the line break that a file leaves behind it', () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', `${authToken}\n`);
    expect(new CarrierA().streamTokenKey).toEqual(new CarrierA({ authToken }).streamTokenKey);
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', ' \n');
    expect(new CarrierA().verifies).toBe(false);
  });

  it.each([`"${authToken}"`, `${authToken} x`, `${authToken}é`])(
    'refuses an auth token that cannot be one',
    (token) => {
      const make = () => new CarrierA({ authToken: token });
      expect(make).toThrow('authToken (CARRIER_A_AUTH_TOKEN) has');
      expect(make).not.toThrow(authToken);
    },
  );

  itRefuses(CarrierA, [
    [{ authtoken: 'x' }, 'Did you mean authToken?'],
    [{ secret: 'x' }, 'It takes: accountSid, authToken, baseUrl.'],
    [{ authToken: 5 }, 'authToken of new CarrierA() must be a string.'],
    [null, 'takes an object'],
  ]);

  it.each([
    'api.example',
    'ftp://api.example',
    'https://user:secret@api.example',
    'https://api.example/?a=1',
    'https://api.example/#a',
  ])('refuses the base URL %j', (baseUrl) => {
    expect(() => new CarrierA({ baseUrl })).toThrow(ConfigError);
  });

  it('says what it can do, and takes no commands', () => {
    expect(new CarrierA().supports).toEqual({
      recording: true,
      voiceUrl: true,
      digitsReplaceStream: true,
      callCost: true,
      callCostCoversStream: false,
    });
    expect(new CarrierA()).not.toHaveProperty('commands');
  });

  it('shows no secret when it is printed', () => {
    const carrier = new CarrierA({ accountSid, authToken });
    expect(inspect(carrier, { depth: 9, showHidden: true })).not.toContain(authToken);
    expect(JSON.stringify(carrier)).not.toContain(authToken);
  });

  const sign = (text: string) => createHmac('sha1', authToken).update(text).digest('base64');
  const request = (signature: string | undefined) => ({
    method: 'GET',
    target: '/ws/stream/CA1',
    headers: { 'x-carriera-signature': signature },
    rawBody: new Uint8Array(),
  });

  it('verifies webhooks under the public host', () => {
    const carrier = new CarrierA({ authToken });
    const right = request(sign('https://voice.example/ws/stream/CA1'));
    expect(() => carrier.verify(right, 'voice.example')).not.toThrow();
    expect(() => carrier.verify(right, 'other.example')).toThrow(SignatureError);
    expect(() => carrier.verify(request(undefined), 'voice.example')).toThrow(SignatureError);
    expect(() => new CarrierA().verify(request(undefined), 'voice.example')).not.toThrow();
  });

  it('verifies an upgrade that is signed, and lets one pass that is not', () => {
    const carrier = new CarrierA({ authToken });
    const verify = (signature: string | undefined) => () =>
      carrier.verifyUpgrade(request(signature), 'voice.example');
    expect(verify(sign('wss://voice.example/ws/stream/CA1'))).not.toThrow();
    expect(verify(undefined)).not.toThrow();
    expect(verify(sign('https://voice.example/ws/stream/CA1'))).toThrow(SignatureError);
    expect(verify('')).toThrow(SignatureError);
  });
});
