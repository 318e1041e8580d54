// The host under which carriers know this server.
import { RequestError } from '../base/errors.js';

const HOST =
  /^(?:[a-z\d](?:[a-z\d_-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d_-]*[a-z\d])?)*\.?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** The configured host; without one, the Host header of the request. @throws RequestError when that is no host. */
export function resolvePublicHost(configured: string | undefined, hostHeader: string | undefined): string {
  if (configured !== undefined) return configured;
  if (hostHeader !== undefined && hostHeader.length <= 255 && HOST.test(hostHeader)) return hostHeader;
  throw new RequestError('REQUEST_INVALID', 'The Host header is missing or malformed.');
}
