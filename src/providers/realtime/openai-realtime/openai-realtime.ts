// A realtime model behind OpenAI's Realtime socket (GA), and the services that speak the same wire.
// Source: OpenAI, Realtime guide and reference.
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_24K } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import {
  checkBoolean,
  checkChoice,
  checkNumber,
  checkOptions,
  checkText,
  requireObject,
} from '../../../base/option-checks.js';
import type { ModelRetirement } from '../../../contract/model-retirement.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { RealtimeContext, RealtimeModel, RealtimeSession } from '../../realtime-model.js';
import {
  type AccessNames,
  endpoint,
  namesAt,
  requireKey,
  resolveBaseUrl,
  resolveKey,
} from '../../wire/access.js';
import { checkRetirement, type RetiringModels } from '../../wire/model-retirements.js';
import { OPENAI_TRANSCRIPTION_RETIREMENTS } from '../../wire/openai/transcription-retirements.js';
import { OPENAI_REALTIME_PRICES } from './prices.js';
import { OPENAI_REALTIME_RETIREMENTS } from './retirements.js';
import { OpenAIRealtimeSession } from './session.js';
import type { SessionSettings, TurnDetection } from './settings.js';

export interface OpenAIRealtimeOptions {
  /** @default OPENAI_API_KEY, unless `baseUrl` names another service: its key is said here, where it needs one */
  readonly apiKey?: string | undefined;
  /** Header that carries the key: `api-key` is what some hosts of the models want. @default 'authorization' */
  readonly keyHeader?: 'authorization' | 'api-key' | undefined;
  /** Where the API is, its version included. A service that speaks the same wire is named here. @default OPENAI_BASE_URL, then https://api.openai.com/v1 */
  readonly baseUrl?: string | undefined;
  /** The vendor as records show it, for a service at another `baseUrl`. @default 'openai' */
  readonly service?: string | undefined;
  /** @default 'gpt-realtime-2.1-mini' */
  readonly model?: string | undefined;
  /** A voice of the service. @default 'marin' */
  readonly voice?: string | undefined;
  /** How fast it speaks, 0.25 to 1.5. @default the service's */
  readonly speed?: number | undefined;
  /** Language of the caller's text, a BCP 47 tag. @default the agent's language, then found out by the service */
  readonly language?: string | undefined;
  /** `server_vad`: a silence ends the caller's turn. `semantic_vad`: the service judges by the words, too. @default 'server_vad' */
  readonly turnDetection?: 'server_vad' | 'semantic_vad' | undefined;
  /** Silence after which the caller has finished, 100 to 5000 ms. Only with `server_vad`. @default 500 */
  readonly silenceMs?: number | undefined;
  /** How loud speech must be, 0 to 1. Only with `server_vad`. @default 0.5 */
  readonly threshold?: number | undefined;
  /** How soon the service takes a turn for finished: `low`, `medium`, `high` or `auto`. Only with `semantic_vad`. @default 'auto' */
  readonly eagerness?: 'low' | 'medium' | 'high' | 'auto' | undefined;
  /** Model that writes down what the caller says, paid for on its own; false leaves the caller's side of the transcript empty. @default 'gpt-transcribe' */
  readonly transcription?: string | false | undefined;
  /** @default 'near_field' */
  readonly noiseReduction?: 'near_field' | 'far_field' | false | undefined;
  /** Longest answer, in tokens, 1 to 4096. @default 800 */
  readonly maxOutputTokens?: number | undefined;
  /** How long a reasoning model may think. @default the service's */
  readonly reasoningEffort?: string | undefined;
  /** Exchange the telephone's own audio (G.711) where the carrier has it; false for a service that takes PCM alone. @default true */
  readonly g711?: boolean | undefined;
  /** More fields of the session, as the service documents them. */
  readonly extraSession?: Readonly<Record<string, unknown>> | undefined;
}

const WHERE = 'new OpenAIRealtime()';

const NAMES: Readonly<Record<keyof OpenAIRealtimeOptions, true>> = {
  apiKey: true,
  keyHeader: true,
  baseUrl: true,
  service: true,
  model: true,
  voice: true,
  speed: true,
  language: true,
  turnDetection: true,
  silenceMs: true,
  threshold: true,
  eagerness: true,
  transcription: true,
  noiseReduction: true,
  maxOutputTokens: true,
  reasoningEffort: true,
  g711: true,
  extraSession: true,
};

const OWN_SERVICE = 'openai';
const ACCESS: AccessNames = {
  vendor: 'OpenAI Realtime',
  keyVariables: ['OPENAI_API_KEY'],
  baseUrlVariable: 'OPENAI_BASE_URL',
  defaultBaseUrl: 'https://api.openai.com/v1',
};
const OWN_HOST = 'api.openai.com';

const DEFAULT_MODEL = 'gpt-realtime-2.1-mini';
const DEFAULT_VOICE = 'marin';
const DEFAULT_TRANSCRIPTION = 'gpt-transcribe';

/** Sound before the detected start of speech that belongs to it. Source: the service's default. */
const PREFIX_PADDING_MS = 300;

/** Fields of a session that follow from offhook or from an option of their own. */
const OWN_FIELDS = 'type model instructions audio tools output_modalities max_output_tokens'.split(' ');

export class OpenAIRealtime implements RealtimeModel {
  readonly kind = 'realtime';
  readonly name: string;
  readonly inputFormats: readonly AudioFormat[];
  readonly outputFormats: readonly AudioFormat[];
  readonly transcribesCaller: boolean;
  readonly price: ModelPrice | undefined;
  readonly retirement: ModelRetirement | undefined;
  readonly transcription: RealtimeModel['transcription'];
  readonly #service: string;
  readonly #names: AccessNames;
  readonly #key: string | undefined;
  readonly #keyHeader: 'authorization' | 'api-key';
  readonly #base: URL;
  readonly #model: string;
  readonly #settings: SessionSettings;

  /** The key is demanded by `open`. @throws ConfigError, also for a model that the vendor retires */
  constructor(options: OpenAIRealtimeOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#service = checkText('service', options.service) ?? OWN_SERVICE;
    this.#model = checkText('model', options.model) ?? DEFAULT_MODEL;
    this.retirement = this.#retirement(this.#model, OPENAI_REALTIME_RETIREMENTS);
    this.#names = namesAt(options.baseUrl, ACCESS);
    this.#key = resolveKey(options.apiKey, this.#names);
    this.#keyHeader = checkChoice('keyHeader', options.keyHeader, ['authorization', 'api-key']);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    const g711 = checkBoolean('g711', options.g711, true);
    const formats = g711 ? [PCM_24K, MULAW_8K, ALAW_8K] : [PCM_24K];
    this.inputFormats = formats;
    this.outputFormats = formats;
    this.#settings = toSettings(options);
    this.transcribesCaller = this.#settings.transcription !== undefined;
    this.name = `${this.#service}/${this.#model}`;
    this.price = this.#listPrice(this.#model);
    const writer = this.#settings.transcription;
    if (writer !== undefined)
      this.transcription = {
        name: `${this.#service}/${writer}`,
        price: this.#listPrice(writer),
        retirement: this.#retirement(writer, OPENAI_TRANSCRIPTION_RETIREMENTS),
      };
  }

  /** A server of one's own may ask for no key. */
  assertConfigured(): void {
    if (this.#base.hostname === OWN_HOST) requireKey(this.#key, ACCESS);
  }

  open(context: RealtimeContext): RealtimeSession {
    this.assertConfigured();
    const url = endpoint(this.#base, '/realtime', { kind: 'ws', query: { model: this.#model } });
    const target = { url, headers: this.#headers(), names: this.#names };
    return new OpenAIRealtimeSession(context, { target, settings: this.#settings });
  }

  /** Compatible services have prices of their own. */
  #listPrice(model: string): ModelPrice | undefined {
    return this.#service === OWN_SERVICE ? listPrice(OPENAI_REALTIME_PRICES, model) : undefined;
  }

  /** Names of other services are their own: what retires here may live there. @throws ConfigError */
  #retirement(model: string, table: readonly RetiringModels[]): ModelRetirement | undefined {
    return this.#service === OWN_SERVICE ? checkRetirement(model, table, WHERE) : undefined;
  }

  #headers(): Record<string, string> {
    if (this.#key === undefined) return {};
    return this.#keyHeader === 'api-key'
      ? { 'api-key': this.#key }
      : { authorization: `Bearer ${this.#key}` };
  }
}

function toSettings(options: OpenAIRealtimeOptions): SessionSettings {
  const transcription =
    options.transcription === false
      ? undefined
      : (checkText('transcription', options.transcription) ?? DEFAULT_TRANSCRIPTION);
  const noiseReduction =
    options.noiseReduction === false
      ? undefined
      : checkChoice('noiseReduction', options.noiseReduction, ['near_field', 'far_field']);
  const tokens = { min: 1, max: 4096, whole: true, fallback: 800 };
  return {
    voice: checkText('voice', options.voice) ?? DEFAULT_VOICE,
    speed: checkNumber('speed', options.speed, { min: 0.25, max: 1.5, fallback: undefined }),
    language: checkText('language', options.language),
    turnDetection: toTurnDetection(options),
    transcription,
    noiseReduction,
    maxOutputTokens: checkNumber('maxOutputTokens', options.maxOutputTokens, tokens),
    reasoningEffort: checkText('reasoningEffort', options.reasoningEffort),
    extraSession: checkExtraSession(options.extraSession),
  };
}

function toTurnDetection(options: OpenAIRealtimeOptions): TurnDetection {
  const type = checkChoice('turnDetection', options.turnDetection, ['server_vad', 'semantic_vad']);
  const eagerness = checkChoice('eagerness', options.eagerness, ['auto', 'low', 'medium', 'high']);
  const silence = { min: 100, max: 5000, whole: true, fallback: 500 };
  const silenceMs = checkNumber('silenceMs', options.silenceMs, silence);
  const threshold = checkNumber('threshold', options.threshold, { min: 0, max: 1, fallback: 0.5 });
  const idle = type === 'server_vad' ? ['eagerness'] : ['silenceMs', 'threshold'];
  const conflict = idle.find((name) => options[name as keyof OpenAIRealtimeOptions] !== undefined);
  if (conflict !== undefined)
    throw new ConfigError('CONFIG_CONFLICT', `${WHERE}: ${conflict} means nothing with ${type}.`);
  if (type === 'semantic_vad') return { type, eagerness };
  return { type, threshold, prefix_padding_ms: PREFIX_PADDING_MS, silence_duration_ms: silenceMs };
}

function checkExtraSession(value: OpenAIRealtimeOptions['extraSession']): Record<string, unknown> {
  if (value === undefined) return {};
  const own = Object.keys(requireObject(value, 'extraSession')).find((name) => OWN_FIELDS.includes(name));
  if (own === undefined) return { ...value };
  throw new ConfigError('CONFIG_CONFLICT', `extraSession must not set ${own}: use the option for it.`);
}
