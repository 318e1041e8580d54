// What a model wrote as the arguments of a tool call: as it comes from a vendor, and on its way back there in the history of the conversation.
import type { JsonObject, ModelToolCall } from '../language-model.js';
import { parseObject } from './json.js';

/** The text of arguments, or of a piece of them. Some servers send the value that they stand for. Nothing, and null, is ''. */
export function textOfArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Arguments as the vendor sent them. A tool without parameters is called with nothing at all by some models. */
export function readArguments(value: unknown): Pick<ModelToolCall, 'arguments' | 'argumentsText'> {
  const text = textOfArguments(value);
  const argumentsText = text.trim() === '' ? '{}' : text;
  return { arguments: parseObject(argumentsText) ?? null, argumentsText };
}

/** Vendors require an object. Anything else is wrapped under this key, which one vendor suggests, so that the model sees what it wrote. */
export function toArgumentsObject({ arguments: args, argumentsText }: ModelToolCall): JsonObject {
  return args ?? { INVALID_JSON: argumentsText };
}

/** For dialects with arguments as text: as it was written, byte for byte, unless a server that parses it again would refuse it. */
export function toArgumentsText(call: ModelToolCall): string {
  const { arguments: args, argumentsText } = call;
  if (args === null) return JSON.stringify(toArgumentsObject(call));
  return argumentsText === '' ? '{}' : argumentsText;
}
