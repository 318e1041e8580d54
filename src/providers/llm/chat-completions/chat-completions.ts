// Language models behind the Chat Completions dialect: OpenAI and the many services and local servers that speak it.
// Source: OpenAI, Chat Completions reference, streaming.
import { type Clock, systemClock } from '../../../base/clock.js';
import { ConfigError } from '../../../base/errors.js';
import { checkChoice, checkNumber, checkOptions, checkText } from '../../../base/option-checks.js';
import type { ModelRetirement } from '../../../contract/model-retirement.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../language-model.js';
import { endpoint, requireKey, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { drain, MAX_ERROR_BYTES, readText } from '../../wire/answer-text.js';
import { WireError } from '../../wire/failure.js';
import { type HttpAnswer, HttpChannel } from '../../wire/http-channel.js';
import { checkRetirement } from '../../wire/model-retirements.js';
import { toChatBody } from './messages.js';
import { chatPrice, chatPricedModels } from './prices.js';
import { ChatReply } from './reply.js';
import { CHAT_RETIREMENTS } from './retirements.js';
import { CHAT_SERVICES, type ChatService, type ChatServiceFacts } from './services.js';
import { checkExtraBody } from '../extra-body.js';
import { toRefusal } from '../reply-errors.js';
import { countCharacters, FIRST_WORD_MS, type ReplySource, streamReply } from '../streamed-reply.js';

export interface ChatCompletionsOptions {
  /** Whose server it is: sets address, key variable, dialect and, where there is one, the model. @default 'openai' */
  readonly service?: ChatService | undefined;
  /** @default the service's variable, like OPENAI_API_KEY; local servers need none */
  readonly apiKey?: string | undefined;
  /** Where the API is, its version included. @default the service's variable, like OPENAI_BASE_URL, then the service's address */
  readonly baseUrl?: string | undefined;
  /** @default 'gpt-6-luna' at OpenAI, 'openai/gpt-oss-20b' at Groq; the others need one */
  readonly model?: string | undefined;
  /** Longest reply, in tokens, 1 to 100000. @default 400 */
  readonly maxTokens?: number | undefined;
  /** 0 to 2. @default the service's */
  readonly temperature?: number | undefined;
  /** How long a reasoning model may think. @default the least of models that are known to reason */
  readonly reasoningEffort?: string | undefined;
  /** More fields of the request, as the service documents them. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  readonly clock?: Clock | undefined;
}

const WHERE = 'new ChatCompletions()';

const NAMES: Readonly<Record<keyof ChatCompletionsOptions, true>> = {
  service: true,
  apiKey: true,
  baseUrl: true,
  model: true,
  maxTokens: true,
  temperature: true,
  reasoningEffort: true,
  extraBody: true,
  clock: true,
};

const OWN_FIELDS = ['model', 'stream', 'stream_options', 'messages', 'tools'];

/** Thinking costs the caller seconds, and with these models it also rules out tools. */
const LEAST_EFFORTS: readonly (readonly [RegExp, string])[] = [
  [/^gpt-6/, 'none'],
  [/^openai\/gpt-oss/, 'low'],
];

/** Fields that not every server knows. One that refuses a field by its name is not sent it again. */
const OPTIONAL_FIELDS = ['stream_options', 'reasoning_effort'];

/** A connection that was used this recently is warm. */
const WARM_MS = 30_000;

export class ChatCompletions implements LanguageModel {
  readonly kind = 'llm';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly pricedModels: readonly string[];
  readonly retirement: ModelRetirement | undefined;
  readonly #facts: ChatServiceFacts;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #clock: Clock;
  readonly #settings: Pick<
    Parameters<typeof toChatBody>[0],
    'model' | 'dialect' | 'maxTokens' | 'temperature' | 'reasoningEffort' | 'extraBody'
  >;
  readonly #channel = new HttpChannel();
  readonly #refusedFields = new Set<string>();

  /** The key is demanded by `respond`. @throws ConfigError */
  constructor(options: ChatCompletionsOptions = {}) {
    checkOptions(options, { known: Object.keys(NAMES) }, WHERE);
    const services = Object.keys(CHAT_SERVICES) as [ChatService, ...ChatService[]];
    const service = checkChoice('service', options.service, services);
    const facts: ChatServiceFacts = CHAT_SERVICES[service];
    const model = checkText('model', options.model) ?? facts.defaultModel;
    if (model === undefined)
      throw new ConfigError('CONFIG_MISSING', `${WHERE} needs model for the service ${service}.`);
    this.#facts = facts;
    this.#key = resolveKey(options.apiKey, facts.access);
    this.#base = resolveBaseUrl(options.baseUrl, facts.access);
    this.#clock = options.clock ?? systemClock;
    const effort = checkText('reasoningEffort', options.reasoningEffort);
    this.#settings = {
      model,
      dialect: facts.dialect,
      maxTokens: checkNumber('maxTokens', options.maxTokens, {
        min: 1,
        max: 100_000,
        whole: true,
        fallback: 400,
      }),
      temperature: checkNumber('temperature', options.temperature, { min: 0, max: 2, fallback: undefined }),
      reasoningEffort: effort ?? LEAST_EFFORTS.find(([models]) => models.test(model))?.[1],
      extraBody: checkExtraBody(options.extraBody, OWN_FIELDS),
    };
    this.name = `${service}/${model}`;
    this.price = chatPrice(service, model);
    this.pricedModels = chatPricedModels(service);
    this.retirement = checkRetirement(model, CHAT_RETIREMENTS[service] ?? [], WHERE);
  }

  assertConfigured(): void {
    if (this.#facts.keyRequired) requireKey(this.#key, this.#facts.access);
  }

  warmUp(): void {
    if (this.#facts.keyRequired && this.#key === undefined) return;
    if (this.#channel.idleMs(this.#clock) < WARM_MS) return;
    void this.#channel
      .request({
        method: 'GET',
        url: endpoint(this.#base, '/models', { kind: 'http' }),
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
      names: this.#facts.access,
      clock: this.#clock,
      createReply: () => new ChatReply({ inputCharacters: countCharacters(request) }),
      open: (options) => this.#open(request, options.answerTimeoutMs),
    };
    yield* streamReply(source, request.signal);
  }

  /** The answer to the request, once a server has accepted it. @throws WireError */
  async #open(request: LanguageModelRequest, answerTimeoutMs: number): Promise<HttpAnswer> {
    for (;;) {
      const { messages, tools = [], signal } = request;
      const body = toChatBody({ ...this.#settings, messages, tools });
      for (const field of this.#refusedFields) delete body[field];
      const answer = await this.#channel.request({
        method: 'POST',
        url: endpoint(this.#base, '/chat/completions', { kind: 'http' }),
        headers: { ...this.#headers(), 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
        signal,
        clock: this.#clock,
        answerTimeoutMs,
      });
      if (answer.status >= 200 && answer.status < 300) return answer;
      const text = await readText(answer, MAX_ERROR_BYTES);
      const refused = OPTIONAL_FIELDS.filter((field) => field in body && text.includes(field));
      if (answer.status !== 400 || refused.length === 0) throw new WireError(toRefusal(answer, text));
      for (const field of refused) this.#refusedFields.add(field);
    }
  }

  #headers(): Record<string, string> {
    return this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` };
  }
}
