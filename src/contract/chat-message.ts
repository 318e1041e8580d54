// What a language model is told of a conversation, and the calls of tools that it wants to have made.

/** A JSON object, as models and tools exchange them. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A tool call that a model asks for. */
export interface ModelToolCall {
  /** Unique in the conversation. The result refers to it. */
  readonly id: string;
  readonly name: string;
  /** Null if the model wrote something other than a JSON object. The result of such a call must say so. */
  readonly arguments: JsonObject | null;
  /** The arguments as the model wrote them. The history keeps them byte for byte. */
  readonly argumentsText: string;
}

/**
 * One message of the conversation. `assistant` texts are what the caller heard. An assistant message with `toolCalls` is followed by
 * one `tool` message for each of them, also for a call that failed or was given up.
 */
export type ChatMessage =
  | { role: 'user'; content: string }
  /** `isNote`: the application told it in the middle of the call, with `phone.inform`. */
  | { role: 'system'; content: string; isNote?: true }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string };
