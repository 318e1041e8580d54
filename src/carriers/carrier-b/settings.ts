// What carrier B takes from the environment.
import { type CarrierSetting, pastingComplaint } from '../setting.js';
import { parsePublicKey } from './signature.js';

export const API_KEY: CarrierSetting = {
  option: 'apiKey',
  variables: ['CARRIER_B_API_KEY', 'TELNYX_API_KEY'],
  // It is steered by commands alone, which all need the key.
  neededFor: 'every call',
  complaint: pastingComplaint,
};

/** Opaque, and a text: as a number it would be rounded. */
export const CONNECTION_ID: CarrierSetting = {
  option: 'connectionId',
  variables: ['CARRIER_B_CONNECTION_ID', 'TELNYX_CONNECTION_ID'],
  neededFor: 'outbound calls',
  complaint: (value) =>
    /^[\w-]{1,64}$/.test(value)
      ? undefined
      : (pastingComplaint(value) ?? 'is no identifier of a Call Control application'),
};

export const PUBLIC_KEY: CarrierSetting = {
  option: 'publicKey',
  variables: ['CARRIER_B_PUBLIC_KEY', 'TELNYX_PUBLIC_KEY'],
  neededFor: 'verifying webhooks',
  complaint: keyComplaint,
};

export const carrierBSettings: readonly CarrierSetting[] = [API_KEY, CONNECTION_ID, PUBLIC_KEY];

/** Origin of the REST API. */
export const CARRIER_B_API = 'https://api.telnyx.com';

function keyComplaint(value: string): string | undefined {
  try {
    parsePublicKey(value);
    return undefined;
  } catch {
    return "is no Ed25519 public key: 32 bytes in base64, which the carrier's portal shows on the account's pages of API keys";
  }
}
