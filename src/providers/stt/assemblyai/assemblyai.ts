// Speech recognition by AssemblyAI over its streaming socket (v3). Source: AssemblyAI, streaming reference.
import { PCM_16K } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import { checkBoolean, checkNumber, checkOptions, checkText } from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { SpeechToText, SpeechToTextContext, SpeechToTextSession } from '../../speech-to-text.js';
import {
  type AccessNames,
  endpoint,
  type QueryValue,
  requireKey,
  resolveBaseUrl,
  resolveKey,
} from '../../wire/access.js';
import { ASSEMBLYAI_PRICES } from './prices.js';
import { AssemblyAISession } from './session.js';

export interface AssemblyAISpeechToTextOptions {
  /** @default the environment variable ASSEMBLYAI_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is. @default ASSEMBLYAI_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** The model decides which languages are understood. @default 'universal-3-6-pro' */
  readonly model?: string | undefined;
  /** Words that are likely to be said: names, products. */
  readonly keyterms?: readonly string[] | undefined;
  /** The vendor decides when the caller has finished; false leaves that to the agent. @default true */
  readonly ownsTurnTaking?: boolean | undefined;
  /** Silence after which a turn may be over when it sounds finished, 20 to 5000 ms. @default 100 */
  readonly minTurnSilenceMs?: number | undefined;
  /** Silence after which a turn is over however it sounds, 100 to 10,000 ms. @default 1000 */
  readonly maxTurnSilenceMs?: number | undefined;
}

const WHERE = 'new AssemblyAISpeechToText()';

const NAMES: Readonly<Record<keyof AssemblyAISpeechToTextOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  model: true,
  keyterms: true,
  ownsTurnTaking: true,
  minTurnSilenceMs: true,
  maxTurnSilenceMs: true,
};

const ACCESS: AccessNames = {
  vendor: 'AssemblyAI',
  keyVariables: ['ASSEMBLYAI_API_KEY'],
  baseUrlVariable: 'ASSEMBLYAI_BASE_URL',
  defaultBaseUrl: 'https://streaming.assemblyai.com',
};

const DEFAULT_MODEL = 'universal-3-6-pro';

export class AssemblyAISpeechToText implements SpeechToText {
  readonly kind = 'stt';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly pricedModels = Object.keys(ASSEMBLYAI_PRICES);
  readonly ownsTurnTaking: boolean;
  readonly paidWhileOpen = true;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #query: Readonly<Record<string, QueryValue | undefined>>;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: AssemblyAISpeechToTextOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    const model = checkText('model', options.model) ?? DEFAULT_MODEL;
    this.ownsTurnTaking = checkBoolean('ownsTurnTaking', options.ownsTurnTaking, true);
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    const min = { min: 20, max: 5000, whole: true, fallback: 100 };
    const max = { min: 100, max: 10_000, whole: true, fallback: 1000 };
    const minTurnSilence = checkNumber('minTurnSilenceMs', options.minTurnSilenceMs, min);
    const maxTurnSilence = checkNumber('maxTurnSilenceMs', options.maxTurnSilenceMs, max);
    if (minTurnSilence > maxTurnSilence)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `minTurnSilenceMs (${minTurnSilence}) must not be more than maxTurnSilenceMs (${maxTurnSilence}).`,
      );
    this.#query = {
      speech_model: model,
      sample_rate: PCM_16K.sampleRateHz,
      encoding: 'pcm_s16le',
      format_turns: true,
      min_turn_silence: minTurnSilence,
      max_turn_silence: maxTurnSilence,
      keyterms_prompt: checkKeyterms(options.keyterms),
    };
    this.name = `assemblyai/${model}`;
    this.price = listPrice(ASSEMBLYAI_PRICES, model);
  }

  assertConfigured(): void {
    requireKey(this.#key, ACCESS);
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    // Without a word before the key, unlike elsewhere.
    const headers = { authorization: requireKey(this.#key, ACCESS) };
    const url = endpoint(this.#base, '/v3/ws', { kind: 'ws', query: this.#query });
    const { ownsTurnTaking } = this;
    return new AssemblyAISession(context, { target: { url, headers, names: ACCESS }, ownsTurnTaking });
  }
}

/** The list as the vendor reads it from one parameter. */
function checkKeyterms(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const fits = Array.isArray(value) && value.every((each) => typeof each === 'string' && each.trim() !== '');
  if (fits) return JSON.stringify(value);
  throw new ConfigError('CONFIG_INVALID', 'keyterms must be a list of strings.');
}
