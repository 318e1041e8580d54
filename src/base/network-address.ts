// IP addresses as other machines show them, in one spelling, and who is one and the same behind several of them.
import { isIP } from 'node:net';

/** One spelling per address: no port, no zone, IPv4 inside IPv6 as IPv4, IPv6 compressed. Undefined for no address. */
export function normalizeAddress(text: string): string | undefined {
  const bare = text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (isIP(bare) === 4) return bare;
  if (isIP(bare) !== 6) return undefined;
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical);
  return mapped === null ? canonical : toIpv4(mapped[1] ?? '', mapped[2] ?? '');
}

/** The dotted form of the last 32 bits of an IPv6 address. */
function toIpv4(high: string, low: string): string {
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** What is counted as one: an IPv4 address, or the /64 of an IPv6 one, which is what a household gets. */
export function neighborhoodOf(address: string): string {
  const plain = normalizeAddress(address);
  if (plain === undefined) return address;
  // An IPv4 address is one group.
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest].slice(0, 4).join(':');
}
