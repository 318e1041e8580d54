// Signs as carrier B signs: Ed25519 of the platform's crypto, apart from the verifier of the server, so that the two check each other.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { ConfigError } from '../../base/errors.js';

const SEED_BYTES = 32;
/** PKCS #8 wrapping of an Ed25519 seed up to the seed itself. Source: RFC 8410, section 7. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The two headers that every webhook of carrier B has. */
export interface SignatureHeaders {
  'telnyx-signature-ed25519': string;
  'telnyx-timestamp': string;
}

export interface CarrierBSigner {
  /** The bare 32 bytes in base64, as the carrier shows them. */
  readonly publicKey: string;
  /** Headers for `body`, signed at `timestampSeconds` (Unix time). */
  sign(body: string | Uint8Array, timestampSeconds: number): SignatureHeaders;
}

/** A key pair of its own, or that of a seed of 32 bytes. @throws ConfigError for a seed of another length. */
export function createCarrierBSigner(seed?: Uint8Array): CarrierBSigner {
  const privateKey = seed === undefined ? generateKeyPairSync('ed25519').privateKey : readSeed(seed);
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    publicKey: Buffer.from(x, 'base64url').toString('base64'),
    sign(body, timestampSeconds) {
      const timestamp = String(timestampSeconds);
      const message = Buffer.concat([Buffer.from(`${timestamp}|`), Buffer.from(body)]);
      return {
        'telnyx-signature-ed25519': sign(null, message, privateKey).toString('base64'),
        'telnyx-timestamp': timestamp,
      };
    },
  };
}

function readSeed(seed: Uint8Array): KeyObject {
  if (seed.length !== SEED_BYTES) {
    throw new ConfigError('CONFIG_INVALID', `The seed of a private key has ${SEED_BYTES} bytes.`);
  }
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}
