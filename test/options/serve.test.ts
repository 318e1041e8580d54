import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { checkServeOptions, type ServeOptions } from '../../src/options/serve.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { refusal } from './refusal.js';

const carrier = createPlainCarrier();
const client = { carrier };
const agent = new Agent({});

// Options as a program without types may write them.
const serve = (options: object) => checkServeOptions({ agent, ...options } as ServeOptions, client);

describe('ServeOptions', () => {
  it('have the documented defaults', () => {
    const { callbacks, ...rest } = serve({});
    expect(rest).toEqual({
      agent,
      choice: undefined,
      takeOver: false,
      tunnel: false,
      recording: false,
      localRecording: undefined,
      listenIn: false,
      voicemailMessage: undefined,
      port: 8000,
      host: '0.0.0.0',
      onMessage: undefined,
      dashboard: true,
      dashboardToken: undefined,
      dashboardFeed: { kind: 'automatic' },
      manageWebhook: true,
      maxStreamsPerIp: 10,
      maxCalls: undefined,
      trustProxy: false,
      maxCallMs: 3_600_000,
      drainMs: 10_000,
      handleSignals: false,
      privacy: { transcript: 'full', keys: 'full' },
      resume: { holdSeconds: 2, message: undefined },
      isSynced: false,
      logger: undefined,
      dataDir: '.offhook',
      requireSignature: false,
    });
    expect(Object.values(callbacks).every((callback) => callback === undefined)).toBe(true);
  });

  it('takes calls over where their words are redacted', () => {
    const options = serve({ privacy: { transcript: 'redacted' }, takeOver: true });
    expect(options.privacy).toEqual({ transcript: 'redacted', keys: 'full' });
  });

  it('show the shape of privacy to who gives one word', () => {
    expect(refusal(() => serve({ privacy: 'redacted' as never })).message).toBe(
      "privacy takes an object, such as { transcript: 'redacted' }.",
    );
  });

  it.each<[string, unknown]>([
    ['privacy', 'none'],
    ['privacy', { transcript: 'some' }],
    ['privacy', { keys: false }],
    ['privacy', { words: 'none' }],
    ['resume', 2],
    ['resume', { holdSeconds: 11 }],
    ['resume', { message: 7 }],
    ['resume', { message: 'x'.repeat(301) }],
    ['resume', { message: { en: 7 } }],
    ['resume', { message: { 'no language': 'Back.' } }],
    ['resume', { mesage: '' }],
    ['durability', 'disk'],
    ['durability', true],
    ['port', 0],
    ['port', 65_536],
    ['port', -1],
    ['port', 80.5],
    ['port', '8000'],
    ['port', Number.NaN],
    ['port', null],
    ['host', ''],
    ['host', 'http://localhost'],
    ['host', '0.0.0.0:8000'],
    ['host', '1.2.3'],
    ['host', 7],
    ['tunnel', 'yes'],
    ['onCallStart', 'https://example.com'],
    ['onCallEnd', {}],
    ['onTranscript', 1],
    ['onMetrics', null],
    ['onMessage', 'example.com/answer'],
    ['onMessage', 'ftp://example.com/answer'],
    ['onMessage', ''],
    ['onMessage', {}],
    ['dashboard', 'false'],
    ['dashboardToken', ''],
    ['dashboardToken', '  '],
    ['dashboardToken', 'a b'],
    ['dashboardToken', 'fifteen-letters'],
    ['dashboardIngestToken', 'fifteen-letters'],
    ['dashboardToken', 'tök'],
    ['dashboardToken', 42],
    ['manageWebhook', 0],
    ['maxStreamsPerIp', 0],
    ['maxStreamsPerIp', Number.POSITIVE_INFINITY],
    ['maxCalls', 0],
    ['maxCalls', 1.5],
    ['trustProxy', -1],
    ['trustProxy', 'everyone'],
    ['trustProxy', ''],
    ['trustProxy', ['10.0.0.0/33']],
    ['trustProxy', ['fd00::/129']],
    ['trustProxy', [7]],
    ['trustProxy', []],
    ['maxCallMinutes', 0],
    ['maxCallMinutes', 1441],
    ['maxCallMinutes', '60'],
    ['drainSeconds', -1],
    ['drainSeconds', 601],
    ['logger', console.log],
    ['logger', { info() {} }],
    ['requireSignature', 'no'],
    ['requireSignature', true],
    ['recording', 'yes'],
    ['voicemailMessage', ''],
    ['voicemailMessage', {}],
    ['pricing', { nobody: { x: { perAudioMinute: 1 } } }],
    ['dataDir', true],
    ['dataDir', ''],
    ['dataDir', ' '],
    ['dataDir', 'data\0dir'],
    ['dataDir', null],
    ['dashboardUrl', 'example.com'],
    ['dashboardIngestToken', 'x'.repeat(16)],
    ['budget', { perCall: 0 }],
    ['agent', {}],
  ])('refuse %s: %j, and say so', (name, value) => {
    const { code, message } = refusal(() => serve({ [name]: value }));
    expect(code).toMatch(/^CONFIG_(INVALID|MISSING)$/);
    expect(message).toContain(name);
  });

  it.each<[string, unknown]>([
    ['port', 1],
    ['port', 65_535],
    ['port', undefined],
    ['host', '::1'],
    ['host', 'localhost'],
    ['tunnel', false],
    ['dashboard', false],
    ['maxCalls', 1],
    ['trustProxy', 1],
    ['trustProxy', true],
    ['trustProxy', 'loopback, 10.0.0.0/8'],
    ['trustProxy', ['fd00::/128', '10.0.0.1/32', 'uniquelocal']],
    ['maxCallMinutes', 0.05],
    ['drainSeconds', 0],
    ['tunnel', true],
    ['recording', false],
    ['voicemailMessage', undefined],
    ['voicemailMessage', 'Call {name} back.'],
    ['pricing', undefined],
    ['pricing', {}],
    ['pricing', { openai: { 'gpt-6-luna': { outputPerMillionTokens: 1 } } }],
    ['dataDir', false],
    ['dataDir', '/var/lib/offhook'],
    ['dataDir', 'données/电话'],
    ['dashboardUrl', false],
    ['budget', undefined],
    ['budget', { perCall: 1 }],
  ])('take %s: %j', (name, value) => {
    expect(() => serve({ [name]: value })).not.toThrow();
  });

  it('name the fix', () => {
    expect(refusal(() => serve({ prot: 8000 })).message).toBe(
      'serve() has no option "prot". Did you mean port?',
    );
    expect(refusal(() => serve({ zzzzzzzz: 1 })).message).toContain('It takes: agent, fallbackAgent');
    expect(refusal(() => serve({ dataDir: {} })).message).toContain('path of a folder');
    expect(refusal(() => serve({ requireSignature: true })).message).toContain('PLAIN_SECRET');
    expect(refusal(() => serve({ port: 0 })).message).toContain('from 1 to 65535');
  });

  it('refuse tunnel with webhookUrl as a conflict', () => {
    const named = { ...client, webhookUrl: 'voice.example.com' };
    const { code, message } = refusal(() => checkServeOptions({ agent, tunnel: true }, named));
    expect(code).toBe('CONFIG_CONFLICT');
    expect(message).toMatch(/tunnel.*webhookUrl/);
  });

  it('refuse recording with a carrier that cannot', () => {
    const deaf = createPlainCarrier({ supports: { recording: false } });
    const { code, message } = refusal(() =>
      checkServeOptions({ agent, recording: true }, { ...client, carrier: deaf }),
    );
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(/recording.*carrier/);
    expect(() => checkServeOptions({ agent, recording: false }, { ...client, carrier: deaf })).not.toThrow();
  });

  it('refuse recording without what it needs', () => {
    expect(refusal(() => serve({ recording: true }))).toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringMatching(/recording needs webhookUrl.*tunnel/),
    });
    expect(serve({ recording: true, tunnel: true }).recording).toBe(true);
    const named = { ...client, webhookUrl: 'voice.example.com' };
    expect(checkServeOptions({ agent, recording: true }, named).recording).toBe(true);
    const poor = { ...named, carrier: createPlainCarrier({ rest: withoutCredentials() }) };
    expect(refusal(() => checkServeOptions({ agent, recording: true }, poor))).toMatchObject({
      code: 'CONFIG_MISSING',
      message: "recording needs the carrier's credentials: set apiKey (CARRIER_B_API_KEY).",
    });
  });

  it('refuse a carrier that is steered by commands and cannot send any', () => {
    const steered = (rest?: PlainRest) => {
      const commands = { answer: fail, reject: fail, startStream: fail, stopStream: fail };
      return { ...client, carrier: { ...createPlainCarrier(rest === undefined ? {} : { rest }), commands } };
    };
    expect(refusal(() => checkServeOptions({ agent }, steered(withoutCredentials())))).toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringMatching(/controlled by API requests: set apiKey \(CARRIER_B_API_KEY\)\.$/),
    });
    expect(() => checkServeOptions({ agent }, steered())).not.toThrow();
    const instructed = { ...client, carrier: createPlainCarrier({ rest: withoutCredentials() }) };
    expect(() => checkServeOptions({ agent }, instructed)).not.toThrow();
  });

  it.each([
    [{ tunnel: true }, ['loopback']],
    [{ tunnel: true, host: '::' }, ['loopback']],
    [{ tunnel: true, host: '192.0.2.7' }, ['loopback', '192.0.2.7']],
    [{ tunnel: true, trustProxy: false }, false],
    [{ tunnel: true, trustProxy: 2 }, 2],
    [{}, false],
  ])('believe the tunnel of %j, as far as nothing else is said', (options, trustProxy) => {
    expect(serve(options).trustProxy).toEqual(trustProxy);
  });

  it('demand an agent, and options at all', () => {
    expect(refusal(() => serve({ agent: undefined })).code).toBe('CONFIG_MISSING');
    for (const options of [undefined, null, 'port', []]) {
      const untyped = options as unknown as ServeOptions;
      expect(refusal(() => checkServeOptions(untyped, client)).message).toContain('serve()');
    }
  });

  it('guard the logger of the application', () => {
    const logger = new RecordedLogger();
    const throwing = { ...logger, info: logger.info, warn: logger.warn, error: logger.error, debug: fail };
    const checked = serve({ logger: throwing });
    checked.logger?.debug({}, 'felt by nobody');
    checked.logger?.info({ a: 1 }, 'passed on');
    expect(logger.lines).toEqual([{ level: 'info', fields: { a: 1 }, sentence: 'passed on' }]);
  });
});

function withoutCredentials(): PlainRest {
  const rest = new PlainRest();
  rest.configured = false;
  return rest;
}

function fail(): never {
  throw new Error('the log is full');
}
