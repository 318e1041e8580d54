// Contract of the language stage. A provider object is an immutable recipe; nothing a call touches is shared.
import type { Logger } from '../base/log.js';
import type { ChatMessage, JsonObject, ModelToolCall } from '../contract/chat-message.js';
import type { ModelRetirement } from '../contract/model-retirement.js';
import type { ModelPrice } from '../contract/price.js';
import type { Patience } from './patience.js';
import type { Payee, Recovery, Replacement } from './remedy.js';

export type { ChatMessage, JsonObject, ModelToolCall };

/** A tool that a model may call. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, of type `object`. */
  readonly parameters: JsonObject;
}

/** Tokens that a reply cost, of text and audio together. `cachedTokens` are part of `inputTokens`. */
export interface TokenUsage {
  inputTokens: number;
  cachedTokens: number;
  /** Those of `inputTokens` that the vendor keeps for the next request, and charges for on their own; no part of the cached ones. @default 0 */
  cacheWrittenTokens?: number;
  outputTokens: number;
  /** Those of `inputTokens` that are audio. @default 0 */
  audioInputTokens?: number;
  /** Those of `cachedTokens` that are audio. @default 0 */
  cachedAudioTokens?: number;
  /** Those of `outputTokens` that are audio. @default 0 */
  audioOutputTokens?: number;
  /** True when the provider did not say, and the numbers are a guess by the length of the texts. */
  estimated?: boolean;
}

/**
 * Why a reply ended. `complete`: the model was done. `length`: its limit was reached. `filtered`: the provider held the rest back.
 * `tool-calls`: it waits for results. `interrupted`: it was aborted. From a model that was not, it says that the reply broke off, like an
 * error, and the call takes it for a failure of the model.
 */
export type ReplyEnd = 'complete' | 'length' | 'filtered' | 'interrupted' | 'tool-calls';

/** A model that calls more tools in one answer has lost its way: the answer ends there. */
export const MAX_TOOL_CALLS = 64;

export type LanguageModelEvent =
  | { type: 'text'; delta: string }
  /** Comes whole, after the text. */
  | ({ type: 'tool-call' } & ModelToolCall)
  /** Once for each request that is paid: of one that failed and was sent again, too. From a chain with the one that is paid. */
  | { type: 'usage'; usage: TokenUsage; payee?: Payee | undefined }
  /** There is progress that nobody hears: a call of a tool is being written. */
  | { type: 'working' }
  /** The request had failed and was sent again: what follows is the answer. Before the first text. */
  | ({ type: 'recovered' } & Recovery)
  /** Only from a chain: another model was asked, for the answer or for the rest of it. */
  | ({ type: 'replaced' } & Replacement)
  /** The model wants the call to end after this reply has been heard. */
  | { type: 'end-call' }
  /** Always the last event. A model may leave it out: a stream that ends without it and without an error is complete. */
  | { type: 'end'; reason: ReplyEnd };

export interface LanguageModelRequest {
  readonly callId: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | undefined;
  /** Aborted on barge-in and hang-up. The stream must then end soon, by return or throw; only `usage` and `end` may still come. */
  readonly signal: AbortSignal;
}

export interface CallOfModel {
  readonly logger: Logger;
  /** For its next words, of a model that is several. @default nobody waits */
  readonly patience?: Patience | undefined;
}

export interface LanguageModel {
  /** Lets options tell that it stands where another kind belongs. @default told by its methods, as far as they differ */
  readonly kind?: 'llm' | undefined;
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What the vendor charges for the model. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  /** The vendor stops the model: until when it is there, and what to take instead. */
  readonly retirement?: ModelRetirement | undefined;
  /** Streams one reply. @throws ProviderError while iterating; ConfigError when a setting is missing that is needed now. */
  respond(request: LanguageModelRequest): AsyncIterable<LanguageModelEvent>;
  /** The same model with what it keeps for one call, like which one of a chain serves it. @default itself */
  forCall?(call: CallOfModel): LanguageModel;
  /** Readies the connection for a request that comes soon. Returns at once and never throws. */
  warmUp?(): void;
  /** @throws ConfigError for a setting, like a key, that every reply needs and that is missing. */
  assertConfigured?(): void;
}
