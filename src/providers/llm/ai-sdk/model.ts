// The part of an AI SDK language model that we use, written down by its shape: the package itself is not needed.
// Source: AI SDK, language model specification v2, v3 and v4.

export const AI_SDK_VERSIONS = ['v2', 'v3', 'v4'] as const;

/** What one request asks for. */
export interface AiSdkCall {
  readonly prompt: readonly object[];
  readonly tools?: readonly object[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly abortSignal?: AbortSignal;
}

/** A language model as providers of the AI SDK make it, like `openai('gpt-6-luna')`. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  /** The vendor, like `openai.chat`. */
  readonly provider: string;
  readonly modelId: string;
  doStream(call: never): PromiseLike<{ stream: ReadableStream<unknown> }>;
}
