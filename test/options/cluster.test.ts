import { describe, expect, it } from 'vitest';
import { type Carrier, CarrierA, Offhook } from '../../src/index.js';
import type { ServedClient } from '../../src/options/client.js';
import { checkCluster, type ClusterOptions } from '../../src/options/cluster.js';
import { checkServeOptions } from '../../src/options/serve.js';

const carrier = new CarrierA({ accountSid: `AC${'0a'.repeat(16)}`, authToken: 'a'.repeat(32) });
const client: ServedClient = { carrier, webhookUrl: 'voice.example.com' };
const WHOLE: ClusterOptions = {
  url: 'redis://10.0.0.2:6379',
  name: 'bakery',
  secret: 'x'.repeat(32),
  address: 'http://10.0.0.5:8000/',
};
const check = (options: object, others = {}) => checkCluster({ ...WHOLE, ...options }, { client, others });

describe('cluster', () => {
  it('is nothing for a server that is alone', () => {
    expect(checkCluster(undefined, { client, others: { takeOver: true } })).toBeUndefined();
  });

  it('keeps states unless told otherwise, and takes an address without its slash', () => {
    expect(check({})).toEqual({ ...WHOLE, address: 'http://10.0.0.5:8000', state: true });
    expect(check({ state: false })?.state).toBe(false);
    expect(check({ streamHost: 'node-1.voice.example.com:8443' })?.streamHost).toBe(
      'node-1.voice.example.com:8443',
    );
    for (const url of ['rediss://u:p@h:1', 'redis://h:1/', 'redis://h:1/3'])
      expect(check({ url })?.url).toBe(url);
  });

  it.each([
    'redis://:100%@10.0.0.2',
    'redis://user:ab/c@10.0.0.2',
    'redis://user:12/34@10.0.0.2',
    'redis://:a#b@10.0.0.2',
  ])('refuses %s and says how to write the password', (url) => {
    expect(() => check({ url })).toThrow(/cluster\.url must have .*\/ is %2F.*% is %25/);
  });

  it.each([
    [{ secret: 'x'.repeat(31) }, 'CONFIG_INVALID', /32 bytes.*openssl rand -base64 32/],
    [{ secret: undefined }, 'CONFIG_MISSING', /needs secret\. Make one with: openssl/],
    [{ url: 'http://10.0.0.2' }, 'CONFIG_INVALID', /redis:\/\/user/],
    [{ url: 'nonsense' }, 'CONFIG_INVALID', /redis:\/\/user/],
    [{ url: 'redis://10.0.0.2/bakery' }, 'CONFIG_INVALID', /cluster\.url must end with its host and port/],
    [{ url: 'redis://10.0.0.2/0?tls=true' }, 'CONFIG_INVALID', /cluster\.url must end with its host/],
    [{ url: 'memory' }, 'CONFIG_INVALID', /redis:\/\/user/],
    [{ url: undefined }, 'CONFIG_MISSING', /needs url.*redis:\/\/user/],
    [{ name: 'two words' }, 'CONFIG_INVALID', /cluster\.name/],
    [{ name: '{x}' }, 'CONFIG_INVALID', /cluster\.name/],
    [{ address: undefined }, 'CONFIG_MISSING', /needs address.*http:\/\/10\.0\.0\.5/],
    [{ address: '10.0.0.5:8000' }, 'CONFIG_INVALID', /http:\/\/10\.0\.0\.5:8000/],
    [{ address: 'http://10.0.0.5:8000/path' }, 'CONFIG_INVALID', /no path/],
    [{ address: 'http://0.0.0.0:8000' }, 'CONFIG_INVALID', /where the other servers/],
    [{ streamHost: 'wss://node-1.example.com/' }, 'CONFIG_INVALID', /streamHost.*leave out the scheme/],
    [{ streamHost: '' }, 'CONFIG_INVALID', /streamHost/],
    [{ streamHost: 8000 }, 'CONFIG_INVALID', /streamHost is a text like/],
    [{ streamHost: 'voice.example.com' }, 'CONFIG_CONFLICT', /of this server alone/],
    [{ adress: 'x' }, 'CONFIG_INVALID', /Did you mean address/],
    [{ state: 'no' }, 'CONFIG_INVALID', /cluster\.state/],
  ])('refuses %j and says what to do', (options, code, message) => {
    expect(() => check(options)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it('shows no secret in what it refuses', () => {
    expect(() => check({ secret: 'hidden' })).not.toThrow(/hidden/);
  });

  it('needs the host of the load balancer, and the secret of the carrier', () => {
    const without = { client: { carrier, webhookUrl: undefined }, others: {} };
    expect(() => checkCluster(WHOLE, without)).toThrow(expect.objectContaining({ code: 'CONFIG_MISSING' }));
    const unsigned = { streamTokenKey: undefined, secretSetting: 'TELNYX_PUBLIC_KEY' } as Carrier;
    const other = { client: { carrier: unsigned, webhookUrl: 'voice.example.com' }, others: {} };
    expect(() => checkCluster(WHOLE, other)).toThrow(/webhook secret.*TELNYX_PUBLIC_KEY/);
  });

  it.each([
    [{ takeOver: true }, /takeOver/],
    [{ privacy: { transcript: 'none' } }, /transcript/],
    [{ dataDir: false, store: { append() {} } }, /store/],
  ] as const)('excludes %j', (options, message) => {
    const phone = new Offhook({ carrier, phoneNumber: '+15550100', webhookUrl: 'voice.example.com' });
    const serve = { agent: phone.agent({ systemPrompt: 'x' }), cluster: WHOLE, ...options };
    expect(() => checkServeOptions(serve as never, client)).toThrow(message);
  });

  it('has another server asked at once after a lost stream', () => {
    const phone = new Offhook({ carrier, phoneNumber: '+15550100', webhookUrl: 'voice.example.com' });
    const agent = phone.agent({ systemPrompt: 'x' });
    const holdSecondsOf = (options: object) =>
      checkServeOptions({ agent, ...options }, client).resume.holdSeconds;
    expect(holdSecondsOf({})).toBe(2);
    expect(holdSecondsOf({ cluster: WHOLE })).toBe(0);
    expect(holdSecondsOf({ cluster: WHOLE, resume: { holdSeconds: 3 } })).toBe(3);
  });
});
