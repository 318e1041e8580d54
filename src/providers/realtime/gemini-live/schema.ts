// Parameters of tools in the subset of JSON Schema that the service has. What lies beyond it is refused there, or makes the model call
// without arguments, so it is left out or said in words. Source: Google, Schema in the API reference.
import { type Json, toArray, toObject, toText } from '../../wire/json.js';

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
const NUMBERS = ['minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength'];
/** A schema that refers to itself has no end. */
const MAX_DEPTH = 8;

/** Undefined for a tool that takes nothing. */
export function toParameters(schema: Json): Json | undefined {
  const converted = convert(schema, schema, 0);
  return Object.keys(toObject(converted.properties) ?? {}).length === 0 ? undefined : converted;
}

function convert(value: unknown, root: Json, depth: number): Json {
  const schema = resolve(toObject(value) ?? {}, root);
  if (depth > MAX_DEPTH) return { type: 'OBJECT' };
  const next = (part: unknown) => convert(part, root, depth + 1);
  const choices = [...toArray(schema.anyOf), ...toArray(schema.oneOf)];
  const kinds = typesOf(schema);
  const variants = choices.filter((choice) => toObject(choice)?.type !== 'null');
  const isNullable = kinds.includes('null') || variants.length < choices.length;
  const [only] = variants;
  const own = {
    ...(isNullable ? { nullable: true } : {}),
    ...toDescription(schema),
  };
  if (only !== undefined && variants.length === 1) return { ...next(only), ...own };
  if (only !== undefined) return { anyOf: variants.map(next), ...own };
  const type = kinds.find((kind) => TYPES.has(kind)) ?? 'string';
  return { type: type.toUpperCase(), ...own, ...toLimits(schema, type), ...toContents(schema, type, next) };
}

function toContents(schema: Json, type: string, next: (part: unknown) => Json): Json {
  if (type === 'array') return { items: next(schema.items) };
  const properties = toObject(schema.properties);
  if (type !== 'object' || properties === undefined) return {};
  const entries = Object.entries(properties);
  const required = toArray(schema.required).filter((name) => entries.some(([known]) => known === name));
  return {
    properties: Object.fromEntries(entries.map(([name, part]) => [name, next(part)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function toLimits(schema: Json, type: string): Json {
  const numbers = NUMBERS.filter((name) => typeof schema[name] === 'number');
  const values = valuesOf(schema);
  const isNamed =
    type === 'string' && values.length > 0 && values.every((value) => typeof value === 'string');
  return {
    ...Object.fromEntries(numbers.map((name) => [name, schema[name]])),
    ...(isNamed ? { enum: values } : {}),
  };
}

/** Values other than texts cannot be listed. */
function toDescription(schema: Json): Json {
  const values = valuesOf(schema).filter((value) => typeof value !== 'string' && value !== null);
  const list =
    values.length === 0 ? '' : `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  const description = [toText(schema.description), list].filter((part) => part !== '').join(' ');
  return description === '' ? {} : { description };
}

function valuesOf(schema: Json): readonly unknown[] {
  return schema.const === undefined ? toArray(schema.enum) : [schema.const];
}

function typesOf(schema: Json): string[] {
  const types = Array.isArray(schema.type) ? schema.type.map(toText) : [toText(schema.type)];
  if (types.some((type) => TYPES.has(type))) return types;
  if (schema.properties !== undefined) return ['object', ...types];
  return schema.items === undefined ? types : ['array', ...types];
}

/** The schema that a reference within the document names, and all of several at once. */
function resolve(schema: Json, root: Json, depth = 0): Json {
  if (depth > MAX_DEPTH) return {};
  const { $ref: reference, allOf, ...rest } = schema;
  const parts = [...toArray(allOf), ...(typeof reference === 'string' ? [find(reference, root)] : [])];
  if (parts.length === 0) return schema;
  return parts.reduce<Json>(
    (merged, part) => merge(resolve(toObject(part) ?? {}, root, depth + 1), merged),
    rest,
  );
}

function merge(part: Json, over: Json): Json {
  const properties = { ...toObject(part.properties), ...toObject(over.properties) };
  const required = [...toArray(part.required), ...toArray(over.required)];
  return {
    ...part,
    ...over,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function find(reference: string, root: Json): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return names.reduce<unknown>((value, name) => toObject(value)?.[name], root);
}
