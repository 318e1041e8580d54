// HMAC-SHA1 by Node's own crypto. Source: RFC 2104.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The 20 bytes of the code go to `output`. */
export function signHmacSha1(key: Uint8Array, message: Uint8Array, output: Uint8Array): void {
  output.set(createHmac('sha1', key).update(message).digest());
}

/** `mac` is 20 bytes long. */
export function isHmacSha1(key: Uint8Array, message: Uint8Array, mac: Uint8Array): boolean {
  return timingSafeEqual(createHmac('sha1', key).update(message).digest(), mac);
}
