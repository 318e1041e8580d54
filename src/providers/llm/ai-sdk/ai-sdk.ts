// Any language model of the AI SDK as ours: its own requests, our deadlines and our one retry.
import { type Clock, systemClock } from '../../../base/clock.js';
import { ConfigError } from '../../../base/errors.js';
import { checkNumber, checkOptions, requireObject, requireText } from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../language-model.js';
import { toProviderError, transientFailure, WireError } from '../../wire/failure.js';
import { pause } from '../../../base/pause.js';
import { AI_SDK_VERSIONS, type AiSdkCall, type AiSdkModel } from './model.js';
import { toAiSdkPrompt, toAiSdkTool } from './prompt.js';
import { AiSdkReply, toSdkFailure } from './reply.js';
import { NEXT_MS } from '../reply-stream.js';
import {
  costOfFailed,
  countCharacters,
  FIRST_WORD_MS,
  INTERRUPTED,
  RetryNote,
  retryPause,
  toEnd,
  TOTAL_MS,
  WORKING,
} from '../streamed-reply.js';

export interface AiSdkLanguageModelOptions {
  /** As a provider package makes it, like `openai('gpt-6-luna')`. Specification v2, v3 or v4, which are AI SDK 5, 6 and 7. */
  readonly model: AiSdkModel;
  /** Longest reply, in tokens, 1 to 100000. @default 400 */
  readonly maxTokens?: number | undefined;
  /** 0 to 2. @default the model's */
  readonly temperature?: number | undefined;
  /** `providerOptions` of every request, as the provider package documents them. */
  readonly providerOptions?: AiSdkCall['providerOptions'] | undefined;
  /** What the vendor charges. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  readonly clock?: Clock | undefined;
}

const WHERE = 'new AiSdkLanguageModel()';

const NAMES: Readonly<Record<keyof AiSdkLanguageModelOptions, true>> = {
  model: true,
  maxTokens: true,
  temperature: true,
  providerOptions: true,
  price: true,
  clock: true,
};

type Stream = (call: AiSdkCall) => PromiseLike<{ stream: ReadableStream<unknown> }>;

export class AiSdkLanguageModel implements LanguageModel {
  readonly kind = 'llm';
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly #stream: Stream;
  readonly #clock: Clock;
  readonly #settings: Pick<AiSdkCall, 'maxOutputTokens' | 'temperature' | 'providerOptions'>;

  /** @throws ConfigError */
  constructor(options: AiSdkLanguageModelOptions) {
    checkOptions(options, { known: Object.keys(NAMES), needed: ['model'] }, WHERE);
    const model = checkModel(options.model);
    this.#stream = (call) => model.doStream(call as never);
    this.#clock = options.clock ?? systemClock;
    const tokens = { min: 1, max: 100_000, whole: true, fallback: 400 };
    const temperature = checkNumber('temperature', options.temperature, {
      min: 0,
      max: 2,
      fallback: undefined,
    });
    const { providerOptions } = options;
    if (providerOptions !== undefined) requireObject(providerOptions, 'providerOptions');
    this.#settings = {
      maxOutputTokens: checkNumber('maxTokens', options.maxTokens, tokens),
      ...(temperature === undefined ? {} : { temperature }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    };
    // Providers name their wire behind a dot: `openai.responses`.
    const vendor = requireText(WHERE, 'model.provider', model.provider).split('.')[0];
    this.name = `${vendor}/${requireText(WHERE, 'model.modelId', model.modelId)}`;
    this.price = options.price;
  }

  /** One retry, and only before the first word. */
  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const { signal } = request;
    const startedAt = this.#clock.now();
    const deadlines = { firstWordBy: startedAt + FIRST_WORD_MS, allBy: startedAt + TOTAL_MS };
    const retry = new RetryNote(this.#clock);
    for (let retried = false; !signal.aborted; retried = true) {
      const reply = new AiSdkReply({ inputCharacters: countCharacters(request) });
      let accepted = false;
      let hasText = false;
      try {
        const opened = () => {
          accepted = true;
        };
        for await (const delta of this.#read(request, reply, { ...deadlines, opened })) {
          yield* retry.worked();
          hasText ||= delta !== '';
          yield delta === '' ? WORKING : { type: 'text', delta };
        }
        if (signal.aborted) return yield* reply.conclude({ aborted: true });
        if (reply.failure !== undefined) throw new WireError(reply.failure);
        const end = toEnd(reply, { hasText });
        yield* retry.worked();
        yield* end;
        return;
      } catch (error) {
        // The request was made, and will be paid for.
        if (signal.aborted) return yield* reply.conclude({ aborted: true });
        if (accepted) yield* costOfFailed(reply);
        const failure = toSdkFailure(error);
        const pauseMs = retried || reply.started ? null : retryPause(failure);
        if (pauseMs === null || this.#clock.now() + pauseMs >= deadlines.firstWordBy)
          // The key is the provider package's own: `toSdkFailure` says so.
          throw toProviderError({ vendor: `The model ${this.name}`, keyVariables: [] }, failure);
        await pause(this.#clock, pauseMs, signal);
        retry.sent();
      }
    }
    yield INTERRUPTED;
  }

  /** The text of one stream as it comes, empty where a tool call grows, until it ends, breaks, takes too long or is aborted; nothing keeps it open afterwards. */
  async *#read(
    { messages, tools = [], signal }: LanguageModelRequest,
    reply: AiSdkReply,
    { opened, ...deadlines }: { firstWordBy: number; allBy: number; opened: () => void },
  ): AsyncGenerator<string> {
    const stopping = new AbortController();
    const stop = AbortSignal.any([signal, stopping.signal]);
    const wait = <T>(work: PromiseLike<T>) =>
      this.#inTime(work, { stop, ms: this.#patience(reply, deadlines) });
    let reader: ReadableStreamDefaultReader<unknown> | undefined;
    try {
      const opening = this.#stream({
        ...this.#settings,
        prompt: toAiSdkPrompt(messages),
        ...(tools.length === 0 ? {} : { tools: tools.map(toAiSdkTool) }),
        abortSignal: stop,
      });
      // A stream that opens too late is closed by whoever still waits for it.
      void Promise.resolve(opening).then(
        ({ stream }) => stop.aborted && discard(stream),
        () => {},
      );
      const { stream } = await wait(opening);
      opened();
      reader = stream.getReader();
      while (!reply.finished && reply.failure === undefined) {
        const { done, value } = await wait(reader.read());
        if (done || signal.aborted) return;
        const text = reply.take(value);
        if (text !== '' || (reply.started && !reply.finished)) yield text;
      }
    } finally {
      stopping.abort();
      // A model that does not settle must not hold the call up.
      reader?.cancel().catch(() => {});
    }
  }

  #patience(reply: AiSdkReply, { firstWordBy, allBy }: { firstWordBy: number; allBy: number }): number {
    const now = this.#clock.now();
    return Math.max(1, reply.started ? Math.min(NEXT_MS, allBy - now) : firstWordBy - now);
  }

  /** Rejects when `work` takes longer, or as soon as `stop` aborts, whatever the model makes of its signal. */
  #inTime<T>(work: PromiseLike<T>, { stop, ms }: { stop: AbortSignal; ms: number }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (reason: string) => reject(new WireError(transientFailure(reason)));
      const abort = () => fail('was canceled');
      const timer = this.#clock.after(ms, () => fail('did not go on in time'));
      if (stop.aborted) abort();
      else stop.addEventListener('abort', abort, { once: true });
      Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => {
          timer.cancel();
          stop.removeEventListener('abort', abort);
        });
    });
  }
}

function discard(stream: ReadableStream<unknown>): void {
  // It is locked when it is being read, and then whoever reads it ends it.
  if (!stream.locked) stream.cancel().catch(() => {});
}

function checkModel(value: unknown): AiSdkModel {
  const model = value as Partial<AiSdkModel> | null | undefined;
  if (typeof model === 'string')
    throw new ConfigError(
      'CONFIG_INVALID',
      `model of ${WHERE} must be a model object, like openai('gpt-6-luna'), not its name.`,
    );
  if (typeof model?.doStream !== 'function')
    throw new ConfigError('CONFIG_INVALID', `model of ${WHERE} must be a language model of the AI SDK.`);
  const { specificationVersion } = model;
  if ((AI_SDK_VERSIONS as readonly unknown[]).includes(specificationVersion)) return model as AiSdkModel;
  throw new ConfigError(
    'CONFIG_INVALID',
    `model of ${WHERE} must have one of the specification versions ${AI_SDK_VERSIONS.join(', ')}: take another version of its package.`,
  );
}
