// Identifiers in the shapes of carrier A.
import { randomBytes } from 'node:crypto';

export type IdPrefix = 'AC' | 'CA' | 'MZ' | 'PN' | 'RE';

/** Two letters and 32 random hexadecimal digits. */
export function createId(prefix: IdPrefix): string {
  return prefix + randomBytes(16).toString('hex');
}
