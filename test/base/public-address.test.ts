import { describe, expect, it, vi } from 'vitest';
import { isPublicAddress, lookupPublic, PrivateAddressError } from '../../src/base/public-address.js';

const dns = vi.hoisted(() => ({ answers: [] as { address: string; family: number }[] }));

vi.mock('node:dns', () => ({
  lookup: (_: string, __: object, callback: (error: Error | null, addresses?: object[]) => void) => {
    if (dns.answers.length === 0) callback(new Error('ENOTFOUND'));
    else callback(null, dns.answers);
  },
}));

function lookUp(options: { all?: boolean } = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookupPublic('tools.example.com', options, (error, address) =>
      error === null ? resolve(address) : reject(error),
    );
  });
}

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('takes %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.19.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'localhost',
    '',
  ])('does not take %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('lookupPublic', () => {
  it('gives what the name leads to, in the form that is asked for', async () => {
    dns.answers = [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ];
    expect(await lookUp()).toBe('8.8.8.8');
    expect(await lookUp({ all: true })).toEqual(dns.answers);
  });

  it('gives nothing where one address of several is private', async () => {
    dns.answers = [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    await expect(lookUp({ all: true })).rejects.toBeInstanceOf(PrivateAddressError);
    await expect(lookUp()).rejects.toBeInstanceOf(PrivateAddressError);
  });

  it('passes on that there is no such name', async () => {
    dns.answers = [];
    await expect(lookUp()).rejects.toThrow('ENOTFOUND');
  });
});
