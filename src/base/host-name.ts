// Public host names, as users write them into options, and addresses to listen on.
import { isIP, isIPv6 } from 'node:net';

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** What is wrong with `value` as a host with an optional port, as the end of a sentence; undefined when it can be one. */
export function hostComplaint(value: string): string | undefined {
  const withoutScheme = value.replace(SCHEME, '');
  const [host = ''] = withoutScheme.split(/[/?#]/, 1);
  // Both at once: an address that was pasted mostly has both.
  const surplus = [
    ...(withoutScheme === value ? [] : ['the scheme']),
    ...(host === withoutScheme ? [] : ['the path']),
  ];
  if (surplus.length > 0) {
    const rest = hostComplaint(host) === undefined ? host : 'a name like voice.example.com';
    return `is a host name alone: leave out ${surplus.join(' and ')}, and write ${rest}`;
  }
  if (value.includes('@')) return 'has no user name';
  if (value.includes('_')) return 'has no underscore: carriers refuse such names';
  const [, name = '', port] = /^(.*?)(?::(\d*))?$/s.exec(value) ?? [];
  if (port !== undefined && (port === '' || Number(port) < 1 || Number(port) > 65_535)) {
    return 'has a port from 1 to 65535, or none';
  }
  const isName = name.length <= 253 && name.split('.').every((label) => LABEL.test(label));
  const looksLikeAddress = /^[\d.]+$/.test(name);
  if (!isName || (looksLikeAddress && isIP(name) !== 4)) return 'is a host name like voice.example.com';
  return undefined;
}

/** The URL of a server at an address and port. */
export function toUrl(address: string, port: number): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** The URL at which this machine reaches a server that listens on `address`, which may be all addresses. */
export function toLocalUrl(address: string, port: number): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return toUrl(everywhere[address] ?? address, port);
}
