// Whose page wants something: the Origin header of a browser.
import { hostNameOf, isLoopbackHost, isNumericHost } from '../dashboard/host-name.js';

/**
 * True for no Origin (no browser), and for a page of this server itself: of its public host, or of the address that was asked
 * for, when that is no name which could have been rebound to us.
 */
export function isOwnOrigin(
  origin: string | undefined,
  own: { host: string | undefined; publicHost: string | undefined },
): boolean {
  if (origin === undefined) return true;
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin.toLowerCase()) ?? [];
  if (authority === undefined) return false;
  if (authority === own.publicHost?.toLowerCase()) return true;
  const name = hostNameOf(authority);
  const isSafe = name !== null && (isNumericHost(name) || isLoopbackHost(name));
  return isSafe && authority === own.host?.toLowerCase();
}
