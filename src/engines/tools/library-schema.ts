// The JSON Schema that a validation library gives of its own schema, and which of its fields have none.
import { ConfigError } from '../../base/errors.js';
import type { JsonObject } from '../../providers/language-model.js';
import { isObject } from './json-schema-check.js';
import type { StandardSchema } from './tool.js';

/** Stands in a JSON Schema where the library had nothing to say; its value is why. */
const GAP = 'x-no-json-schema';

const MAX_REASON_CHARS = 200;

/**
 * What the model may write, so fields with a default are optional. Undefined if the library gives no JSON Schema.
 * @throws ConfigError for a field that has none
 */
export function describeLibrarySchema(tool: string, schema: StandardSchema): unknown {
  const described = convert(tool, schema);
  const gap = findGap(described, '');
  if (gap === undefined) return described;
  const place = gap.field === '' ? '' : ` for ${gap.field}`;
  throw new ConfigError(
    'CONFIG_INVALID',
    `The parameters of the tool ${tool} have no JSON Schema${place} (${gap.reason}): use what JSON has there, such as a string that the schema converts, or pass the JSON Schema of all parameters as jsonSchema.`,
  );
}

function convert(tool: string, schema: StandardSchema): unknown {
  try {
    const { jsonSchema } = schema['~standard'];
    if (isObject(jsonSchema) && typeof jsonSchema.input === 'function')
      return jsonSchema.input({ target: 'draft-2020-12', libraryOptions: createMarkingOptions() });
    for (const method of ['toJSONSchema', 'toJsonSchema']) {
      const produce: unknown = Reflect.get(schema, method);
      if (typeof produce === 'function')
        return produce.call(schema, { io: 'input', ...createMarkingOptions() });
    }
    return undefined;
  } catch (error) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `The parameters of the tool ${tool} could not be made a JSON Schema (${toReason(error)}): pass it as jsonSchema.`,
      { cause: error },
    );
  }
}

/**
 * Libraries throw without saying where, or leave a field without a rule. With these options they mark the place. What a model cannot be told but
 * the library checks anyway, such as a refinement, is left out. Sources: the options of zod's `toJSONSchema`, of `@valibot/to-json-schema`, and of
 * ArkType's `toJsonSchema`.
 */
function createMarkingOptions() {
  let isMarked = false;
  return {
    // zod
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }: { zodSchema: object; jsonSchema: Record<string, unknown> }) {
      // A part comes before what is made of it, which throws for the same reason.
      const reason = isMarked ? undefined : whyZodThrows(zodSchema);
      if (reason === undefined) return;
      jsonSchema[GAP] = reason;
      isMarked = true;
    },
    // Valibot
    errorMode: 'ignore',
    overrideSchema: ({ jsonSchema, errors }: { jsonSchema: object; errors?: readonly string[] }) =>
      errors !== undefined && Object.keys(jsonSchema).length === 0
        ? { [GAP]: toReason(errors[0]) }
        : undefined,
    // ArkType
    fallback: {
      date: () => ({ [GAP]: 'a Date' }),
      proto: ({ proto }: { proto?: { name?: string } }) => ({ [GAP]: `an instance of ${proto?.name}` }),
      domain: ({ domain }: { domain?: string }) => ({ [GAP]: `a ${domain}` }),
      morph: baseOf,
      predicate: baseOf,
    },
  };
}

function findGap(schema: unknown, field: string): { field: string; reason: unknown } | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (GAP in schema) return { field, reason: schema[GAP] };
  for (const [word, value] of Object.entries(schema)) {
    const gap =
      word === 'properties' && isObject(value)
        ? findFirstGap(Object.entries(value), field === '' ? '' : `${field}.`)
        : findGap(value, word === 'items' || word === 'prefixItems' ? `${field}[]` : field);
    if (gap !== undefined) return gap;
  }
  return undefined;
}

function findFirstGap(members: readonly [name: string, schema: unknown][], prefix: string) {
  for (const [name, schema] of members) {
    const gap = findGap(schema, prefix + name);
    if (gap !== undefined) return gap;
  }
  return undefined;
}

/** zod 4.2 to 4.4 tell nobody which schema they could not convert; each can be asked alone. */
function whyZodThrows(schema: object): string | undefined {
  try {
    Reflect.get(schema, 'toJSONSchema')?.call(schema, { io: 'input' });
    return undefined;
  } catch (error) {
    return toReason(error);
  }
}

function toReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, MAX_REASON_CHARS);
}

function baseOf({ base }: { base: JsonObject }): JsonObject {
  return base;
}
