// A tool whose arguments have the type that its parameters say.
import type { JsonObject } from '../../providers/language-model.js';
import type { ObjectOf } from './json-schema-type.js';
import type { StandardSchema, Tool, ToolContext } from './tool.js';

/** What `execute` gets of `parameters`: what a library makes of the arguments, or what fits the JSON Schema. */
export type ToolArguments<P> = P extends StandardSchema
  ? OutputOf<P>
  : P extends undefined
    ? Record<never, never>
    : ObjectOf<P>;

type OutputOf<P> = P extends {
  readonly '~standard': { readonly types?: { readonly output: infer O } | undefined };
}
  ? unknown extends O
    ? JsonObject
    : O
  : JsonObject;

/** A `Tool` with typed arguments. */
export interface TypedTool<P extends Tool['parameters']> extends Omit<Tool, 'parameters' | 'execute'> {
  /** The arguments: a JSON Schema of type `object`, or a schema of a library, like `z.object(...)`. @default none */
  parameters?: P;
  /** Does it, with arguments of the type that `parameters` say. Else as of `Tool`. */
  execute?(args: ToolArguments<P>, context: ToolContext): unknown;
}

/**
 * The same tool, with the arguments of `execute` typed by `parameters`: a schema of a library, or a JSON Schema that is written here. One that stands
 * elsewhere needs `as const`.
 */
export function tool<const P extends Tool['parameters'] = undefined>(given: TypedTool<P>): Tool {
  return given as Tool;
}
