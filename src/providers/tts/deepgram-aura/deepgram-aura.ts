// Speech synthesis by Deepgram over its speak socket (v1), for the voices of the Aura family.
import { PCM_16K } from '../../../audio/format.js';
import { systemClock } from '../../../base/clock.js';
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import { checkBoolean, checkOptions, checkText } from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { TextToSpeech, TextToSpeechContext, TextToSpeechSession } from '../../text-to-speech.js';
import { endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { DEEPGRAM_ACCESS, toDeepgramAuthorization } from '../../wire/deepgram-access.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import { SentenceVoice } from '../../wire/sentence-voice.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { AuraDialect } from './dialect.js';
import { AURA_PRICES } from './prices.js';

export interface DeepgramAuraOptions {
  /** Key, or a short-lived access token. @default the environment variable DEEPGRAM_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is. @default DEEPGRAM_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** Voice and language in one, like `aura-2-andromeda-en`. @default 'aura-2-thalia-en' */
  readonly model?: string | undefined;
  /** Keeps what is said out of the vendor's improvement program, at its price. @default false */
  readonly mipOptOut?: boolean | undefined;
}

const WHERE = 'new DeepgramAura()';

const NAMES: Readonly<Record<keyof DeepgramAuraOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  model: true,
  mipOptOut: true,
};

const DEFAULT_MODEL = 'aura-2-thalia-en';

export class DeepgramAura implements TextToSpeech {
  readonly kind = 'tts';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #model: string;
  readonly #mipOptOut: boolean;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: DeepgramAuraOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#model = checkText('model', options.model) ?? DEFAULT_MODEL;
    if (!/^aura-/.test(this.#model))
      throw new ConfigError(
        'CONFIG_INVALID',
        `${WHERE} speaks with the voices of the Aura family, which ${this.#model} is not: take one like ${DEFAULT_MODEL}.`,
      );
    this.#mipOptOut = checkBoolean('mipOptOut', options.mipOptOut, false);
    this.#key = resolveKey(options.apiKey, DEEPGRAM_ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, DEEPGRAM_ACCESS);
    this.name = `deepgram/${this.#model}`;
    this.price = listPrice(AURA_PRICES, `${/^aura-\d+/.exec(this.#model)?.[0]} (all voices)`);
  }

  assertConfigured(): void {
    requireKey(this.#key, DEEPGRAM_ACCESS);
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    const key = requireKey(this.#key, DEEPGRAM_ACCESS);
    const query = {
      model: this.#model,
      encoding: 'linear16',
      sample_rate: PCM_16K.sampleRateHz,
      mip_opt_out: this.#mipOptOut ? true : undefined,
    };
    const url = endpoint(this.#base, '/v1/speak', { kind: 'ws', query });
    const headers = { authorization: toDeepgramAuthorization(key) };
    return openAuraVoice(context, { url, headers, reasonHeader: 'dg-error', names: DEEPGRAM_ACCESS });
  }
}

/** One call's voice. Tests have another socket. */
export function openAuraVoice(
  context: TextToSpeechContext,
  target: VendorTarget,
  open?: OpenVendorSocket,
): TextToSpeechSession {
  const { clock = systemClock, logger } = context;
  return new SentenceVoice(context, {
    target,
    createDialect: (floor) => new AuraDialect(floor, { clock, logger }),
    goodbye: { type: 'Close' },
    open,
  });
}
