import { describe, expect, it } from 'vitest';
import { toLocalUrl, toUrl } from '../../src/base/host-name.js';

describe('the URL of a server', () => {
  it.each([
    ['0.0.0.0', 'http://0.0.0.0:80', 'http://127.0.0.1:80'],
    ['::', 'http://[::]:80', 'http://[::1]:80'],
    ['192.0.2.7', 'http://192.0.2.7:80', 'http://192.0.2.7:80'],
    ['2001:db8::7', 'http://[2001:db8::7]:80', 'http://[2001:db8::7]:80'],
    ['localhost', 'http://localhost:80', 'http://localhost:80'],
  ])('that listens on %s is %s, and %s for this machine', (address, url, localUrl) => {
    expect([toUrl(address, 80), toLocalUrl(address, 80)]).toEqual([url, localUrl]);
  });
});
