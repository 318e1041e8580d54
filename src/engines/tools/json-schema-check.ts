// Says what is wrong with a value by its JSON Schema, in a sentence that a model can act on.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../providers/language-model.js';

/** Values nest no deeper than this, and nor do schemas. */
export const MAX_DEPTH = 32;

/** Longest text that is compared with a pattern, whose effort nobody knows. */
const MAX_PATTERN_CHARS = 256;

/** A value from a model is quoted no longer than this. */
const SHOWN_CHARS = 60;

/**
 * The first complaint about `value`, undefined when there is none. Enforces the words that `findUnenforced` lets pass; others complain of
 * nothing. Source: JSON Schema 2020-12, validation vocabulary.
 */
export function complaintAbout(value: unknown, schema: JsonObject): string | undefined {
  return new Check(schema).of(value, schema, 'the arguments', 0);
}

class Check {
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  of(value: unknown, schema: unknown, where: string, depth: number): string | undefined {
    if (schema === false) return `${where} must not be there`;
    if (!isObject(schema)) return undefined;
    if (depth > MAX_DEPTH) return `${where} must be nested less deep`;
    const referred = findReferred(this.#root, schema.$ref);
    return (
      (referred === undefined ? undefined : this.of(value, referred, where, depth + 1)) ??
      checkType(value, schema, where) ??
      checkScalar(value, schema, where) ??
      this.#members(value, schema, where, depth) ??
      this.#items(value, schema, where, depth) ??
      this.#branches(value, schema, where, depth)
    );
  }

  #members(value: unknown, schema: JsonObject, where: string, depth: number): string | undefined {
    if (!isObject(value)) return undefined;
    const properties = isObject(schema.properties) ? schema.properties : {};
    const missing = toList(schema.required).find((name) => !Object.hasOwn(value, String(name)));
    if (missing !== undefined) return `${where} must have ${shown(missing)}`;
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name);
      if (!known && schema.additionalProperties === false) return `${where} must not have ${shown(name)}`;
      const rule = known ? properties[name] : schema.additionalProperties;
      const complaint = this.of(member, rule, shown(name), depth + 1);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  }

  #items(value: unknown, schema: JsonObject, where: string, depth: number): string | undefined {
    if (!Array.isArray(value)) return undefined;
    if (isBelow(value.length, schema.minItems)) return `${where} must have ${schema.minItems} items or more`;
    if (isAbove(value.length, schema.maxItems)) return `${where} must have ${schema.maxItems} items or fewer`;
    const first = toList(schema.prefixItems);
    for (const [index, item] of value.entries()) {
      const rule = index < first.length ? first[index] : schema.items;
      const complaint = this.of(item, rule, `item ${index + 1} of ${where}`, depth + 1);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  }

  #branches(value: unknown, schema: JsonObject, where: string, depth: number): string | undefined {
    for (const part of toList(schema.allOf)) {
      const complaint = this.of(value, part, where, depth + 1);
      if (complaint !== undefined) return complaint;
    }
    for (const choices of [toList(schema.anyOf), toList(schema.oneOf)]) {
      if (choices.length === 0) continue;
      const complaints = choices.map((choice) => this.of(value, choice, where, depth + 1));
      const fitting = complaints.filter((complaint) => complaint === undefined).length;
      if (fitting === 0) return complaints[0];
      if (fitting > 1 && choices === schema.oneOf) return `${where} must fit exactly one of its alternatives`;
    }
    return undefined;
  }
}

/** What a `$ref` leads to within the schema; undefined for anything else. Source: RFC 6901, section 6. */
export function findReferred(root: JsonObject, reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    found = isThere ? Reflect.get(found as object, name) : undefined;
  }
  return found;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function checkType(value: unknown, schema: JsonObject, where: string): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return undefined;
  return `${where} must be of type ${types.join(' or ')}`;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

function checkScalar(value: unknown, schema: JsonObject, where: string): string | undefined {
  for (const allowed of [schema.enum, 'const' in schema ? [schema.const] : undefined]) {
    const isThis = (one: unknown) => one === value || isDeepStrictEqual(one, value);
    if (Array.isArray(allowed) && !allowed.some(isThis))
      return `${where} must be one of ${allowed.map(shown).join(', ')}`;
  }
  if (typeof value === 'string') return checkString(value, schema, where);
  if (typeof value !== 'number') return undefined;
  if (isBelow(value, schema.minimum)) return `${where} must be ${schema.minimum} or more`;
  if (isAbove(value, schema.maximum)) return `${where} must be ${schema.maximum} or less`;
  if (typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum)
    return `${where} must be more than ${schema.exclusiveMinimum}`;
  if (typeof schema.exclusiveMaximum === 'number' && value >= schema.exclusiveMaximum)
    return `${where} must be less than ${schema.exclusiveMaximum}`;
  return undefined;
}

function checkString(value: string, schema: JsonObject, where: string): string | undefined {
  const length = Array.from(value).length;
  if (isBelow(length, schema.minLength)) return `${where} must have ${schema.minLength} characters or more`;
  if (isAbove(length, schema.maxLength)) return `${where} must have ${schema.maxLength} characters or fewer`;
  if (typeof schema.pattern !== 'string') return undefined;
  if (value.length > MAX_PATTERN_CHARS)
    return `${where} must have ${MAX_PATTERN_CHARS} characters or fewer, because it has to fit a pattern`;
  if (!new RegExp(schema.pattern, 'u').test(value)) return `${where} must fit the pattern ${schema.pattern}`;
  return undefined;
}

function isBelow(value: number, limit: unknown): boolean {
  return typeof limit === 'number' && value < limit;
}

function isAbove(value: number, limit: unknown): boolean {
  return typeof limit === 'number' && value > limit;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, SHOWN_CHARS) ?? 'undefined';
}
