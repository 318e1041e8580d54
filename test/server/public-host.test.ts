import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/base/errors.js';
import { resolvePublicHost } from '../../src/server/public-host.js';

describe('resolvePublicHost', () => {
  it('goes by the configuration first', () => {
    expect(resolvePublicHost('voice.example', 'evil.example')).toBe('voice.example');
  });

  it.each([
    'localhost',
    'voice.example',
    'Voice.Example:8443',
    '127.0.0.1:8000',
    '[::1]:8000',
    'a_b.example',
    'a.b.',
  ])('takes the Host header %s', (host) => {
    expect(resolvePublicHost(undefined, host)).toBe(host);
  });

  it.each([
    undefined,
    '',
    'a/b',
    'a b',
    'user@voice.example',
    'voice.example:',
    'voice.example:123456',
    '-a.example',
    'a..b',
    '"><x',
    `${'a.'.repeat(128)}a`,
  ])('refuses the Host header %j', (host) => {
    expect(() => resolvePublicHost(undefined, host)).toThrow(RequestError);
  });
});
