// Speech synthesis by servers of OpenAI's dialect, most of them on machines of one's own. Source: OpenAI, audio/speech reference.
import { checkNumber, checkOptions, checkText, requireText } from '../../../base/option-checks.js';
import type { ModelRetirement } from '../../../contract/model-retirement.js';
import type { TextToSpeech, TextToSpeechContext, TextToSpeechSession } from '../../text-to-speech.js';
import {
  type AccessNames,
  endpoint,
  namesAt,
  requireKey,
  resolveBaseUrl,
  resolveKey,
} from '../../wire/access.js';
import { AnswerTimes } from '../../wire/answer-times.js';
import { HttpChannel } from '../../wire/http-channel.js';
import { HttpVoice } from '../../wire/http-voice.js';
import { checkRetirement } from '../../wire/model-retirements.js';
import { readRefusal } from '../../wire/openai/refusal.js';
import { OpenAISpeechAudio } from './audio.js';
import { OPENAI_SPEECH_RETIREMENTS } from './retirements.js';

export interface OpenAISpeechOptions {
  /** As the server calls it. The vendor's own `tts-1`, `tts-1-hd` and `gpt-4o-mini-tts` stop on 2027-01-06. */
  readonly model: string;
  /** As the server calls it. */
  readonly voice: string;
  /** @default the environment variable OPENAI_API_KEY, unless `baseUrl` names another server, which may need no key */
  readonly apiKey?: string | undefined;
  /** Where the API is, its version included. @default OPENAI_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** The service's name in records and prices. @default 'openai' */
  readonly service?: string | undefined;
  /** 0.25 to 4. @default 1 */
  readonly speed?: number | undefined;
  /** How to speak, in words, for models that can be told. */
  readonly instructions?: string | undefined;
}

const WHERE = 'new OpenAISpeech()';

const NAMES: Readonly<Record<keyof OpenAISpeechOptions, true>> = {
  model: true,
  voice: true,
  apiKey: true,
  baseUrl: true,
  service: true,
  speed: true,
  instructions: true,
};

const VENDOR_HOST = 'api.openai.com';

const ACCESS: AccessNames = {
  vendor: 'The voice',
  keyVariables: ['OPENAI_API_KEY'],
  baseUrlVariable: 'OPENAI_BASE_URL',
  defaultBaseUrl: `https://${VENDOR_HOST}/v1`,
};

export class OpenAISpeech implements TextToSpeech {
  readonly kind = 'tts';
  readonly name: string;
  readonly retirement: ModelRetirement | undefined;
  readonly #names: AccessNames;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #channel = new HttpChannel();
  readonly #times = new AnswerTimes();

  /** The key is demanded by `open`, and for the vendor's own address only. @throws ConfigError */
  constructor(options: OpenAISpeechOptions) {
    checkOptions(options, { known: Object.keys(NAMES), needed: ['model', 'voice'] }, WHERE);
    const model = requireText(WHERE, 'model', options.model);
    const speed = checkNumber('speed', options.speed, { min: 0.25, max: 4, fallback: undefined });
    const instructions = checkText('instructions', options.instructions);
    this.#names = namesAt(options.baseUrl, ACCESS);
    this.#key = resolveKey(options.apiKey, this.#names);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    const isVendor = this.#base.hostname === VENDOR_HOST;
    this.retirement = isVendor ? checkRetirement(model, OPENAI_SPEECH_RETIREMENTS, WHERE) : undefined;
    this.#fields = {
      model,
      voice: requireText(WHERE, 'voice', options.voice),
      response_format: 'pcm',
      ...(speed === undefined ? {} : { speed }),
      ...(instructions === undefined ? {} : { instructions }),
    };
    this.name = `${checkText('service', options.service) ?? 'openai'}/${model}`;
  }

  assertConfigured(): void {
    if (this.#base.hostname === VENDOR_HOST) requireKey(this.#key, ACCESS);
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    this.assertConfigured();
    return new HttpVoice(context, {
      names: this.#names,
      channel: this.#channel,
      times: this.#times,
      url: endpoint(this.#base, '/audio/speech', { kind: 'http' }),
      headers: this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` },
      toBody: (text) => ({ ...this.#fields, input: text }),
      createAudio: () => new OpenAISpeechAudio(),
      readRefusal,
    });
  }
}
