// Speech recognition by Deepgram over its listen socket (v1). Source: Deepgram, live audio reference.
import { PCM_16K } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import {
  checkBoolean,
  checkNumber,
  checkOptions,
  checkText,
  requireObject,
} from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../speech-to-text.js';
import { endpoint, type QueryValue, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { DEEPGRAM_ACCESS, toDeepgramAuthorization } from '../../wire/deepgram-access.js';
import { DEEPGRAM_PRICES } from './prices.js';
import { DeepgramSession } from './session.js';

export interface DeepgramSpeechToTextOptions {
  /** Key, or a short-lived access token. @default the environment variable DEEPGRAM_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is. @default DEEPGRAM_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** @default 'nova-3' */
  readonly model?: string | undefined;
  /** BCP 47 tag, or `multi` for speech that changes its language; with `languages` of an agent, `multi` or nothing. @default the agent's language, then 'en' */
  readonly language?: string | undefined;
  /** Words that are likely to be said: names, products. */
  readonly keyterms?: readonly string[] | undefined;
  /** The vendor decides when the caller has finished, by `endpointingMs` and `utteranceEndMs`. @default false: the agent decides */
  readonly ownsTurnTaking?: boolean | undefined;
  /** Silence after a word that makes its text final, 10 to 5000 ms. @default 300 with `ownsTurnTaking`, else 25 */
  readonly endpointingMs?: number | undefined;
  /** Gap after the last word that ends a turn in spite of noise, 1000 to 5000 ms. Only with `ownsTurnTaking`. @default 1000 */
  readonly utteranceEndMs?: number | undefined;
  /** More query parameters as the vendor documents them, like `tag`, `mip_opt_out`, `redact` or `numerals`. */
  readonly parameters?: Readonly<Record<string, QueryValue>> | undefined;
}

const WHERE = 'new DeepgramSpeechToText()';

const NAMES: Readonly<Record<keyof DeepgramSpeechToTextOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  model: true,
  language: true,
  keyterms: true,
  ownsTurnTaking: true,
  endpointingMs: true,
  utteranceEndMs: true,
  parameters: true,
};

const DEFAULT_MODEL = 'nova-3';

/** Languages that a model tells apart in one stream. Source: Deepgram, language prompting and models overview. */
const MULTILINGUAL: Readonly<Record<string, ReadonlySet<string>>> = {
  'nova-3': new Set(
    'af ar be bn bs bg ca zh hr cs da nl en et fi fr gl de el gu he hi hu id it ja kn ko lv lt mk ms mr no fa pl pt ro ru sr sk sl es sv tl ta te th tr uk vi xh zu'.split(
      ' ',
    ),
  ),
  'nova-2': new Set(['en', 'es']),
};

/** Parameters that follow from our audio or from an option of their own. */
const OWN_PARAMETERS = [
  'model',
  'language',
  'encoding',
  'sample_rate',
  'channels',
  'multichannel',
  'interim_results',
  'endpointing',
  'utterance_end_ms',
  'vad_events',
  'keyterm',
];

export class DeepgramSpeechToText implements SpeechToText {
  readonly kind = 'stt';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly ownsTurnTaking: boolean;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #model: string;
  readonly #language: string | undefined;
  readonly #query: Readonly<Record<string, QueryValue | undefined>>;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: DeepgramSpeechToTextOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    const model = checkText('model', options.model) ?? DEFAULT_MODEL;
    if (model.startsWith('flux'))
      throw new ConfigError(
        'CONFIG_INVALID',
        `${WHERE} uses the v1 protocol, and the model ${model} does not support it: use nova-3.`,
      );
    this.ownsTurnTaking = checkBoolean('ownsTurnTaking', options.ownsTurnTaking, false);
    this.#key = resolveKey(options.apiKey, DEEPGRAM_ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, DEEPGRAM_ACCESS);
    this.#model = model;
    this.#language = checkText('language', options.language);
    const endpointing = { min: 10, max: 5000, whole: true, fallback: this.ownsTurnTaking ? 300 : 25 };
    const utteranceEnd = { min: 1000, max: 5000, whole: true, fallback: 1000 };
    const utteranceEndMs = checkNumber('utteranceEndMs', options.utteranceEndMs, utteranceEnd);
    this.#query = {
      model,
      encoding: 'linear16',
      sample_rate: PCM_16K.sampleRateHz,
      channels: 1,
      interim_results: true,
      endpointing: checkNumber('endpointingMs', options.endpointingMs, endpointing),
      utterance_end_ms: this.ownsTurnTaking ? utteranceEndMs : undefined,
      vad_events: true,
      smart_format: true,
      punctuate: true,
      keyterm: checkTexts('keyterms', options.keyterms),
      ...checkParameters(options.parameters),
    };
    this.name = `deepgram/${model}`;
    const priced = this.#language === 'multi' ? `${model} (multi)` : model;
    this.price = listPrice(DEEPGRAM_PRICES, priced);
  }

  assertConfigured(): void {
    requireKey(this.#key, DEEPGRAM_ACCESS);
  }

  /** Source: Deepgram, multilingual code switching: each word with its language, where `language` is `multi`. */
  languageObstacle(languages: readonly string[]): string | undefined {
    if (this.#language !== undefined && this.#language !== 'multi')
      return `hears ${this.#language} alone: leave its option language out`;
    // Models of one subject, such as `nova-3-medical`, know fewer.
    const general = this.#model.replace(/-general$/, '');
    const known = Object.entries(MULTILINGUAL).find(([model]) => model === general)?.[1];
    if (known === undefined) return 'tells no languages: use the model nova-3';
    const missing = languages.filter((tag) => !known.has(tag.split('-')[0]?.toLowerCase() ?? ''));
    return missing.length === 0
      ? undefined
      : `does not know ${missing.join(' and ')} among several languages`;
  }

  /** Languages that the recognizer need not look for elsewhere. Source: Deepgram, Nova-3 language prompting; any other model refuses them. */
  #hintsOf(languages: readonly string[]): readonly string[] | undefined {
    return /^nova-3(-general)?$/.test(this.#model) ? languages : undefined;
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    const key = requireKey(this.#key, DEEPGRAM_ACCESS);
    const isMulti = context.languages !== undefined;
    const language = isMulti ? 'multi' : (this.#language ?? context.language ?? 'en');
    const hints = isMulti ? this.#hintsOf(context.languages) : undefined;
    const query = { language_hint: hints, ...this.#query, language };
    const url = endpoint(this.#base, '/v1/listen', { kind: 'ws', query });
    const payee = { name: this.name, price: listPrice(DEEPGRAM_PRICES, `${this.#model} (multi)`) };
    const { usage } = context.events;
    // What hears several languages has a price of its own.
    const events: SpeechToTextEvents = isMulti
      ? { ...context.events, usage: (used) => usage?.({ payee, ...used }) }
      : context.events;
    const target = {
      url,
      headers: { authorization: toDeepgramAuthorization(key) },
      reasonHeader: 'dg-error',
      names: DEEPGRAM_ACCESS,
    };
    return new DeepgramSession({ ...context, events }, { target, ownsTurnTaking: this.ownsTurnTaking });
  }
}

function checkTexts(name: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const fits = Array.isArray(value) && value.every((each) => typeof each === 'string' && each.trim() !== '');
  if (fits) return [...value];
  throw new ConfigError('CONFIG_INVALID', `${name} must be a list of strings.`);
}

function checkParameters(value: DeepgramSpeechToTextOptions['parameters']): Record<string, QueryValue> {
  if (value === undefined) return {};
  for (const [name, each] of Object.entries(requireObject(value, 'parameters'))) {
    if (OWN_PARAMETERS.includes(name))
      throw new ConfigError('CONFIG_CONFLICT', `parameters must not set ${name}: use the option for it.`);
    const listed: unknown[] = Array.isArray(each) ? each : [each];
    if (!listed.every((one) => ['string', 'number', 'boolean'].includes(typeof one)))
      throw new ConfigError(
        'CONFIG_INVALID',
        `parameters.${name} must be a string, a number, true, false or a list.`,
      );
  }
  return { ...value };
}
