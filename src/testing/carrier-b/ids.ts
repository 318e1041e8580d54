// Identifiers and dates in the shapes of carrier B.
import { randomBytes } from 'node:crypto';

/** Address of a call leg: opaque, with characters that have to be encoded in a path. */
export function createCallControlId(): string {
  return `v3:${randomBytes(24).toString('base64url')}==`;
}

/** ISO 8601 with microseconds. */
export function toWireTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
