// Speech recognition by servers of OpenAI's transcription dialect, the vendor's and the user's own: Whisper servers like
// speaches, vLLM or LocalAI. Source: OpenAI, audio/transcriptions reference.
import { ConfigError } from '../../../base/errors.js';
import { listPrice } from '../../../base/list-price.js';
import {
  checkBoolean,
  checkNumber,
  checkOptions,
  checkText,
  requireText,
} from '../../../base/option-checks.js';
import type { ModelRetirement } from '../../../contract/model-retirement.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { SpeechToText, SpeechToTextContext, SpeechToTextSession } from '../../speech-to-text.js';
import {
  type AccessNames,
  endpoint,
  namesAt,
  requireKey,
  resolveBaseUrl,
  resolveKey,
  type VendorNames,
} from '../../wire/access.js';
import { AnswerTimes } from '../../wire/answer-times.js';
import { HttpChannel } from '../../wire/http-channel.js';
import { checkRetirement } from '../../wire/model-retirements.js';
import { OPENAI_TRANSCRIPTION_PRICES } from '../../wire/openai/transcription-prices.js';
import { OPENAI_TRANSCRIPTION_RETIREMENTS } from '../../wire/openai/transcription-retirements.js';
import { OpenAITranscriptionSession } from './session.js';

export interface OpenAITranscriptionOptions {
  /** As the server calls it. @default 'gpt-transcribe' at the vendor's own address; elsewhere it must be said */
  readonly model?: string | undefined;
  /** @default the environment variable OPENAI_API_KEY, unless `baseUrl` names another server, which may need no key */
  readonly apiKey?: string | undefined;
  /** Where the API is, its version included. @default OPENAI_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** The service's name in records and prices. @default 'openai' */
  readonly service?: string | undefined;
  /** BCP 47 tag; 'auto' lets the model find out. @default the agent's language, then 'auto' */
  readonly language?: string | undefined;
  /** What the recordings are about: names and words that are likely to be said. */
  readonly prompt?: string | undefined;
  /** Asks for the text word by word, where the server can. @default false */
  readonly stream?: boolean | undefined;
  /**
   * Asks for the model's confidence in each segment, and drops segments that it takes for silence. Whisper servers
   * know it, the vendor's newer models do not. Not with `stream`. @default false
   */
  readonly verbose?: boolean | undefined;
  /**
   * Sends what was said so far again and again while the caller speaks, so that there is text before the end, in milliseconds of
   * speech between two requests, 300 to 10000. Each is paid for. @default none: sound interrupts the agent, and words when they have been said
   */
  readonly partialEveryMs?: number | undefined;
  /**
   * Longest wait for the text of an utterance, in milliseconds, 500 to 60000. After 1500, or half of it, the recording is sent a second time, and
   * the first answer counts. A server that was slower lately has 1.5 times as long as it took, and is asked once where that leaves no time for
   * another answer. @default 4000: callers ask whether anybody is there after some five seconds
   */
  readonly timeoutMs?: number | undefined;
}

const WHERE = 'new OpenAITranscription()';

const NAMES: Readonly<Record<keyof OpenAITranscriptionOptions, true>> = {
  model: true,
  apiKey: true,
  baseUrl: true,
  service: true,
  language: true,
  prompt: true,
  stream: true,
  verbose: true,
  partialEveryMs: true,
  timeoutMs: true,
};

const VENDOR_HOST = 'api.openai.com';
const DEFAULT_MODEL = 'gpt-transcribe';

const ACCESS: AccessNames = {
  vendor: 'The transcription server',
  keyVariables: ['OPENAI_API_KEY'],
  baseUrlVariable: 'OPENAI_BASE_URL',
  defaultBaseUrl: `https://${VENDOR_HOST}/v1`,
};

export class OpenAITranscription implements SpeechToText {
  readonly kind = 'stt';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly retirement: ModelRetirement | undefined;
  readonly writesAfterwards: boolean;
  readonly #names: VendorNames;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #language: string | undefined;
  readonly #fields: Readonly<Record<string, string>>;
  readonly #partialEveryMs: number | null;
  readonly #timeoutMs: number;
  readonly #channel = new HttpChannel();
  readonly #times = new AnswerTimes();

  /** The key is demanded by `open`, and for the vendor's own address only. @throws ConfigError */
  constructor(options: OpenAITranscriptionOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    const isVendor = this.#base.hostname === VENDOR_HOST;
    const model = requireText(WHERE, 'model', options.model ?? (isVendor ? DEFAULT_MODEL : undefined));
    const names = namesAt(options.baseUrl, ACCESS);
    this.#names = names;
    this.#key = resolveKey(options.apiKey, names);
    this.#language = checkText('language', options.language);
    const prompt = checkText('prompt', options.prompt);
    const isStreamed = checkBoolean('stream', options.stream, false);
    const isVerbose = checkBoolean('verbose', options.verbose, false);
    if (isStreamed && isVerbose)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        'stream and verbose exclude each other: streams contain plain text only.',
      );
    this.#fields = {
      model,
      response_format: isVerbose ? 'verbose_json' : 'json',
      ...(prompt === undefined ? {} : { prompt }),
      ...(isStreamed ? { stream: 'true' } : {}),
    };
    const every = { min: 300, max: 10_000, whole: true, fallback: undefined };
    this.#partialEveryMs = checkNumber('partialEveryMs', options.partialEveryMs, every) ?? null;
    this.writesAfterwards = this.#partialEveryMs === null;
    const patience = { min: 500, max: 60_000, whole: true, fallback: 4000 };
    this.#timeoutMs = checkNumber('timeoutMs', options.timeoutMs, patience);
    const service = checkText('service', options.service) ?? 'openai';
    this.name = `${service}/${model}`;
    this.retirement = isVendor ? checkRetirement(model, OPENAI_TRANSCRIPTION_RETIREMENTS, WHERE) : undefined;
    this.price = isVendor ? listPrice(OPENAI_TRANSCRIPTION_PRICES, model) : undefined;
  }

  assertConfigured(): void {
    if (this.#base.hostname === VENDOR_HOST) requireKey(this.#key, ACCESS);
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    this.assertConfigured();
    const language = this.#language ?? context.language ?? 'auto';
    return new OpenAITranscriptionSession(context, {
      target: {
        names: this.#names,
        channel: this.#channel,
        url: endpoint(this.#base, '/audio/transcriptions', { kind: 'http' }),
        headers: this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` },
        fields: language === 'auto' ? this.#fields : { ...this.#fields, language: toLanguageCode(language) },
        timeoutMs: this.#timeoutMs,
      },
      times: this.#times,
      partialEveryMs: this.#partialEveryMs,
    });
  }
}

/** The wire knows languages without regions. */
function toLanguageCode(tag: string): string {
  return tag.split('-')[0] ?? tag;
}
