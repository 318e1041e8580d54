// Speech synthesis by ElevenLabs over its multi-context socket.
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import {
  checkBoolean,
  checkNames,
  checkNumber,
  checkOptions,
  checkText,
  requireObject,
} from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { TextToSpeech, TextToSpeechContext, TextToSpeechSession } from '../../text-to-speech.js';
import { type AccessNames, endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import { SentenceVoice } from '../../wire/sentence-voice.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { ElevenLabsDialect, type ElevenLabsSettings } from './dialect.js';
import { readElevenLabsClose } from './messages.js';
import { ELEVENLABS_PRICES } from './prices.js';

/** How the voice speaks, as the vendor documents it. What is not set is as the voice was made. */
export interface ElevenLabsVoiceSettings {
  /** 0 to 1 */
  readonly stability?: number;
  /** 0 to 1 */
  readonly similarityBoost?: number;
  /** 0 to 1 */
  readonly style?: number;
  readonly useSpeakerBoost?: boolean;
  /** 0.7 to 1.2 */
  readonly speed?: number;
}

export interface ElevenLabsTextToSpeechOptions {
  /** @default the environment variable ELEVENLABS_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is. @default ELEVENLABS_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** @default one of the vendor's own voices */
  readonly voiceId?: string | undefined;
  /** @default 'eleven_flash_v2_5' */
  readonly model?: string | undefined;
  /** BCP 47 tag; only models that can be told a language are. @default the agent's language */
  readonly language?: string | undefined;
  readonly voiceSettings?: ElevenLabsVoiceSettings | undefined;
}

const WHERE = 'new ElevenLabsTextToSpeech()';

const NAMES: Readonly<Record<keyof ElevenLabsTextToSpeechOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  voiceId: true,
  model: true,
  language: true,
  voiceSettings: true,
};

const SETTING_NAMES: Readonly<Record<keyof ElevenLabsVoiceSettings, true>> = {
  stability: true,
  similarityBoost: true,
  style: true,
  useSpeakerBoost: true,
  speed: true,
};

const ACCESS: AccessNames = {
  vendor: 'ElevenLabs',
  keyVariables: ['ELEVENLABS_API_KEY'],
  baseUrlVariable: 'ELEVENLABS_BASE_URL',
  defaultBaseUrl: 'https://api.elevenlabs.io',
};

const DEFAULT_MODEL = 'eleven_flash_v2_5';

/** "Sarah", one of the voices that every account has. */
const DEFAULT_VOICE_ID = 'EXAVITQu4vr4xnSDxMaL';

/** The longest that the vendor allows, in seconds. */
const INACTIVITY_TIMEOUT_S = 180;

export class ElevenLabsTextToSpeech implements TextToSpeech {
  readonly kind = 'tts';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly pricedModels = Object.keys(ELEVENLABS_PRICES);
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #voiceId: string;
  readonly #model: string;
  readonly #language: string | undefined;
  readonly #voiceSettings: ElevenLabsSettings;

  /** The key is demanded by `open`. @throws ConfigError */
  constructor(options: ElevenLabsTextToSpeechOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    this.#voiceId = checkText('voiceId', options.voiceId) ?? DEFAULT_VOICE_ID;
    if (!/^[\w-]+$/.test(this.#voiceId))
      throw new ConfigError('CONFIG_INVALID', 'voiceId must be a voice ID, not a voice name.');
    this.#model = checkText('model', options.model) ?? DEFAULT_MODEL;
    this.#language = checkText('language', options.language);
    this.#voiceSettings = toVoiceSettings(options.voiceSettings);
    this.name = `elevenlabs/${this.#model}`;
    this.price = listPrice(ELEVENLABS_PRICES, this.#model);
  }

  assertConfigured(): void {
    requireKey(this.#key, ACCESS);
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    const key = requireKey(this.#key, ACCESS);
    const language = this.#language ?? context.language;
    const query = {
      model_id: this.#model,
      output_format: 'pcm_16000',
      inactivity_timeout: INACTIVITY_TIMEOUT_S,
      sync_alignment: true,
      auto_mode: true,
      // Other models refuse to be told.
      language_code: this.#model.endsWith('_v2_5') ? language?.split('-')[0] : undefined,
    };
    const path = `/v1/text-to-speech/${this.#voiceId}/multi-stream-input`;
    const url = endpoint(this.#base, path, { kind: 'ws', query });
    const target = { url, headers: { 'xi-api-key': key }, names: ACCESS };
    return openElevenLabsVoice(context, { target, voiceSettings: this.#voiceSettings });
  }
}

/** One call's voice. Tests have another socket. */
export function openElevenLabsVoice(
  context: TextToSpeechContext,
  options: { target: VendorTarget; voiceSettings: ElevenLabsSettings; open?: OpenVendorSocket },
): TextToSpeechSession {
  const { target, voiceSettings, open } = options;
  return new SentenceVoice(context, {
    target,
    createDialect: (find) => new ElevenLabsDialect(find, voiceSettings),
    readClose: readElevenLabsClose,
    goodbye: { close_socket: true },
    open,
  });
}

/** The vendor's names for the settings that are set. @throws ConfigError */
function toVoiceSettings(value: ElevenLabsVoiceSettings | undefined): ElevenLabsSettings {
  if (value === undefined) return {};
  checkNames(requireObject(value, 'voiceSettings'), Object.keys(SETTING_NAMES), WHERE);
  const share = (name: 'stability' | 'similarityBoost' | 'style') =>
    checkNumber(`voiceSettings.${name}`, value[name], { min: 0, max: 1, fallback: undefined });
  const settings = {
    stability: share('stability'),
    similarity_boost: share('similarityBoost'),
    style: share('style'),
    use_speaker_boost:
      value.useSpeakerBoost === undefined
        ? undefined
        : checkBoolean('voiceSettings.useSpeakerBoost', value.useSpeakerBoost, true),
    speed: checkNumber('voiceSettings.speed', value.speed, { min: 0.7, max: 1.2, fallback: undefined }),
  };
  const set = Object.entries(settings).filter(
    (entry): entry is [string, number | boolean] => entry[1] !== undefined,
  );
  return Object.fromEntries(set);
}
