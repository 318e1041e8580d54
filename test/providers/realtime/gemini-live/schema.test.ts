import { describe, expect, it } from 'vitest';
import { toParameters } from '../../../../src/providers/realtime/gemini-live/schema.js';

/** The schema of one parameter, converted. */
function convert(schema: object, definitions: object = {}): unknown {
  const whole = { type: 'object', properties: { it: schema }, ...definitions };
  return Reflect.get(toParameters(whole)?.properties ?? {}, 'it');
}

describe('parameters of a tool', () => {
  it('are none where it takes nothing', () => {
    expect(toParameters({ type: 'object' })).toBeUndefined();
    expect(toParameters({ type: 'object', properties: {} })).toBeUndefined();
  });

  it('lose what the service does not know', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { day: { type: 'string', description: 'Which day', default: 'today', format: 'uuid' } },
      required: ['day', 'gone'],
      additionalProperties: false,
    };
    expect(toParameters(schema)).toEqual({
      type: 'OBJECT',
      properties: { day: { type: 'STRING', description: 'Which day' } },
      required: ['day'],
    });
  });

  it.each<[string, object, object]>([
    ['a choice of texts', { type: 'string', enum: ['a', 'b'] }, { type: 'STRING', enum: ['a', 'b'] }],
    [
      'a choice of numbers, in words',
      { type: 'integer', enum: [1, 2] },
      { type: 'INTEGER', description: 'One of: 1, 2.' },
    ],
    ['one text', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['limits', { type: 'number', minimum: 1, multipleOf: 2 }, { type: 'NUMBER', minimum: 1 }],
    ['nothing as one of two types', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'nothing as one of two schemas',
      { anyOf: [{ type: 'number' }, { type: 'null' }] },
      { type: 'NUMBER', nullable: true },
    ],
    [
      'several schemas',
      { oneOf: [{ type: 'number' }, { type: 'string' }] },
      { anyOf: [{ type: 'NUMBER' }, { type: 'STRING' }] },
    ],
    ['a list', { type: 'array', items: { type: 'boolean' } }, { type: 'ARRAY', items: { type: 'BOOLEAN' } }],
    ['a list of anything', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }],
    [
      'an object that does not say so',
      { properties: { a: {} } },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    ],
    [
      'all of several',
      { allOf: [{ type: 'object', properties: { a: {} } }, { properties: { b: {} } }] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } } },
    ],
  ])('may be %s', (_, schema, expected) => {
    expect(convert(schema)).toEqual(expected);
  });

  it('are found where they are referred to, and end where they refer to themselves', () => {
    const $defs = { day: { type: 'string' }, tree: { properties: { child: { $ref: '#/$defs/tree' } } } };
    expect(convert({ $ref: '#/$defs/day', description: 'When' }, { $defs })).toEqual({
      type: 'STRING',
      description: 'When',
    });
    expect(JSON.stringify(convert({ $ref: '#/$defs/tree' }, { $defs }))).toMatch(/"child":{"type":"OBJECT"}/);
    expect(convert({ $ref: '#/$defs/gone' }, { $defs })).toEqual({ type: 'STRING' });
    const loop = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } };
    expect(convert({ $ref: '#/$defs/a' }, { $defs: loop })).toEqual({ type: 'STRING' });
  });
});
