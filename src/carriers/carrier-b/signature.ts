// Signatures of carrier B: Ed25519 over timestamp and raw body. Written from the vendor's "Webhook signing" page.
// The verifier is a library's, because a home-made one is easily talked into malleable signatures.
import { ConfigError, SignatureError } from '../../base/errors.js';
import type { WebhookRequest } from '../carrier.js';

const SIGNATURE_HEADER = 'telnyx-signature-ed25519';
const TIMESTAMP_HEADER = 'telnyx-timestamp';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** A signature counts for five minutes, in both directions: one from the future could be replayed until then. */
const TOLERANCE_SECONDS = 300;
/** SubjectPublicKeyInfo of an Ed25519 key up to the key itself. Source: RFC 8410, section 4. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Verifies an Ed25519 signature; false for any that is not right. */
export type Ed25519Verifier = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/** The verifier of libsodium, loaded when it is asked for. */
export async function loadEd25519Verifier(): Promise<Ed25519Verifier> {
  const { default: sodium } = await import('libsodium-wrappers');
  await sodium.ready;
  return (signature, message, publicKey) => sodium.crypto_sign_verify_detached(signature, message, publicKey);
}

/** Reads a public key: the bare 32 bytes, or their SubjectPublicKeyInfo, in base64. @throws ConfigError for anything else. */
export function parsePublicKey(text: string): Uint8Array {
  const bytes = decodeBase64(text.trim());
  if (bytes?.length === KEY_BYTES) return bytes;
  if (bytes?.length === SPKI_PREFIX.length + KEY_BYTES && bytes.subarray(0, 12).equals(SPKI_PREFIX)) {
    return bytes.subarray(SPKI_PREFIX.length);
  }
  throw new ConfigError(
    'CONFIG_INVALID',
    "publicKey (CARRIER_B_PUBLIC_KEY) must be the carrier's Ed25519 public key: 32 bytes in base64.",
  );
}

/** @throws SignatureError unless the signature belongs to this webhook and is of these minutes. `nowMs` is epoch milliseconds. */
export function verifyWebhook(
  request: Pick<WebhookRequest, 'headers' | 'rawBody'>,
  key: { verify: Ed25519Verifier; publicKey: Uint8Array },
  nowMs: number,
): void {
  const encoded = request.headers[SIGNATURE_HEADER];
  const timestamp = request.headers[TIMESTAMP_HEADER];
  if (encoded === undefined || timestamp === undefined) {
    throw new SignatureError('SIGNATURE_MISSING', 'A signature header is missing.');
  }
  const signature = decodeBase64(encoded);
  if (signature?.length !== SIGNATURE_BYTES || !/^[0-9]+$/.test(timestamp)) {
    throw new SignatureError('SIGNATURE_MALFORMED', 'A signature header is malformed.');
  }
  if (Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new SignatureError('SIGNATURE_EXPIRED', 'The signed timestamp is more than five minutes off.');
  }
  const message = Buffer.concat([Buffer.from(`${timestamp}|`), request.rawBody]);
  if (!key.verify(signature, message, key.publicKey)) {
    throw new SignatureError('SIGNATURE_MISMATCH', 'The signature does not match this request.');
  }
}

/** Padded standard base64 in its one canonical form; undefined for anything else. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
