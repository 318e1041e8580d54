// Contract of the language stage. A provider object is an immutable recipe; nothing a call touches is shared.

/** One message of the conversation. `assistant` texts are what the caller heard. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** Tokens that a reply cost. */
export interface TokenUsage {
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

export type LanguageModelEvent =
  | { type: 'text'; delta: string }
  | { type: 'usage'; usage: TokenUsage }
  /** The model wants the call to end after this reply has been heard. */
  | { type: 'end-call' };

export interface LanguageModelRequest {
  readonly callId: string;
  readonly messages: readonly ChatMessage[];
  /** Aborted on barge-in and hang-up. The stream must then end soon, by return or throw. */
  readonly signal: AbortSignal;
}

export interface LanguageModel {
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** Streams one reply. @throws ProviderError while iterating. */
  respond(request: LanguageModelRequest): AsyncIterable<LanguageModelEvent>;
}
