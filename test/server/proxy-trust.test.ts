import express from 'express';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';
import { type ProxyTrust, toProxyTrust, type TrustProxy } from '../../src/server/proxy-trust.js';

const ADDRESSES = [
  ...['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '169.254.7.7', 'fe80::1', 'fe80::1%eth0'],
  ...['10.0.0.1', '10.255.0.1', '11.0.0.1', '172.16.0.1', '172.32.0.1', '192.168.3.4', '::ffff:10.0.0.1'],
  ...['fc00::7', 'fd12:3456::1', 'fe00::1', '8.8.8.8', '2001:db8::1', '2001:db8:0:1::2', 'unknown', ''],
];

const VALUES: TrustProxy[] = [
  ...[true, false, 0, 1, 2, 'loopback', 'loopback, 10.0.0.0/8', 'linklocal,uniquelocal', '8.8.8.8'],
  ...[['fd00::/128', '10.0.0.1/32', 'uniquelocal'], ['2001:db8::/64'], ['2001:db8::/32', '127.0.0.1']],
  ...['::ffff:8.8.8.8', '::1', '0.0.0.0/1', '8.8.8.0/24', []],
  ...['10.0.0.0/255.0.0.0', '8.8.8.8/255.255.255.255', '172.16.0.0/255.240.0.0'],
];

describe('toProxyTrust', () => {
  it.each(VALUES.map((value) => [value] as const))('trusts with %j whom Express trusts', (value) => {
    const trusts = toProxyTrust(value);
    const asExpress = express().set('trust proxy', value).get('trust proxy fn') as ProxyTrust;
    for (const address of ADDRESSES.filter((each) => !each.includes('%')))
      for (const hop of [0, 1, 2])
        expect([address, hop, trusts(address, hop)]).toEqual([address, hop, asExpress(address, hop)]);
  });

  it('knows a link-local address with its zone', () => {
    expect(toProxyTrust('linklocal')('fe80::1%eth0', 0)).toBe(true);
  });

  it.each([
    'nonsense',
    '',
    '300.1.1.1',
    '10.0.0.0/33',
    '10.0.0.0/0',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/1e1',
    '10.0.0.0/+8',
    '10.0.0.0/0x8',
    '10.0.0.0/255.0.255.0',
    'fd00::/255.0.0.0',
    '8.8.8.8:80',
  ])('refuses %j', (value) => {
    expect(() => toProxyTrust(value)).toThrow(ConfigError);
    expect(() => toProxyTrust(['loopback', value])).toThrow(ConfigError);
  });
});
