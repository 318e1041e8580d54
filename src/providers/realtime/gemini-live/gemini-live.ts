// A realtime model behind Google's Live API. Source: Google, Live API guide and reference.
import { type AudioFormat, PCM_16K, PCM_24K } from '../../../audio/format.js';
import { listPrice } from '../../../base/list-price.js';
import {
  checkBoolean,
  checkChoice,
  checkNumber,
  checkOptions,
  checkText,
} from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { RealtimeContext, RealtimeModel, RealtimeSession } from '../../realtime-model.js';
import { type AccessNames, endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { GEMINI_LIVE_PRICES } from './prices.js';
import { GeminiLiveSession } from './session.js';
import type { LiveSettings, ToolBehavior } from './settings.js';

export interface GeminiLiveOptions {
  /** @default GEMINI_API_KEY, then GOOGLE_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the API is, without its version. @default GEMINI_BASE_URL, then https://generativelanguage.googleapis.com */
  readonly baseUrl?: string | undefined;
  /** @default 'gemini-3.8-live' */
  readonly model?: string | undefined;
  /** A voice of the service. @default 'Kore' */
  readonly voice?: string | undefined;
  /**
   * Language of the voice, a BCP 47 tag that the model knows: one that it does not ends the call. Without it the model speaks the
   * agent's language because it is told to, and switches to the caller's.
   */
  readonly language?: string | undefined;
  /** How readily a sound is taken for the caller's speech. @default 'high' */
  readonly startSensitivity?: 'high' | 'low' | undefined;
  /** How readily a pause is taken for the end of it. @default 'high' */
  readonly endSensitivity?: 'high' | 'low' | undefined;
  /** Speech that must be heard before it counts as begun, 0 to 2000 ms. @default 200 */
  readonly prefixPaddingMs?: number | undefined;
  /** Silence after which the caller has finished, 100 to 5000 ms. @default 500 */
  readonly silenceDurationMs?: number | undefined;
  /** Let the service forget the oldest of a conversation that has become too long; without it a call ends after 15 minutes. @default true */
  readonly contextCompression?: boolean | undefined;
  /** False leaves the caller's side of the transcript empty. @default true */
  readonly transcription?: boolean | undefined;
  /**
   * `blocking`: the model waits for the result of a tool. The others let it speak on, and tell it the result when it has finished
   * (`when-idle`) or at once (`interrupt`). @default 'blocking'
   */
  readonly toolBehavior?: ToolBehavior | undefined;
  /** What the model charges, in US dollars, where the list of this package does not say it. */
  readonly price?: ModelPrice | undefined;
}

const WHERE = 'new GeminiLive()';

const NAMES: Readonly<Record<keyof GeminiLiveOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  model: true,
  voice: true,
  language: true,
  startSensitivity: true,
  endSensitivity: true,
  prefixPaddingMs: true,
  silenceDurationMs: true,
  contextCompression: true,
  transcription: true,
  toolBehavior: true,
  price: true,
};

const SERVICE = 'google';
const ACCESS: AccessNames = {
  vendor: 'Gemini Live',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  baseUrlVariable: 'GEMINI_BASE_URL',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
};
const PATH = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

const DEFAULT_MODEL = 'gemini-3.8-live';
const DEFAULT_VOICE = 'Kore';

/**
 * Takes PCM of 16 kHz, gives PCM of 24 kHz. The service has no message that stops an answer or makes it forget what was not heard: a
 * stopped answer is dropped here, and the model may believe that a few unheard words were heard.
 */
export class GeminiLive implements RealtimeModel {
  readonly kind = 'realtime';
  readonly name: string;
  readonly inputFormats: readonly AudioFormat[] = [PCM_16K];
  readonly outputFormats: readonly AudioFormat[] = [PCM_24K];
  readonly transcribesCaller: boolean;
  readonly price: ModelPrice | undefined;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #settings: LiveSettings;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: GeminiLiveOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    this.#settings = toSettings(options);
    const { model, transcription } = this.#settings;
    this.transcribesCaller = transcription;
    this.name = `${SERVICE}/${model}`;
    this.price = options.price ?? listPrice(GEMINI_LIVE_PRICES, model);
  }

  assertConfigured(): void {
    requireKey(this.#key, ACCESS);
  }

  open(context: RealtimeContext): RealtimeSession {
    const key = requireKey(this.#key, ACCESS);
    // As a header, because URLs end up in logs, also in other people's.
    const headers = { 'x-goog-api-key': key };
    const target = { url: endpoint(this.#base, PATH, { kind: 'ws' }), headers, names: ACCESS };
    return new GeminiLiveSession(context, { target, settings: this.#settings });
  }
}

function toSettings(options: GeminiLiveOptions): LiveSettings {
  const padding = { min: 0, max: 2000, whole: true, fallback: 200 };
  const silence = { min: 100, max: 5000, whole: true, fallback: 500 };
  return {
    model: (checkText('model', options.model) ?? DEFAULT_MODEL).replace(/^models\//, ''),
    voice: checkText('voice', options.voice) ?? DEFAULT_VOICE,
    language: checkText('language', options.language),
    startSensitivity: checkChoice('startSensitivity', options.startSensitivity, ['high', 'low']),
    endSensitivity: checkChoice('endSensitivity', options.endSensitivity, ['high', 'low']),
    prefixPaddingMs: checkNumber('prefixPaddingMs', options.prefixPaddingMs, padding),
    silenceMs: checkNumber('silenceDurationMs', options.silenceDurationMs, silence),
    compression: checkBoolean('contextCompression', options.contextCompression, true),
    transcription: checkBoolean('transcription', options.transcription, true),
    toolBehavior: checkChoice('toolBehavior', options.toolBehavior, ['blocking', 'when-idle', 'interrupt']),
  };
}
