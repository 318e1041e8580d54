// Host names as they stand in a Host header.
import { isIP } from 'node:net';

/** The name without port and brackets, lower case; null for what is no host. */
export function hostNameOf(host: string): string | null {
  const [, literal, name] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  if (literal !== undefined) return isIP(literal) === 6 ? literal.toLowerCase() : null;
  if (name === undefined) return isIP(host) === 6 ? host.toLowerCase() : null;
  return name.toLowerCase().replace(/\.$/, '');
}

/** True for an IP literal: no name was resolved, so none can have been rebound. */
export function isNumericHost(name: string): boolean {
  return isIP(name) !== 0;
}

/** True for the names and addresses of this machine. Source: RFC 6761, section 6.3. */
export function isLoopbackHost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

/** True for 127.0.0.0/8 and ::1, also as an IPv4-mapped address. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
