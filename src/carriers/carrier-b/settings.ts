// What carrier B takes from the environment.
import { type CarrierSetting, pastingComplaint } from '../setting.js';
import { parsePublicKey } from './signature.js';

export const carrierBSettings: readonly CarrierSetting[] = [
  {
    option: 'apiKey',
    variables: ['CARRIER_B_API_KEY', 'TELNYX_API_KEY'],
    neededFor: 'the REST API',
    complaint: pastingComplaint,
  },
  {
    option: 'connectionId',
    variables: ['CARRIER_B_CONNECTION_ID', 'TELNYX_CONNECTION_ID'],
    neededFor: 'the REST API',
    complaint: (value) =>
      /^\d+$/.test(value)
        ? undefined
        : (pastingComplaint(value) ?? 'is no application id, which has only digits'),
  },
  {
    option: 'publicKey',
    variables: ['CARRIER_B_PUBLIC_KEY', 'TELNYX_PUBLIC_KEY'],
    neededFor: 'verifying webhooks',
    complaint: keyComplaint,
  },
];

/** Origin of the REST API. */
export const CARRIER_B_API = 'https://api.telnyx.com';

function keyComplaint(value: string): string | undefined {
  try {
    parsePublicKey(value);
    return undefined;
  } catch {
    return 'is no Ed25519 public key: 32 bytes in base64';
  }
}
