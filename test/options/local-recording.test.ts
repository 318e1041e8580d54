import { describe, expect, it } from 'vitest';
import type { ConfigError } from '../../src/base/errors.js';
import { Agent } from '../../src/options/agent.js';
import {
  type AttachOptions,
  checkAttachOptions,
  checkServeOptions,
  type ServeOptions,
} from '../../src/options/serve.js';
import { MemoryStore } from '../../src/stores/index.js';
import { createPlainCarrier } from '../support/plain-carrier.js';

const agent = new Agent({});
const carrier = createPlainCarrier();
const dashboardToken = 'a-token-of-sixteen-characters';
const key = Buffer.alloc(32, 7).toString('base64');

const check = (options: object, client: { webhookUrl?: string } = {}) =>
  checkServeOptions({ agent, ...options } as ServeOptions, { carrier, ...client }).localRecording;

function refusal(task: () => unknown): { code: string; message: string } {
  try {
    task();
  } catch (error) {
    const { code, message } = error as ConfigError;
    return { code, message };
  }
  throw new Error('nothing was refused');
}

describe('localRecording', () => {
  it('is off unless it is asked for', () => {
    expect(check({})).toBeUndefined();
    expect(check({ localRecording: false })).toBeUndefined();
  });

  it('is on with `true` or options', () => {
    const nothing = {
      announcement: undefined,
      pausesForKeys: false,
      key: undefined,
      keepMs: undefined,
      maxBytes: undefined,
    };
    expect(check({ localRecording: true, dashboardToken })).toEqual(nothing);
    expect(check({ localRecording: {}, dashboardToken })).toEqual(nothing);
    expect(check({ localRecording: { key, keepDays: 30, maxBytes: 5_000_000_000 }, dashboardToken })).toEqual(
      { ...nothing, key: Buffer.alloc(32, 7), keepMs: 30 * 86_400_000, maxBytes: 5_000_000_000 },
    );
  });

  it.each<[unknown, string]>([
    ['yes', 'localRecording must be true or false'],
    [7, 'localRecording must be true or false'],
    [null, 'localRecording must be true or false'],
    [[], 'localRecording takes an object'],
    [{ keepDay: 1 }, 'Did you mean keepDays?'],
    [{ keepDays: 0 }, 'localRecording.keepDays must be a number'],
    [{ maxBytes: 10 }, 'localRecording.maxBytes must be a whole number'],
    [{ key: 'secret' }, 'openssl rand -base64 32'],
    [{ key: undefined }, 'localRecording.key is undefined: it must be 32 bytes'],
    [{ key: '' }, 'openssl rand -base64 32'],
    [{ key: Buffer.alloc(31).toString('base64') }, 'openssl rand -base64 32'],
    [{ key: Buffer.alloc(33).toString('base64') }, 'openssl rand -base64 32'],
  ])('refuses %j', (localRecording, words) => {
    const { code, message } = refusal(() => check({ localRecording, dashboardToken }));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(words);
    expect(message).not.toContain('secret');
  });

  it.each<[string, object, { webhookUrl?: string }]>([
    ['listens everywhere', {}, {}],
    ['listens on an address of the network', { host: '192.0.2.7' }, {}],
    ['has a webhookUrl', { host: '127.0.0.1' }, { webhookUrl: 'voice.example.com' }],
    ['opens a tunnel', { host: '127.0.0.1', tunnel: true }, {}],
  ])('is refused without a token where the server %s', (_where, options, client) => {
    const { code, message } = refusal(() => check({ localRecording: true, ...options }, client));
    expect(code).toBe('CONFIG_MISSING');
    expect(message).toContain('localRecording needs a dashboardToken');
    expect(check({ localRecording: true, dashboardToken, ...options }, client)).toBeDefined();
  });

  it.each(['127.0.0.1', '::1', 'localhost', '127.9.9.9'])('needs no token on %s alone', (host) => {
    expect(check({ localRecording: true, host })).toBeDefined();
  });

  it('needs a token on a server of the application, which may listen anywhere', () => {
    const attach = (options: object) =>
      checkAttachOptions({ agent, localRecording: true, ...options } as AttachOptions, { carrier });
    expect(refusal(() => attach({})).code).toBe('CONFIG_MISSING');
    expect(attach({ dashboardToken }).localRecording).toBeDefined();
  });

  it('pauses for keys where they are a secret, unless it is told otherwise', () => {
    const privacy = { keys: 'none' };
    const pauses = (options: object) => check({ dashboardToken, ...options })?.pausesForKeys;
    expect(pauses({ localRecording: true })).toBe(false);
    expect(pauses({ localRecording: true, privacy })).toBe(true);
    expect(pauses({ localRecording: { pauseForKeys: false }, privacy })).toBe(false);
    expect(pauses({ localRecording: { pauseForKeys: true } })).toBe(true);
  });

  it('is refused where nothing is kept on this machine, with the reason', () => {
    const memory = refusal(() => check({ localRecording: true, dashboardToken, dataDir: false }));
    expect(memory.code).toBe('CONFIG_CONFLICT');
    expect(memory.message).toContain('recordings are kept in dataDir');
    const store = refusal(() => check({ localRecording: true, dashboardToken, store: new MemoryStore() }));
    expect(store.code).toBe('CONFIG_CONFLICT');
    expect(store.message).toContain('recordings are kept in dataDir');
  });
});
