import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.js';
import { endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../../src/providers/wire/access.js';

const NAMES = {
  vendor: 'Vendor',
  keyVariables: ['VENDOR_API_KEY', 'VENDOR_KEY'],
  baseUrlVariable: 'VENDOR_BASE_URL',
  defaultBaseUrl: 'https://api.vendor.example',
};

afterEach(() => vi.unstubAllEnvs());

describe('resolveKey', () => {
  it('takes the option, then the first variable that is set, without blanks around it', () => {
    expect(resolveKey(undefined, NAMES)).toBeUndefined();
    vi.stubEnv('VENDOR_KEY', ' second\n');
    expect(resolveKey(undefined, NAMES)).toBe('second');
    vi.stubEnv('VENDOR_API_KEY', 'first');
    expect(resolveKey(undefined, NAMES)).toBe('first');
    expect(resolveKey('own', NAMES)).toBe('own');
  });

  it.each(['a b', 'a\nb', 'schlüssel'])('refuses %j without showing it', (key) => {
    const refused = () => resolveKey(key, NAMES);
    expect(refused).toThrow(ConfigError);
    expect(refused).not.toThrow(new RegExp(key));
  });

  it('says what to set when a key is needed', () => {
    expect(() => requireKey(undefined, NAMES)).toThrow(/apiKey.*VENDOR_API_KEY or VENDOR_KEY/);
  });
});

describe('resolveBaseUrl', () => {
  it('takes the option, then the variable, then the vendor', () => {
    expect(resolveBaseUrl(undefined, NAMES).href).toBe('https://api.vendor.example/');
    vi.stubEnv('VENDOR_BASE_URL', 'http://127.0.0.1:9');
    expect(resolveBaseUrl(undefined, NAMES).href).toBe('http://127.0.0.1:9/');
    expect(resolveBaseUrl('wss://other', NAMES).href).toBe('wss://other/');
  });

  it.each(['ftp://x', 'api.vendor.example', 'http://'])('refuses %j', (value) => {
    expect(() => resolveBaseUrl(value, NAMES)).toThrow(ConfigError);
  });

  it('demands one where there is no default', () => {
    const names = { ...NAMES, defaultBaseUrl: undefined };
    expect(() => resolveBaseUrl(undefined, names)).toThrow(/VENDOR_BASE_URL/);
  });
});

describe('endpoint', () => {
  it.each([
    ['http://h:1', 'ws', 'ws://h:1/v1/x'],
    ['https://h', 'ws', 'wss://h/v1/x'],
    ['wss://h', 'ws', 'wss://h/v1/x'],
    ['ws://h', 'http', 'http://h/v1/x'],
    ['https://h/proxy/', 'http', 'https://h/proxy/v1/x'],
    ['https://h/proxy?team=a', 'ws', 'wss://h/proxy/v1/x?team=a'],
    ['https://user:word@h', 'http', 'https://user:word@h/v1/x'],
  ] as const)('joins %s as %s', (base, kind, expected) => {
    expect(endpoint(new URL(base), '/v1/x', { kind }).href).toBe(expected);
  });

  it('adds a query, lists included, and leaves alone what the base URL sets', () => {
    const base = new URL('http://h?model=mine');
    const query = { model: 'ours', rate: 16000, word: ['a b', 'c'], nothing: undefined, on: true };
    expect(endpoint(base, '/x', { kind: 'ws', query }).href).toBe(
      'ws://h/x?model=mine&rate=16000&word=a+b&word=c&on=true',
    );
  });
});
