// What the tables of the API are written with: JSON Schemas, as the OpenAPI document carries them.

export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema of `components.schemas`, by its name. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
