// Carrier B as a door: its webhook route exists, is verified when there is a key, and never makes a call.
import { type Clock, systemClock } from '../../base/clock.js';
import { readFirstEnv } from '../../base/env.js';
import { SignatureError } from '../../base/errors.js';
import type { WebhookDoor } from '../carrier.js';
import { type Ed25519Verifier, loadEd25519Verifier, parsePublicKey, verifyWebhook } from './signature.js';
import { webhookDialect } from './webhooks.js';

/** Settings of the door. */
export interface CarrierBDoorOptions {
  /** Ed25519 public key in base64; an empty one counts as missing. @default CARRIER_B_PUBLIC_KEY, then TELNYX_PUBLIC_KEY */
  publicKey?: string;
  /** Dates the signatures. @default the real clock */
  clock?: Clock;
}

/** The webhook route of carrier B. `prepare` @throws ConfigError for a key that cannot be one. */
export function createCarrierBDoor(options: CarrierBDoorOptions = {}): WebhookDoor {
  const { clock = systemClock } = options;
  const setting = options.publicKey || readFirstEnv(['CARRIER_B_PUBLIC_KEY', 'TELNYX_PUBLIC_KEY']);
  let key: { verify: Ed25519Verifier; publicKey: Uint8Array } | undefined;
  return {
    id: 'carrier-b',
    verifies: setting !== undefined,
    secretSetting: 'CARRIER_B_PUBLIC_KEY',
    webhooks: webhookDialect,

    async prepare() {
      if (setting === undefined) return;
      const publicKey = parsePublicKey(setting);
      key = { verify: await loadEd25519Verifier(), publicKey };
    },

    verify(request) {
      if (setting === undefined) return;
      // Without the key nothing can be right: an unprepared door stays shut.
      if (key === undefined) throw new SignatureError('SIGNATURE_MISMATCH', 'The key is not ready.');
      verifyWebhook(request, key, clock.wallNow());
    },
  };
}
