// Identifiers that the carrier gives to calls, streams and deliveries.

const MAX_LENGTH = 128;

/**
 * True for a text that can be an identifier: printable ASCII without blanks, at most 128 characters. The vendor's own are 34
 * characters of a fixed shape, those of compatible services and test clients are not.
 */
export function isWireId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(value);
}
