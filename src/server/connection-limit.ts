// Counts connections per address, and says whose address a connection has when proxies stand in front.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { neighborhoodOf, normalizeAddress } from '../base/network-address.js';
import { isPassed } from './neighbor.js';
import type { ProxyTrust } from './proxy-trust.js';

/** At most `max` connections at a time per address; an IPv6 neighborhood (/64) is one. Memory is bounded by what is open. */
export class ConnectionLimit {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a connection. Returns the function that gives it back (idempotent), or undefined when there are too many. */
  acquire(address: string): (() => void) | undefined {
    const neighborhood = neighborhoodOf(address);
    const count = this.#open.get(neighborhood) ?? 0;
    if (count >= this.#max) return undefined;
    this.#open.set(neighborhood, count + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#release(neighborhood);
    };
  }

  #release(neighborhood: string): void {
    const count = (this.#open.get(neighborhood) ?? 1) - 1;
    if (count <= 0) this.#open.delete(neighborhood);
    else this.#open.set(neighborhood, count);
  }
}

/** Address of the machine on the other end of the connection. */
export function peerAddress(request: IncomingMessage): string {
  return normalizeAddress(request.socket.remoteAddress ?? '') ?? 'unknown';
}

/** Address of the client: the peer, or what trusted proxies say it is. The first distrusted address counts, as in Express. */
export function clientAddress(request: IncomingMessage, trusts: ProxyTrust): string {
  let address = peerAddress(request);
  const header = request.headers['x-forwarded-for'];
  const forwarded = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').reverse();
  for (const [hop, text] of forwarded.entries()) {
    const next = normalizeAddress(text.trim());
    // A neighbor says for whom it asks, whoever is trusted here.
    if (next === undefined || !(isPassed(request) ? hop === 0 : trusts(address, hop))) break;
    address = next;
  }
  return address;
}

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

/** True for loopback, private and link-local addresses: where a proxy of the operator's own would be. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && PRIVATE.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
