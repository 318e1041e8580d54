// Speech synthesis by Cartesia over its WebSocket.
import { PCM_16K } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import { checkNumber, checkOptions, checkText } from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { TextToSpeech, TextToSpeechContext, TextToSpeechSession } from '../../text-to-speech.js';
import { type AccessNames, endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import { SentenceVoice } from '../../wire/sentence-voice.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { CartesiaDialect, type CartesiaRequest } from './dialect.js';
import { CARTESIA_PRICES } from './prices.js';

export interface CartesiaTextToSpeechOptions {
  /** @default the environment variable CARTESIA_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is. @default CARTESIA_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** @default one of the vendor's own voices */
  readonly voiceId?: string | undefined;
  /** @default 'sonic-3.5' */
  readonly model?: string | undefined;
  /** BCP 47 tag. @default the agent's language, then English */
  readonly language?: string | undefined;
  /** 0.6 to 1.5 times the voice's own speed. @default as the voice was made */
  readonly speed?: number | undefined;
}

const WHERE = 'new CartesiaTextToSpeech()';

const NAMES: Readonly<Record<keyof CartesiaTextToSpeechOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  voiceId: true,
  model: true,
  language: true,
  speed: true,
};

const ACCESS: AccessNames = {
  vendor: 'Cartesia',
  keyVariables: ['CARTESIA_API_KEY'],
  baseUrlVariable: 'CARTESIA_BASE_URL',
  defaultBaseUrl: 'https://api.cartesia.ai',
};

const API_VERSION = '2026-08-14';

const DEFAULT_MODEL = 'sonic-3.5';

/** A voice of the vendor's own examples, which every account has. */
const DEFAULT_VOICE_ID = 'f786b574-daa5-4673-aa0c-cbe3e8534c02';

export class CartesiaTextToSpeech implements TextToSpeech {
  readonly kind = 'tts';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly pricedModels = Object.keys(CARTESIA_PRICES);
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #model: string;
  readonly #voiceId: string;
  readonly #language: string | undefined;
  readonly #speed: number | undefined;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: CartesiaTextToSpeechOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    this.#voiceId = checkText('voiceId', options.voiceId) ?? DEFAULT_VOICE_ID;
    if (!/^[\w-]+$/.test(this.#voiceId))
      throw new ConfigError('CONFIG_INVALID', 'voiceId must be a voice ID, not a voice name.');
    this.#model = checkText('model', options.model) ?? DEFAULT_MODEL;
    this.#language = checkText('language', options.language);
    this.#speed = checkNumber('speed', options.speed, { min: 0.6, max: 1.5, fallback: undefined });
    this.name = `cartesia/${this.#model}`;
    this.price = listPrice(CARTESIA_PRICES, this.#model);
  }

  assertConfigured(): void {
    requireKey(this.#key, ACCESS);
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    const key = requireKey(this.#key, ACCESS);
    const url = endpoint(this.#base, '/tts/websocket', { kind: 'ws' });
    const headers = { authorization: `Bearer ${key}`, 'cartesia-version': API_VERSION };
    const request = {
      model_id: this.#model,
      voice: { mode: 'id', id: this.#voiceId },
      language: (this.#language ?? context.language ?? 'en').split('-')[0],
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: PCM_16K.sampleRateHz },
      // Sentences come whole: there is nothing to wait for.
      max_buffer_delay_ms: 0,
      add_timestamps: true,
      ...(this.#speed === undefined ? {} : { generation_config: { speed: this.#speed } }),
    };
    return openCartesiaVoice(context, { target: { url, headers, names: ACCESS }, request });
  }
}

/** One call's voice. Tests have another socket. */
export function openCartesiaVoice(
  context: TextToSpeechContext,
  options: { target: VendorTarget; request: CartesiaRequest; open?: OpenVendorSocket },
): TextToSpeechSession {
  const { logger } = context;
  const { target, request, open } = options;
  return new SentenceVoice(context, {
    target,
    createDialect: (find) => new CartesiaDialect(find, { request, logger }),
    open,
  });
}
