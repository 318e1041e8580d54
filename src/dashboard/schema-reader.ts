// Reads untrusted JSON by the schemas of the API: a copy of what they name, and of nothing else.
import type { JsonSchema } from './json-schema.js';
import { SCHEMAS } from './schemas.js';

/** A value that is not what its schema says. The message names the field, and never shows the value. */
export class SchemaMismatch extends Error {}

const REFERENCE = '#/components/schemas/';

/**
 * The value as its schema has it. Fields that the schema does not name are left out unread: they come from a newer version, or from
 * somebody who tries. A field that is missing is null where it may be: an older version does not know it. @throws SchemaMismatch
 */
export function readAs(schema: JsonSchema, value: unknown, where = 'the body'): unknown {
  const { $ref, anyOf } = schema;
  if (typeof $ref === 'string') return readAs(SCHEMAS[$ref.slice(REFERENCE.length)] ?? {}, value, where);
  if (Array.isArray(anyOf)) return readAny(anyOf as JsonSchema[], value, where);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) mismatch(where, types.join(' or '));
  if ('const' in schema && value !== schema.const) mismatch(where, String(schema.const));
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) mismatch(where, 'one of the words known');
  if (typeof value === 'number') checkRange(schema, value, where);
  if (typeof value === 'string') checkPattern(schema, value, where);
  if (Array.isArray(value)) return readItems(schema, value, where);
  return typeof value === 'object' && value !== null ? readMembers(schema, value, where) : value;
}

function readAny(schemas: readonly JsonSchema[], value: unknown, where: string): unknown {
  const fitting = schemas.find((schema) => schema.type !== 'null') ?? {};
  if (value === null && schemas.some((schema) => schema.type === 'null')) return null;
  return readAs(fitting, value, where);
}

function readItems(schema: JsonSchema, values: readonly unknown[], where: string): unknown[] {
  const { items, maxItems } = schema;
  if (typeof maxItems === 'number' && values.length > maxItems) mismatch(where, `at most ${maxItems} items`);
  return values.map((value, index) => readAs((items ?? {}) as JsonSchema, value, `${where}[${index}]`));
}

function readMembers(schema: JsonSchema, value: object, where: string): object {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, JsonSchema>>;
    required?: readonly string[];
  };
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const unknown = missing.find((name) => !isNullable(properties[name] ?? {}));
  if (unknown !== undefined) mismatch(`${where}.${unknown}`, 'there');
  const known = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries([
    ...known.map(([name, member]) => [name, readAs(member, Reflect.get(value, name), `${where}.${name}`)]),
    ...missing.map((name) => [name, null]),
  ]);
}

function isNullable({ type, anyOf }: JsonSchema): boolean {
  return [type, ...(Array.isArray(anyOf) ? anyOf.map((each: JsonSchema) => each.type) : [])]
    .flat()
    .includes('null');
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      // JSON can say 1e999, which no sum survives.
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function checkRange({ minimum, maximum }: JsonSchema, value: number, where: string): void {
  const isLow = typeof minimum === 'number' && value < minimum;
  const isHigh = typeof maximum === 'number' && value > maximum;
  if (isLow || isHigh) mismatch(where, 'in its range');
}

function checkPattern({ pattern }: JsonSchema, value: string, where: string): void {
  if (typeof pattern === 'string' && !new RegExp(pattern).test(value)) mismatch(where, 'of the right form');
}

function mismatch(where: string, expectation: string): never {
  throw new SchemaMismatch(`${where} must be ${expectation}.`);
}
