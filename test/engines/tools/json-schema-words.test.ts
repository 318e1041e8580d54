import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { findUnenforced } from '../../../src/engines/tools/json-schema-words.js';
import { refusal } from '../../options/refusal.js';

const property = (schema: unknown) => ({ type: 'object', properties: { day: schema } });

describe('a JSON Schema of arguments', () => {
  it.each<[string, unknown]>([
    ['format', 'date'],
    ['not', { const: 'Sunday' }],
    ['if', { const: 'Sunday' }],
    ['then', false],
    ['else', true],
    ['dependentRequired', { a: ['b'] }],
    ['dependentSchemas', { a: {} }],
    ['contains', {}],
    ['minContains', 1],
    ['uniqueItems', true],
    ['multipleOf', 5],
    ['patternProperties', { '^x': {} }],
    ['propertyNames', { maxLength: 3 }],
    ['minProperties', 1],
    ['maxProperties', 1],
    ['unevaluatedProperties', false],
    ['unevaluatedItems', false],
    ['contentEncoding', 'base64'],
    ['$anchor', 'day'],
    ['$dynamicRef', '#day'],
    ['nullable', true],
    ['minLenght', 1],
  ])('may not have %s, which nobody enforces', (word, value) => {
    expect(findUnenforced(property({ [word]: value }))).toMatch(
      `use "${word}" at properties.day, which is not enforced`,
    );
  });

  it.each<[string, object, string]>([
    ['items', { items: { format: 'date' } }, 'items'],
    ['prefixItems', { prefixItems: [{}, { format: 'date' }] }, 'prefixItems.1'],
    ['additionalProperties', { additionalProperties: { format: 'date' } }, 'additionalProperties'],
    ['anyOf', { anyOf: [{ format: 'date' }] }, 'anyOf.0'],
    ['$defs', { $defs: { day: { format: 'date' } } }, '$defs.day'],
    ['properties', { properties: { format: { format: 'date' } } }, 'properties.format'],
    [
      'what a $ref leads to',
      { 'x-days': { day: { format: 'date' } }, properties: { on: { $ref: '#/x-days/day' } } },
      'properties.on.$ref',
    ],
    [
      'what a $ref leads to in words that only describe',
      {
        examples: [{ anyOf: [{ format: 'date' }, { $ref: '#/examples/0' }] }],
        items: { $ref: '#/examples/0' },
      },
      'items.$ref.anyOf.0',
    ],
  ])('may not have it in %s, either', (_, schema, place) => {
    expect(findUnenforced({ type: 'object', ...schema })).toMatch(`use "format" at ${place},`);
  });

  it.each<[string, unknown]>([
    ['type', 'text'],
    ['type', ['string', 'text']],
    ['type', null],
    ['type', []],
    ['enum', 'Monday'],
    ['required', 'day'],
    ['required', [1]],
    ['properties', []],
    ['properties', { day: 'string' }],
    ['items', [{}]],
    ['anyOf', []],
    ['allOf', [1]],
    ['minLength', -1],
    ['maxItems', '3'],
    ['minimum', Number.NaN],
    ['exclusiveMinimum', true],
    ['pattern', '('],
    ['$ref', '#/$defs/nowhere'],
    ['$ref', '#day'],
    ['$ref', 'https://example.com/day.json'],
  ])('may not have the %s %j, which nobody can read', (word, value) => {
    expect(findUnenforced(property({ [word]: value }))).toMatch(
      `have a ${word} at properties.day that must be`,
    );
  });

  it('may have what is enforced, what describes, and names of its own', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'booking',
      type: 'object',
      title: 'Booking',
      properties: {
        format: { type: ['string', 'null'], description: 'Of the ticket.', examples: ['A5'], default: 'A4' },
        day: { $ref: '#/$defs/day' },
        seats: { type: 'integer', minimum: 1, exclusiveMaximum: 9, 'x-unit': 'seats' },
        rows: { type: 'array', prefixItems: [true], items: false, minItems: 1, maxItems: 2 },
        any: {},
      },
      required: ['day'],
      additionalProperties: false,
      $defs: { day: { anyOf: [{ enum: ['today'] }, { const: 1 }, { pattern: '^\\p{L}+$', minLength: 3 }] } },
    };
    expect(findUnenforced(schema)).toBeUndefined();
  });

  it('may not nest without end', () => {
    let schema: object = {};
    for (let depth = 0; depth < 100; depth += 1) schema = { type: 'array', items: schema };
    expect(findUnenforced(property(schema))).toMatch(/nest more than/);
  });

  it('is refused when the agent is made, by the name of its tool', () => {
    const tool = { name: 'book', description: 'Books.', execute: () => 'ok' };
    const parameters = property({ type: 'string', format: 'date' });
    const { code, message } = refusal(() => createAgentTools([{ ...tool, parameters }]));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toBe(
      'The parameters of the tool book use "format" at properties.day, which is not enforced: say it in description, check it in execute, or pass a schema of zod, Valibot or ArkType.',
    );
    expect(refusal(() => createAgentTools([{ ...tool, jsonSchema: parameters }])).message).toBe(message);
  });

  it('may have every word where a library enforces it', () => {
    const validate = (value: unknown) => ({ value });
    const parameters = { '~standard': { version: 1, vendor: 'any', validate } };
    const jsonSchema = property({ type: 'string', format: 'date' });
    const [tool] = createAgentTools([
      { name: 'book', description: 'Books.', execute: () => 'ok', parameters, jsonSchema },
    ]);
    expect(tool?.definition.parameters).toEqual(jsonSchema);
  });
});
