import { describe, expect, it } from 'vitest';
import { ConfigError } from '../src/base/errors.js';
import {
  Agent,
  type AgentOptions,
  type ClientOptions,
  checkClientOptions,
  checkServeOptions,
  type ServeOptions,
} from '../src/options.js';
import { createFakeCarrier, FakeRest } from './support/call-fakes.js';
import { RecordedLogger } from './support/recorded-logger.js';

const carrier = createFakeCarrier({ rest: new FakeRest() });
const client = { carrier, phoneNumber: '+15550100' };
const agent = new Agent({});

/** What `task` throws: code and message. */
function refusal(task: () => unknown): { code: string; message: string } {
  try {
    task();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

// Options as a program without types may write them.
const serve = (options: object) => checkServeOptions({ agent, ...options } as ServeOptions, client);
const makeClient = (options: object) => checkClientOptions({ ...client, ...options } as ClientOptions);
const makeAgent = (options: object) => new Agent(options as AgentOptions).options;

describe('ServeOptions', () => {
  it('have the documented defaults', () => {
    const { callbacks, ...rest } = serve({});
    expect(rest).toEqual({
      agent,
      port: 8000,
      host: '0.0.0.0',
      onMessage: undefined,
      dashboard: true,
      dashboardToken: undefined,
      manageWebhook: true,
      maxStreamsPerIp: 10,
      maxCalls: undefined,
      trustProxy: false,
      maxCallMs: 3_600_000,
      drainMs: 10_000,
      logger: undefined,
      requireSignature: false,
    });
    expect(Object.values(callbacks).every((callback) => callback === undefined)).toBe(true);
  });

  it.each<[string, unknown]>([
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
    ['tunnel', true],
    ['onCallStart', 'https://example.com'],
    ['onCallEnd', {}],
    ['onTranscript', 1],
    ['onMetrics', null],
    ['onMessage', 'https://example.com/answer'],
    ['onMessage', 'wss://example.com/answer'],
    ['onMessage', {}],
    ['dashboard', 'false'],
    ['dashboardToken', ''],
    ['dashboardToken', '  '],
    ['dashboardToken', 42],
    ['manageWebhook', 0],
    ['maxStreamsPerIp', 0],
    ['maxStreamsPerIp', Number.POSITIVE_INFINITY],
    ['maxCalls', 0],
    ['maxCalls', 1.5],
    ['trustProxy', -1],
    ['trustProxy', 'everyone'],
    ['trustProxy', ''],
    ['trustProxy', ['10.0.0.0/40']],
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
    ['recording', true],
    ['voicemailMessage', 'Call me back.'],
    ['pricing', {}],
    ['dataDir', '.offhook'],
    ['dataDir', true],
    ['dashboardUrl', 'https://example.com'],
    ['dashboardIngestToken', 'x'],
    ['budget', { perCall: 1 }],
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
    ['trustProxy', ['fd00::/8', 'uniquelocal']],
    ['maxCallMinutes', 0.05],
    ['drainSeconds', 0],
    ['recording', false],
    ['voicemailMessage', undefined],
    ['pricing', undefined],
    ['dataDir', false],
    ['budget', undefined],
  ])('take %s: %j', (name, value) => {
    expect(() => serve({ [name]: value })).not.toThrow();
  });

  it('name the fix', () => {
    expect(refusal(() => serve({ prot: 8000 })).message).toBe(
      'serve() has no option "prot". Did you mean port?',
    );
    expect(refusal(() => serve({ zzzzzzzz: 1 })).message).toContain('It takes: agent, port');
    expect(refusal(() => serve({ recording: true })).message).toContain('not available in this version');
    expect(refusal(() => serve({ requireSignature: true })).message).toContain('FAKE_SECRET');
    expect(refusal(() => serve({ port: 0 })).message).toContain('from 1 to 65535');
  });

  it('refuse tunnel with webhookUrl as a conflict', () => {
    const named = { ...client, webhookUrl: 'voice.example.com' };
    const { code, message } = refusal(() => checkServeOptions({ agent, tunnel: true }, named));
    expect(code).toBe('CONFIG_CONFLICT');
    expect(message).toMatch(/tunnel.*webhookUrl/);
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

describe('ClientOptions', () => {
  it.each<[string, unknown, string]>([
    ['carrier', undefined, 'CONFIG_MISSING'],
    ['carrier', [carrier, carrier], 'CONFIG_INVALID'],
    ['carrier', 'carrier-a', 'CONFIG_INVALID'],
    ['carrier', {}, 'CONFIG_INVALID'],
    ['phoneNumber', undefined, 'CONFIG_MISSING'],
    ['phoneNumber', '', 'CONFIG_INVALID'],
    ['phoneNumber', '15550100', 'CONFIG_INVALID'],
    ['phoneNumber', '+1 555 0100', 'CONFIG_INVALID'],
    ['phoneNumber', '+05550100', 'CONFIG_INVALID'],
    ['phoneNumber', 15_550_100, 'CONFIG_INVALID'],
    ['webhookUrl', 'https://voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'wss://voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com/', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com/path', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com?x=1', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice_agent.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:0', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:70000', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:', 'CONFIG_INVALID'],
    ['webhookUrl', 'user@voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', '-voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice..example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com.', 'CONFIG_INVALID'],
    ['webhookUrl', '1.2.3.999', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice example.com', 'CONFIG_INVALID'],
    ['webhookUrl', '', 'CONFIG_INVALID'],
    ['webhookUrl', null, 'CONFIG_INVALID'],
    ['webhookURL', 'voice.example.com', 'CONFIG_INVALID'],
  ])('refuse %s: %j', (name, value, expected) => {
    const { code, message } = refusal(() => makeClient({ [name]: value }));
    expect(code).toBe(expected);
    expect(message).toContain(name);
  });

  it('show no number in the error', () => {
    expect(refusal(() => makeClient({ phoneNumber: '+1555 867 5309' })).message).not.toContain('5309');
  });

  it.each([
    undefined,
    'voice.example.com',
    'voice.example.com:8443',
    'localhost:3000',
    '192.0.2.7',
    'XN--bcher-kva.example',
  ])('take webhookUrl %s', (webhookUrl) => {
    expect(makeClient({ webhookUrl }).webhookUrl).toBe(webhookUrl);
  });
});

describe('AgentOptions', () => {
  it('have the documented defaults', () => {
    expect(makeAgent({})).toEqual({
      systemPrompt: '',
      firstMessage: undefined,
      stt: undefined,
      llm: undefined,
      tts: undefined,
      language: undefined,
      interruptible: true,
    });
  });

  it.each<[string, unknown]>([
    ['systemPrompt', 7],
    ['firstMessage', ''],
    ['firstMessage', {}],
    ['stt', 'deepgram'],
    ['stt', {}],
    ['llm', { open() {} }],
    ['tts', null],
    ['language', 'english please'],
    ['language', ''],
    ['variables', 'name'],
    ['variables', ['name']],
    ['variables', { name: {} }],
    ['variables', { 'a b': 'x' }],
    ['interruptible', 'yes'],
    ['engine', {}],
    ['tools', []],
    ['transferTargets', ['+15550123']],
    ['firstMesage', 'Hello'],
  ])('refuse %s: %j', (name, value) => {
    const { code, message } = refusal(() => makeAgent({ [name]: value }));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(name);
  });

  it('fill variables into prompt and greeting', () => {
    const options = makeAgent({
      systemPrompt: 'You work for {shop}. Answer as {"json": true}. {unknown}',
      firstMessage: 'Welcome to {shop}, {count} of us are here.',
      variables: { shop: 'A\u0000 {count} $& Bakery\r\n', count: 3 },
      language: 'EN-us',
    });
    expect(options.systemPrompt).toBe(
      'You work for A {count} $& Bakery. Answer as {"json": true}. {unknown}',
    );
    expect(options.firstMessage).toBe('Welcome to A {count} $& Bakery, 3 of us are here.');
    expect(options.language).toBe('en-US');
  });

  it('cut long values between characters, and know no inherited names', () => {
    const { systemPrompt } = makeAgent({
      systemPrompt: '{long}{toString}',
      variables: { long: '👋'.repeat(600) },
    });
    expect(systemPrompt).toBe(`${'👋'.repeat(500)}{toString}`);
  });

  it('cannot be changed afterwards', () => {
    const made = new Agent({ systemPrompt: 'a' });
    expect(() => Object.assign(made.options, { systemPrompt: 'b' })).toThrow(TypeError);
  });
});

function fail(): never {
  throw new Error('the log is full');
}
