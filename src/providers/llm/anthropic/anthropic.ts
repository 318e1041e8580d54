// Language models by Anthropic. Source: Anthropic, Messages API reference, streaming.
import { type Clock, systemClock } from '../../../base/clock.js';
import { listPrice } from '../../../base/list-price.js';
import { checkBoolean, checkNumber, checkOptions, checkText } from '../../../base/option-checks.js';
import type { ModelRetirement } from '../../../contract/model-retirement.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../language-model.js';
import { type AccessNames, endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { drain, MAX_ERROR_BYTES, readText } from '../../wire/answer-text.js';
import { WireError } from '../../wire/failure.js';
import { type HttpAnswer, HttpChannel } from '../../wire/http-channel.js';
import { checkRetirement } from '../../wire/model-retirements.js';
import { ANTHROPIC_PRICES } from './prices.js';
import { AnthropicReply } from './reply.js';
import { type MessagesBodyOptions, toMessagesBody } from './request.js';
import { ANTHROPIC_RETIREMENTS } from './retirements.js';
import { checkExtraBody } from '../extra-body.js';
import { toRefusal } from '../reply-errors.js';
import { countCharacters, FIRST_WORD_MS, type ReplySource, streamReply } from '../streamed-reply.js';

export interface AnthropicMessagesOptions {
  /** @default the environment variable ANTHROPIC_API_KEY */
  readonly apiKey?: string | undefined;
  /** Where the service is, without its version. @default ANTHROPIC_BASE_URL, then the vendor's */
  readonly baseUrl?: string | undefined;
  /** @default 'claude-haiku-5-5' */
  readonly model?: string | undefined;
  /** Longest reply, in tokens, what the model thinks included, 1 to 100000. @default 1000 */
  readonly maxTokens?: number | undefined;
  /** 0 to 1. @default the vendor's */
  readonly temperature?: number | undefined;
  /** How much a model that thinks may think. @default 'low' with models that are known to think, else the vendor's */
  readonly effort?: string | undefined;
  /** Has the vendor keep system prompt and tools between turns. Costs a quarter more the first time, a tenth afterwards. @default true */
  readonly cacheSystemPrompt?: boolean | undefined;
  /** More fields of the request, as the vendor documents them. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  readonly clock?: Clock | undefined;
}

const WHERE = 'new AnthropicMessages()';

const NAMES: Readonly<Record<keyof AnthropicMessagesOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  model: true,
  maxTokens: true,
  temperature: true,
  effort: true,
  cacheSystemPrompt: true,
  extraBody: true,
  clock: true,
};

const ACCESS: AccessNames = {
  vendor: 'Anthropic',
  keyVariables: ['ANTHROPIC_API_KEY'],
  baseUrlVariable: 'ANTHROPIC_BASE_URL',
  defaultBaseUrl: 'https://api.anthropic.com',
};

const DEFAULT_MODEL = 'claude-haiku-5-5';

/** The version of the wire, which is not the version of a model. */
const VERSION = '2023-06-01';

const OWN_FIELDS = ['model', 'stream', 'max_tokens', 'system', 'messages', 'tools'];

/** Models that think unless they are told to do less of it. Thinking costs the caller seconds. */
const THINKING_MODELS = /^claude-haiku-5/;

/** A connection that was used this recently is warm. */
const WARM_MS = 30_000;

export class AnthropicMessages implements LanguageModel {
  readonly kind = 'llm';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly pricedModels = Object.keys(ANTHROPIC_PRICES);
  readonly retirement: ModelRetirement | undefined;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #clock: Clock;
  readonly #settings: Omit<MessagesBodyOptions, 'messages' | 'tools'>;
  readonly #channel = new HttpChannel();

  /** The key is demanded by `respond`. @throws ConfigError */
  constructor(options: AnthropicMessagesOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    const model = checkText('model', options.model) ?? DEFAULT_MODEL;
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    this.#clock = options.clock ?? systemClock;
    const tokens = { min: 1, max: 100_000, whole: true, fallback: 1000 };
    this.#settings = {
      model,
      maxTokens: checkNumber('maxTokens', options.maxTokens, tokens),
      temperature: checkNumber('temperature', options.temperature, { min: 0, max: 1, fallback: undefined }),
      effort: checkText('effort', options.effort) ?? (THINKING_MODELS.test(model) ? 'low' : undefined),
      cacheSystemPrompt: checkBoolean('cacheSystemPrompt', options.cacheSystemPrompt, true),
      extraBody: checkExtraBody(options.extraBody, OWN_FIELDS),
    };
    this.name = `anthropic/${model}`;
    this.price = listPrice(ANTHROPIC_PRICES, model);
    this.retirement = checkRetirement(model, ANTHROPIC_RETIREMENTS, WHERE);
  }

  assertConfigured(): void {
    requireKey(this.#key, ACCESS);
  }

  warmUp(): void {
    if (this.#key === undefined || this.#channel.idleMs(this.#clock) < WARM_MS) return;
    void this.#channel
      .request({
        method: 'GET',
        url: endpoint(this.#base, '/v1/models', { kind: 'http' }),
        headers: this.#headers(),
        clock: this.#clock,
        answerTimeoutMs: FIRST_WORD_MS,
      })
      .then(drain)
      .catch(() => {
        // The first request will say what is wrong.
      });
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    this.assertConfigured();
    const source: ReplySource = {
      names: ACCESS,
      clock: this.#clock,
      createReply: () => new AnthropicReply({ inputCharacters: countCharacters(request) }),
      open: (options) => this.#open(request, options.answerTimeoutMs),
    };
    yield* streamReply(source, request.signal);
  }

  async #open(request: LanguageModelRequest, answerTimeoutMs: number): Promise<HttpAnswer> {
    const { messages, tools = [], signal } = request;
    const answer = await this.#channel.request({
      method: 'POST',
      url: endpoint(this.#base, '/v1/messages', { kind: 'http' }),
      headers: { ...this.#headers(), 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(toMessagesBody({ ...this.#settings, messages, tools })),
      signal,
      clock: this.#clock,
      answerTimeoutMs,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new WireError(toRefusal(answer, await readText(answer, MAX_ERROR_BYTES)));
  }

  #headers(): Record<string, string> {
    return { 'x-api-key': requireKey(this.#key, ACCESS), 'anthropic-version': VERSION };
  }
}
