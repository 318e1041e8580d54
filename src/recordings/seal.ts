// Encryption at rest: AES-256-GCM, one key a file, one nonce a piece. Who has no key has no audio, and who changes a file is found out.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Of the operator: 32 bytes. */
export type RecordingKey = Uint8Array;

export const KEY_BYTES = 32;
export const SALT_BYTES = 32;
export const TAG_BYTES = 16;
/** Says whether a key is the right one, and nothing of the key. */
export const CHECK_BYTES = 16;

const CIPHER = 'aes-256-gcm';

/** Seals and opens the pieces of one file. */
export interface Seal {
  readonly check: Uint8Array;
  /** As many bytes as `plain`, and a tag behind them. `index` is used once. */
  seal(plain: Uint8Array, index: number, options?: { isLast?: boolean }): Buffer;
  /** Undefined for a piece that is not what was sealed under that index. */
  open(sealed: Uint8Array, index: number, options?: { isLast?: boolean }): Buffer | undefined;
}

export function newSalt(): Uint8Array {
  return randomBytes(SALT_BYTES);
}

/** `about` binds a file to what it is of: the file of another call does not open in its place. Source: RFC 5869 (HKDF), NIST SP 800-38D (GCM). */
export function createSeal(key: RecordingKey, salt: Uint8Array, about: string): Seal {
  const derived = Buffer.from(hkdfSync('sha256', key, salt, `offhook ${about}`, KEY_BYTES + CHECK_BYTES));
  const own = derived.subarray(0, KEY_BYTES);
  return {
    check: derived.subarray(KEY_BYTES),
    seal(plain, index, { isLast = false } = {}) {
      const cipher = createCipheriv(CIPHER, own, nonceOf(index, isLast));
      return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, index, { isLast = false } = {}) {
      if (sealed.length < TAG_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, own, nonceOf(index, isLast));
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([
          decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)),
          decipher.final(),
        ]);
      } catch {
        return undefined;
      }
    },
  };
}

/** A file that was cut off ends in a piece that is not the last. */
function nonceOf(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce[0] = isLast ? 1 : 0;
  nonce.writeUInt32BE(index, 8);
  return nonce;
}
