// Which internet addresses belong to the public, and a look-up that gives no others: for connections to hosts that somebody else names.
import { lookup } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';

/** IPv4 networks that are nobody's on the internet, or not one host's. Source: IANA IPv4 Special-Purpose Address Registry. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of the one block that IPv6 hosts have (2000::/3) what is special, or leads into IPv4. Source: IANA IPv6 Special-Purpose Address Registry. */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) special.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of SPECIAL_IPV6) special.addSubnet(network, bits, 'ipv6');

const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/** True for an address literal that any host on the internet could have. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** A name leads, or an address belongs, to where nobody but the operator may send anybody. */
export class PrivateAddressError extends Error {
  constructor() {
    super('not a public address');
    this.name = 'PrivateAddressError';
  }
}

/**
 * `dns.lookup` for a socket, which connects to what it gives: there is no second look-up that could answer otherwise. Fails with a
 * PrivateAddressError when any of the addresses is not public. Literals are not looked up: ask `isPublicAddress` first.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) callback(error ?? new PrivateAddressError(), '', 0);
    else if (!addresses.every(({ address }) => isPublicAddress(address)))
      callback(new PrivateAddressError(), '', 0);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
