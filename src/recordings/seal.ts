// Encryption at rest: AES-256-GCM, one key a file, one nonce a piece. Who has no key has no audio, and who changes a file is found out.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Of the operator: 32 bytes. */
export type RecordingKey = Uint8Array;

export const KEY_BYTES = 32;
export const TAG_BYTES = 16;
const SALT_BYTES = 32;
/** Says whether a key is the right one, and nothing of the key. */
const CHECK_BYTES = 16;
/** What a file says of its seal: salt and check. */
export const SEAL_HEAD_BYTES = SALT_BYTES + CHECK_BYTES;

const CIPHER = 'aes-256-gcm';

/** Seals and opens the pieces of one file. */
export interface Seal {
  /** As many bytes as `plain`, and a tag behind them. `index` is used once. */
  seal(plain: Uint8Array, index: number, options?: { isLast?: boolean }): Buffer;
  /** Undefined for a piece that is not what was sealed under that index. */
  open(sealed: Uint8Array, index: number, options?: { isLast?: boolean }): Buffer | undefined;
}

/** A new file. `about` binds it to what it is of: the file of another call does not open in its place. `head` is to stand in it. */
export function newSeal(
  key: RecordingKey,
  about: string,
): { readonly seal: Seal; readonly head: Uint8Array } {
  const salt = randomBytes(SALT_BYTES);
  const { seal, check } = derive(key, salt, about);
  return { seal, head: Buffer.concat([salt, check]) };
}

/** A file that has this `head`. Undefined where the key is not the one that it was made with. */
export function sealOf(key: RecordingKey, head: Uint8Array, about: string): Seal | undefined {
  const { seal, check } = derive(key, head.subarray(0, SALT_BYTES), about);
  return check.equals(head.subarray(SALT_BYTES, SEAL_HEAD_BYTES)) ? seal : undefined;
}

/** Source: RFC 5869 (HKDF), NIST SP 800-38D (GCM). */
function derive(key: RecordingKey, salt: Uint8Array, about: string): { seal: Seal; check: Buffer } {
  const derived = Buffer.from(hkdfSync('sha256', key, salt, `offhook ${about}`, KEY_BYTES + CHECK_BYTES));
  const own = derived.subarray(0, KEY_BYTES);
  const seal: Seal = {
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
  return { seal, check: derived.subarray(KEY_BYTES) };
}

/** A file that was cut off ends in a piece that is not the last. */
function nonceOf(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce[0] = isLast ? 1 : 0;
  nonce.writeUInt32BE(index, 8);
  return nonce;
}
