// Carrier A: credentials, and the parts that use them. The parts know the wire, this object knows the secrets.
import { createHmac } from 'node:crypto';
import { MULAW_8K } from '../../audio/format.js';
import { ConfigError } from '../../base/errors.js';
import type { LooseEnds } from '../../base/loose-ends.js';
import { checkOptions } from '../../base/option-checks.js';
import { transcoder } from '../../transcoder/select.js';
import type { Carrier, CarrierRest, MediaDialect, WebhookRequest, ShippedCarrier } from '../carrier.js';
import { createRestTiming, type RestTiming } from '../rest-timing.js';
import { checkBaseUrl, takeSetting } from '../setting.js';
import { openMediaDialect } from './media.js';
import { CARRIER_A_PRICES } from './prices.js';
import { createRest } from './rest.js';
import { ACCOUNT_SID, AUTH_TOKEN, CARRIER_A_API, carrierASettings } from './settings.js';
import { signatureOf, verifyUpgradeUrl, verifyWebhook } from './signature.js';
import { webhookDialect } from './webhooks.js';

const CONSTRUCTOR = 'new CarrierA()';
const OPTION_NAMES = [
  'accountSid',
  'authToken',
  'baseUrl',
] as const satisfies readonly (keyof CarrierAOptions)[];
const STREAM_TOKEN_LABEL = 'offhook stream token';

/** Settings of carrier A. An empty one counts as missing. */
export interface CarrierAOptions {
  /** Account identifier; begins with `AC`. @default CARRIER_A_ACCOUNT_SID, then TWILIO_ACCOUNT_SID */
  accountSid?: string | undefined;
  /** Secret of webhook signatures and of the REST API. @default CARRIER_A_AUTH_TOKEN, then TWILIO_AUTH_TOKEN */
  authToken?: string | undefined;
  /** Origin of the REST API, without the version path. @default the vendor's */
  baseUrl?: string | undefined;
}

/** Telephony carrier A. Credentials are demanded only by what needs them. @throws ConfigError for one that cannot be right. */
export class CarrierA implements Carrier {
  readonly id = 'carrier-a';
  readonly supports = {
    recording: true,
    voiceUrl: true,
    digitsReplaceStream: true,
    callCost: true,
    callCostCoversStream: false,
  };
  readonly prices = CARRIER_A_PRICES;
  readonly settings = carrierASettings;
  readonly usualLine = { inbound: MULAW_8K, outbound: MULAW_8K };
  readonly secretSetting = AUTH_TOKEN.variables[0];
  readonly webhooks = webhookDialect;
  readonly rest: CarrierRest;
  readonly streamTokenKey: Uint8Array | undefined;
  readonly #accountSid: string | undefined;
  readonly #authToken: string | undefined;
  readonly #baseUrl: string;

  constructor(options: CarrierAOptions = {}, timing: RestTiming = createRestTiming()) {
    // A mistyped name would leave the secret out, and webhooks unverified.
    checkOptions(options, { known: OPTION_NAMES }, CONSTRUCTOR);
    for (const name of OPTION_NAMES) {
      const value: unknown = options[name];
      if (value === undefined || typeof value === 'string') continue;
      throw new ConfigError('CONFIG_INVALID', `${name} of ${CONSTRUCTOR} must be a string.`);
    }
    this.#accountSid = takeSetting(ACCOUNT_SID, options.accountSid);
    this.#authToken = takeSetting(AUTH_TOKEN, options.authToken);
    this.streamTokenKey =
      this.#authToken === undefined
        ? undefined
        : createHmac('sha256', this.#authToken).update(STREAM_TOKEN_LABEL).digest();
    this.#baseUrl = checkBaseUrl(options.baseUrl || CARRIER_A_API);
    this.rest = createRest({
      baseUrl: this.#baseUrl,
      accountSid: this.#accountSid,
      authToken: this.#authToken,
      timing,
    });
  }

  get verifies(): boolean {
    return this.#authToken !== undefined;
  }

  during(looseEnds: LooseEnds): CarrierA {
    const settings = { accountSid: this.#accountSid, authToken: this.#authToken, baseUrl: this.#baseUrl };
    return new CarrierA(settings, createRestTiming(looseEnds));
  }

  async prepare(): Promise<void> {}

  verify(request: WebhookRequest, host: string): void {
    if (this.#authToken === undefined) return;
    verifyWebhook(transcoder, {
      authToken: this.#authToken,
      method: request.method,
      url: `https://${host}${request.target}`,
      contentType: request.headers['content-type'] ?? '',
      rawBody: request.rawBody,
      signature: signatureOf(request.headers),
    });
  }

  verifyUpgrade(request: WebhookRequest, host: string): void {
    const signature = signatureOf(request.headers);
    if (this.#authToken === undefined || signature === undefined) return;
    verifyUpgradeUrl(transcoder, { authToken: this.#authToken, host, target: request.target, signature });
  }

  /** The carrier speaks one codec only, so there is no choice to make. */
  openMedia(): MediaDialect {
    return openMediaDialect();
  }
}

/** Its line in the registry. */
export const carrierA: ShippedCarrier = {
  vendor: 'Twilio',
  create: () => new CarrierA(),
  settings: carrierASettings,
  api: CARRIER_A_API,
  prices: CARRIER_A_PRICES,
};
