// Carrier B: credentials, and the parts that use them. The parts know the wire, this object knows the secrets.
import { createHmac } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.js';
import { ConfigError, SignatureError } from '../../base/errors.js';
import type { LooseEnds } from '../../base/loose-ends.js';
import { checkOptions } from '../../base/option-checks.js';
import type {
  Carrier,
  CarrierCommands,
  CarrierRest,
  MediaDialect,
  StreamCodec,
  WebhookRequest,
  ShippedCarrier,
} from '../carrier.js';
import { createRestTiming, type RestTiming } from '../rest-timing.js';
import { checkBaseUrl, takeSetting } from '../setting.js';
import { createCommands } from './commands.js';
import { type ByteOrder, openMediaDialect } from './media.js';
import { REQUESTED } from './media-format.js';
import { CARRIER_B_PRICES } from './prices.js';
import { createRest } from './rest.js';
import { RestClient } from './rest-client.js';
import { API_KEY, CARRIER_B_API, CONNECTION_ID, PUBLIC_KEY, carrierBSettings } from './settings.js';
import { type Ed25519Verifier, loadEd25519Verifier, parsePublicKey, verifyWebhook } from './signature.js';
import { webhookDialect } from './webhooks.js';

const CONSTRUCTOR = 'new CarrierB()';
const OPTION_NAMES = [
  'apiKey',
  'connectionId',
  'publicKey',
  'baseUrl',
  'l16ByteOrder',
] as const satisfies readonly (keyof CarrierBOptions)[];
const STREAM_TOKEN_LABEL = 'offhook stream token';

/** Settings of carrier B. An empty one counts as missing. */
export interface CarrierBOptions {
  /** Key of the REST API (version 2). @default CARRIER_B_API_KEY, then TELNYX_API_KEY */
  apiKey?: string | undefined;
  /** Call Control application that outbound calls belong to. @default CARRIER_B_CONNECTION_ID, then TELNYX_CONNECTION_ID */
  connectionId?: string | undefined;
  /** Ed25519 public key of webhook signatures, in base64. @default CARRIER_B_PUBLIC_KEY, then TELNYX_PUBLIC_KEY */
  publicKey?: string | undefined;
  /** Origin of the REST API, with or without the version path. @default the vendor's */
  baseUrl?: string | undefined;
  /** Byte order of 16-bit audio on the media stream. @default 'little' */
  l16ByteOrder?: ByteOrder | undefined;
}

/**
 * Telephony carrier B. Credentials are demanded only by what needs them: with a public key and no API key webhooks are verified and
 * every command is refused. `clock` dates the signatures. @throws ConfigError for a setting that cannot be right.
 */
export class CarrierB implements Carrier {
  readonly id = 'carrier-b';
  readonly supports = {
    recording: false,
    voiceUrl: false,
    digitsReplaceStream: false,
    callCost: false,
    callCostCoversStream: true,
  };
  readonly prices = CARRIER_B_PRICES;
  readonly settings = carrierBSettings;
  readonly usualLine = { inbound: REQUESTED.preferred.format, outbound: REQUESTED.preferred.format };
  readonly secretSetting = PUBLIC_KEY.variables[0];
  readonly webhooks = webhookDialect;
  readonly rest: CarrierRest;
  readonly commands: CarrierCommands;
  readonly #settings: CarrierBOptions;
  readonly #apiKey: string | undefined;
  readonly #publicKey: Uint8Array | undefined;
  readonly #l16ByteOrder: ByteOrder;
  readonly #clock: Pick<Clock, 'wallNow'>;
  #verifySignature: Ed25519Verifier | undefined;

  constructor(
    options: CarrierBOptions = {},
    clock: Pick<Clock, 'wallNow'> = systemClock,
    timing: RestTiming = createRestTiming(),
  ) {
    // A mistyped name would leave the key out, and webhooks unverified.
    checkOptions(options, { known: OPTION_NAMES }, CONSTRUCTOR);
    for (const name of OPTION_NAMES) {
      const value: unknown = options[name];
      if (value === undefined || typeof value === 'string') continue;
      throw new ConfigError('CONFIG_INVALID', `${name} of ${CONSTRUCTOR} must be a string.`);
    }
    const publicKey = takeSetting(PUBLIC_KEY, options.publicKey);
    this.#apiKey = takeSetting(API_KEY, options.apiKey);
    this.#publicKey = publicKey === undefined ? undefined : parsePublicKey(publicKey);
    this.#l16ByteOrder = toByteOrder(options.l16ByteOrder || 'little');
    this.#clock = clock;
    const connectionId = takeSetting(CONNECTION_ID, options.connectionId);
    const baseUrl = checkBaseUrl(options.baseUrl || CARRIER_B_API).replace(/\/v2$/, '');
    const client = new RestClient({ baseUrl, apiKey: this.#apiKey }, timing);
    this.rest = createRest(client, connectionId);
    this.commands = createCommands(client);
    const { l16ByteOrder } = options;
    this.#settings = { apiKey: this.#apiKey, connectionId, publicKey, baseUrl, l16ByteOrder };
  }

  get verifies(): boolean {
    return this.#publicKey !== undefined;
  }

  /** Derived from the API key. Every process has it, and unlike the public key it is secret. */
  get streamTokenKey(): Uint8Array | undefined {
    if (this.#apiKey === undefined) return undefined;
    return createHmac('sha256', this.#apiKey).update(STREAM_TOKEN_LABEL).digest();
  }

  during(looseEnds: LooseEnds): CarrierB {
    return new CarrierB(this.#settings, this.#clock, createRestTiming(looseEnds));
  }

  async prepare(): Promise<void> {
    if (this.#publicKey !== undefined) this.#verifySignature ??= await loadEd25519Verifier();
  }

  verify(request: WebhookRequest): void {
    const publicKey = this.#publicKey;
    if (publicKey === undefined) return;
    const verify = this.#verifySignature;
    // Without the verifier nothing can be right: an unprepared door stays shut.
    if (verify === undefined) throw new SignatureError('SIGNATURE_MISMATCH', 'The key is not ready.');
    verifyWebhook(request, { verify, publicKey }, this.#clock.wallNow());
  }

  /** The carrier signs no upgrade; the token in the path stands in. */
  verifyUpgrade(): void {}

  openMedia(codec: StreamCodec = 'preferred'): MediaDialect {
    return openMediaDialect({ codec, l16ByteOrder: this.#l16ByteOrder });
  }
}

function toByteOrder(value: string): ByteOrder {
  if (value === 'little' || value === 'big') return value;
  throw new ConfigError('CONFIG_INVALID', "l16ByteOrder must be 'little' or 'big'.");
}

/** Its line in the registry. */
export const carrierB: ShippedCarrier = {
  vendor: 'Telnyx',
  create: () => new CarrierB(),
  settings: carrierBSettings,
  api: CARRIER_B_API,
  prices: CARRIER_B_PRICES,
};
