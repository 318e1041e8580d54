import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionLimit, clientAddress, isPrivateAddress } from '../../src/server/connection-limit.js';
import { neighborhoodOf, normalizeAddress } from '../../src/base/network-address.js';

describe('ConnectionLimit', () => {
  it('counts each address by itself, and takes a place back once', () => {
    const limit = new ConnectionLimit(2);
    const release = limit.acquire('a');
    expect(limit.acquire('a')).toBeDefined();
    expect(limit.acquire('a')).toBeUndefined();
    expect(limit.acquire('b')).toBeDefined();
    release?.();
    release?.();
    expect(limit.acquire('a')).toBeDefined();
    expect(limit.acquire('a')).toBeUndefined();
  });
});

describe('normalizeAddress', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5060', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['', undefined],
    ['unknown', undefined],
    ['999.0.0.1', undefined],
    ['1.2.3.4, 5.6.7.8', undefined],
  ])('writes %j as %j', (text, address) => {
    expect(normalizeAddress(text)).toBe(address);
  });

  it('never throws, and knows its own spelling', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
        const address = normalizeAddress(text);
        if (address !== undefined) expect(normalizeAddress(address)).toBe(address);
      }),
    );
  });
});

describe('clientAddress', () => {
  const request = (remoteAddress: string | undefined, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;
  const isProxy = (address: string) => address.startsWith('10.');

  it.each([
    ['10.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['10.0.0.1', '198.51.100.9, 203.0.113.1, 10.0.0.2', '203.0.113.1'],
    ['::ffff:10.0.0.1', '203.0.113.1:1234', '203.0.113.1'],
    ['203.0.113.1', '198.51.100.9', '203.0.113.1'],
    ['10.0.0.1', 'garbage', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.1, , 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    [undefined, '203.0.113.1', 'unknown'],
  ])('of %s, forwarded for %s, is %s', (peer, forwarded, address) => {
    expect(clientAddress(request(peer, forwarded), isProxy)).toBe(address);
  });

  it('counts the hops as Express does', () => {
    const oneProxy = (_: string, hop: number) => hop < 1;
    expect(clientAddress(request('10.0.0.1', '198.51.100.9, 203.0.113.1'), oneProxy)).toBe('203.0.113.1');
  });
});

describe('isPrivateAddress', () => {
  it.each([
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.31.0.1', true],
    ['192.168.1.1', true],
    ['100.64.0.1', true],
    ['::1', true],
    ['fd00::1', true],
    ['fe80::1', true],
    ['172.32.0.1', false],
    ['203.0.113.1', false],
    ['2001:db8::1', false],
    ['unknown', false],
  ])('%s: %s', (address, isPrivate) => {
    expect(isPrivateAddress(address)).toBe(isPrivate);
  });
});

describe('an IPv6 neighborhood', () => {
  it.each([
    ['2001:db8:0:1::5', '2001:db8:0:1'],
    ['2001:0DB8:0:1:ffff:0:0:1', '2001:db8:0:1'],
    ['[2001:db8:0:1::9]:443', '2001:db8:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9', '203.0.113.9'],
    ['unknown', 'unknown'],
  ])('of %s is %s', (address, neighborhood) => {
    expect(neighborhoodOf(address)).toBe(neighborhood);
  });

  it('shares one limit', () => {
    const limit = new ConnectionLimit(2);
    const release = limit.acquire('2001:db8:0:1::1');
    expect(limit.acquire('2001:db8:0:1::2')).toBeDefined();
    expect(limit.acquire('2001:db8:0:1:ffff::3')).toBeUndefined();
    expect(limit.acquire('2001:db8:0:2::1')).toBeDefined();
    release?.();
    expect(limit.acquire('2001:db8:0:1:ffff::3')).toBeDefined();
  });
});
