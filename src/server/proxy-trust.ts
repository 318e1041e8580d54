// Which machines in front of us are believed when they say for whom they ask: the option `trustProxy`.
import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../base/errors.js';
import { normalizeAddress } from '../base/network-address.js';

/** Values of Express's `trust proxy`. */
export type TrustProxy = boolean | number | string | string[];

/** True when the proxy at `address`, `hop` steps away, may name the address before it. */
export type ProxyTrust = (address: string, hop: number) => boolean;

/** Names that stand for networks. Source: Express's guide on proxies. */
const NETWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.1/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

/** True trusts all of them, a number the nearest so many, a text or a list the addresses and networks in it. @throws ConfigError */
export function toProxyTrust(trustProxy: TrustProxy): ProxyTrust {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  const list = typeof trustProxy === 'string' ? trustProxy.split(',') : trustProxy;
  const trusted = new BlockList();
  for (const entry of list.map((text) => text.trim()))
    for (const network of NETWORKS.get(entry) ?? [entry]) addNetwork(trusted, network);
  return (text) => {
    const address = normalizeAddress(text) ?? '';
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** An address, or a network as `address/prefix` or, of IPv4, `address/netmask`. */
function addNetwork(trusted: BlockList, network: string): void {
  const [text = '', bits, ...rest] = network.split('/');
  const isWhole = bits === undefined && isIP(text) !== 0;
  const address = isWhole ? (normalizeAddress(text) ?? '') : text;
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? longest : toPrefix(bits, version);
  if (version === 0 || rest.length > 0 || !(prefix >= 1 && prefix <= longest))
    throw new ConfigError(
      'CONFIG_INVALID',
      'trustProxy must be true, false, a number of proxies, or their addresses.',
    );
  trusted.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
}

/** NaN if it is invalid. */
function toPrefix(bits: string, version: number): number {
  if (/^\d{1,3}$/.test(bits)) return Number(bits);
  if (version !== 4 || isIP(bits) !== 4) return Number.NaN;
  const mask = bits.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return /^(1*)0*$/.exec(mask.join(''))?.[1]?.length ?? Number.NaN;
}
