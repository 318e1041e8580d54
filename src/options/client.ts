// The options of `new Offhook(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { hostComplaint } from '../base/host-name.js';
import { checkMethods, checkNames, requireObject } from '../base/option-checks.js';
import type { Carrier } from '../carriers/carrier.js';
import { CARRIER_ID } from '../contract/call-record.js';

/** Options of `new Offhook(...)`. */
export interface ClientOptions {
  /** The telephony carrier: `new CarrierA()`, `new CarrierB()`, or a `Carrier` of your own. */
  carrier: Carrier;
  /** Your number at the carrier, as `+15550100` (E.164). */
  phoneNumber: string;
  /** Public host name that reaches this server over TLS, with a port unless it is 443; no scheme, no path. Without it, the `Host` header of a webhook is used, and the number's webhook is not set at the carrier. */
  webhookUrl?: string | undefined;
}

const CLIENT_OPTIONS = ['carrier', 'phoneNumber', 'webhookUrl'];

/** Options of a client that can work. */
export type CheckedClientOptions = Readonly<ClientOptions>;

/** @throws ConfigError */
export function checkClientOptions(options: ClientOptions): CheckedClientOptions {
  const where = 'new Offhook()';
  requireObject(options, where);
  checkNames(options, CLIENT_OPTIONS, where);
  const { carrier, phoneNumber, webhookUrl } = options;
  if (carrier === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      'carrier is missing: set it, for example carrier: new CarrierA().',
    );
  }
  checkMethods('carrier', carrier, {
    methods: ['verify', 'verifyUpgrade', 'openMedia', 'prepare'],
    example: 'exactly one carrier object, as in carrier: new CarrierA()',
  });
  checkCarrier(carrier);
  if (phoneNumber === undefined) {
    throw new ConfigError('CONFIG_MISSING', 'phoneNumber is missing: set your number, like +15550100.');
  }
  if (typeof phoneNumber !== 'string' || !isE164(phoneNumber)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'phoneNumber must be in the form +15550100 (E.164): a plus and 2 to 15 digits, no spaces.',
    );
  }
  if (webhookUrl === undefined) return { carrier, phoneNumber };
  const complaint =
    typeof webhookUrl === 'string' ? hostComplaint(webhookUrl) : 'is a text like voice.example.com';
  if (complaint !== undefined) {
    throw new ConfigError('CONFIG_INVALID', `webhookUrl ${complaint}.`);
  }
  return { carrier, phoneNumber, webhookUrl };
}

const CARRIER_PARTS = ['supports', 'webhooks', 'rest'] as const satisfies readonly (keyof Carrier)[];

/** A carrier of the application's own is looked at here: later it costs calls. */
function checkCarrier(carrier: Carrier): void {
  if (typeof carrier.id !== 'string' || !CARRIER_ID.test(carrier.id)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The id of the carrier must be in kebab-case, like my-carrier, with at most 40 characters.',
    );
  }
  for (const part of CARRIER_PARTS) {
    const value: unknown = carrier[part];
    if (typeof value === 'object' && value !== null) continue;
    throw new ConfigError('CONFIG_INVALID', `The carrier ${carrier.id} has no ${part}.`);
  }
}
