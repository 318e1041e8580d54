// What a JSON Schema may say that the check of arguments enforces. Anything else is refused when the agent is made: a rule that nobody
// enforces is none.
import type { JsonObject } from '../../providers/language-model.js';
import { findReferred, isObject, MAX_DEPTH } from './json-schema-check.js';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** What the value of a word must be, and whether it is. */
type Rule = readonly [what: string, isMet: (value: unknown, root: JsonObject) => boolean];

const ANY: Rule = ['any JSON', () => true];
const COUNT: Rule = ['a whole number', (value) => Number.isInteger(value) && Number(value) >= 0];
const NUMBER: Rule = ['a number', Number.isFinite];
const SCHEMA: Rule = ['a schema', isSchema];
const SCHEMAS: Rule = ['a list of schemas', (value) => isListOf(value, isSchema) && value.length > 0];
const SCHEMAS_BY_NAME: Rule = [
  'schemas by name',
  (value) => isObject(value) && Object.values(value).every(isSchema),
];

const isType = (value: unknown) => TYPES.some((type) => type === value);
const isText = (value: unknown) => typeof value === 'string';

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'type',
    [
      `${TYPES.join(', ')}, or a list of these`,
      (value) => isType(value) || (isListOf(value, isType) && value.length > 0),
    ],
  ],
  ['enum', ['a list', (value) => isListOf(value, () => true)]],
  ['const', ANY],
  ['properties', SCHEMAS_BY_NAME],
  ['required', ['a list of names', (value) => isListOf(value, isText)]],
  ['additionalProperties', SCHEMA],
  ['items', SCHEMA],
  ['prefixItems', SCHEMAS],
  ['minItems', COUNT],
  ['maxItems', COUNT],
  ['minLength', COUNT],
  ['maxLength', COUNT],
  ['pattern', ['a regular expression that JavaScript reads with the flag u', isPattern]],
  ['minimum', NUMBER],
  ['maximum', NUMBER],
  ['exclusiveMinimum', NUMBER],
  ['exclusiveMaximum', NUMBER],
  ['anyOf', SCHEMAS],
  ['oneOf', SCHEMAS],
  ['allOf', SCHEMAS],
  [
    '$ref',
    ['a place in the same schema, like #/$defs/day', (value, root) => isSchema(findReferred(root, value))],
  ],
  ['$defs', SCHEMAS_BY_NAME],
  ['definitions', SCHEMAS_BY_NAME],
  // These describe, and forbid nothing.
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'].map(annotation),
  ...['$schema', '$id', '$comment'].map(annotation),
]);

/**
 * The first word that the check of arguments does not enforce, or whose value it cannot read, as a sentence without its subject; undefined
 * when there is none. Names that begin with `x-` are nobody's rules.
 */
export function findUnenforced(schema: JsonObject): string | undefined {
  return unenforcedIn(schema, { root: schema, path: [], seen: new Set() });
}

function unenforcedIn(
  schema: unknown,
  at: { readonly root: JsonObject; readonly path: readonly string[]; readonly seen: Set<JsonObject> },
): string | undefined {
  const { root, path, seen } = at;
  // What refers to itself is read once.
  if (!isObject(schema) || seen.has(schema)) return undefined;
  seen.add(schema);
  if (path.length > 2 * MAX_DEPTH) return `nest more than ${MAX_DEPTH} schemas deep`;
  const place = path.length === 0 ? '' : ` at ${path.join('.')}`;
  for (const [word, value] of Object.entries(schema)) {
    if (word.startsWith('x-')) continue;
    const rule = RULES.get(word);
    if (rule === undefined)
      return `use ${JSON.stringify(word)}${place}, which is not enforced: say it in description, check it in execute, or pass a schema of zod, Valibot or ArkType`;
    const [what, isMet] = rule;
    if (!isMet(value, root)) return `have a ${word}${place} that must be ${what}`;
    // It may lead to a place where nothing else looks for rules.
    const inners = word === '$ref' ? [[[], findReferred(root, value)] as const] : innerSchemas(rule, value);
    for (const [step, inner] of inners) {
      const found = unenforcedIn(inner, { root, path: [...path, word, ...step], seen });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function innerSchemas(rule: Rule, value: unknown): [step: string[], schema: unknown][] {
  if (rule === SCHEMA) return [[[], value]];
  if (rule !== SCHEMAS && rule !== SCHEMAS_BY_NAME) return [];
  return Object.entries(value as object).map(([step, schema]) => [[step], schema]);
}

function annotation(word: string): [string, Rule] {
  return [word, ANY];
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isObject(value);
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isItem);
}
