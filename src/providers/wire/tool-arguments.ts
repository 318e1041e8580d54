// What a model once wrote as the arguments of a tool call, on its way back to a vendor in the history of the conversation.
import type { JsonObject, ModelToolCall } from '../language-model.js';

/** Vendors want an object. What is none goes under this name, which one of them proposes, so that the model sees what it wrote. */
export function toArgumentsObject({ arguments: args, argumentsText }: ModelToolCall): JsonObject {
  return args ?? { INVALID_JSON: argumentsText };
}

/** For dialects with arguments as text: as it was written, byte for byte, unless a server that parses it again would refuse it. */
export function toArgumentsText(call: ModelToolCall): string {
  const { arguments: args, argumentsText } = call;
  if (args === null) return JSON.stringify(toArgumentsObject(call));
  return argumentsText === '' ? '{}' : argumentsText;
}
