import { describe, expect, it } from 'vitest';
import { hostComplaint, toLocalUrl, toUrl } from '../../src/base/host-name.js';

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

describe('a host name', () => {
  it.each(['voice.example.com', 'voice.example.com:8443', 'localhost', '192.0.2.7'])('can be %s', (name) => {
    expect(hostComplaint(name)).toBeUndefined();
  });

  it.each([
    [
      'https://voice.example.com/x',
      'is a host name alone: leave out the scheme and the path, and write voice.example.com',
    ],
    ['wss://voice.example.com', 'is a host name alone: leave out the scheme, and write voice.example.com'],
    ['voice.example.com:8443/', 'is a host name alone: leave out the path, and write voice.example.com:8443'],
    ['voice.example.com?key=0f1e', 'is a host name alone: leave out the path, and write voice.example.com'],
    ['https://', 'is a host name alone: leave out the scheme, and write a name like voice.example.com'],
    [
      'https://me:secret@voice.example.com',
      'is a host name alone: leave out the scheme, and write a name like voice.example.com',
    ],
    ['me@voice.example.com', 'has no user name'],
    ['voice_1.example.com', 'has no underscore: carriers refuse such names'],
    ['voice.example.com:0', 'has a port from 1 to 65535, or none'],
    ['voice..example.com', 'is a host name like voice.example.com'],
    ['192.0.2', 'is a host name like voice.example.com'],
  ])('is not %s', (name, complaint) => {
    expect(hostComplaint(name)).toBe(complaint);
  });
});
