import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { complaintAbout } from '../../../src/engines/tools/json-schema-check.js';

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[A-Z]' },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    kind: { enum: ['guest', 'host', 3] },
    fixed: { const: { a: 1 } },
    listed: { enum: [1, 2], const: 2 },
    pairs: { enum: [{ a: 1, b: [0] }], const: { b: [0], a: 1 } },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    note: { type: ['string', 'null'] },
    either: { anyOf: [{ type: 'string' }, { type: 'object', required: ['x'] }] },
    both: { allOf: [{ type: 'string' }, { minLength: 3 }] },
    friend: { $ref: '#/$defs/friend' },
    ok: { type: 'boolean' },
    one: {
      oneOf: [
        { type: 'string', maxLength: 3 },
        { type: 'string', minLength: 3 },
        { $ref: '#/$defs/a%20b~1c' },
      ],
    },
  },
  required: ['name'],
  additionalProperties: false,
  $defs: {
    friend: { type: 'object', properties: { friend: { $ref: '#/$defs/friend' } }, required: ['id'] },
    'a b/c': { type: 'integer' },
  },
};

const VALUES: unknown[] = [
  { name: 'Ada' },
  { name: 'A' },
  { name: 'Ada', listed: 1 },
  { name: 'Ada', listed: 2 },
  { name: 'ada' },
  { name: 'Adaline' },
  { name: '👋👋' },
  {},
  [],
  null,
  'Ada',
  { name: 'Ada', extra: 1 },
  ...[36, -1, 121, 1.5, '36', null].map((age) => ({ name: 'Ada', age })),
  ...[0, 0.5, 1].map((share) => ({ name: 'Ada', share })),
  ...['guest', 3, 'other', '3'].map((kind) => ({ name: 'Ada', kind })),
  ...[{ a: 1 }, { a: 2 }, null].map((fixed) => ({ name: 'Ada', fixed })),
  ...[{ a: 1, b: [0] }, { b: [0], a: 1 }, { a: 1 }, { a: 1, b: [1] }].map((pairs) => ({
    name: 'Ada',
    pairs,
  })),
  ...[['a'], [], ['a', 'b', 'c'], [1], 'a'].map((tags) => ({ name: 'Ada', tags })),
  ...[['a', 1], ['a'], [1, 1], ['a', 1, 2]].map((pair) => ({ name: 'Ada', pair })),
  ...['a', null, 1].map((note) => ({ name: 'Ada', note })),
  ...['a', { x: 1 }, {}, 1].map((either) => ({ name: 'Ada', either })),
  ...['abc', 'ab', 1].map((both) => ({ name: 'Ada', both })),
  ...[{ id: 1 }, {}, { id: 1, friend: {} }, { id: 1, friend: { id: 2 } }].map((friend) => ({
    name: 'Ada',
    friend,
  })),
  ...['a', 'abc', 'abcd', 1, 1.5].map((one) => ({ name: 'Ada', one })),
  ...[true, 'true', 0].map((ok) => ({ name: 'Ada', ok })),
];

describe('a complaint about arguments', () => {
  const validate = new Ajv2020({ strict: false }).compile(PERSON);

  it.each(VALUES.map((value) => [JSON.stringify(value), value]))(
    'is there when there is something wrong: %s',
    (_, value) => {
      expect(complaintAbout(value, PERSON) === undefined).toBe(validate(value));
    },
  );

  it.each<[unknown, RegExp]>([
    [{}, /the arguments must have "name"/],
    [{ name: 7 }, /"name" must be of type string/],
    [{ name: 'Ada', kind: 'x' }, /"kind" must be one of "guest", "host", 3/],
    [{ name: 'Ada', tags: [1] }, /item 1 of "tags" must be of type string/],
  ])('says what is wrong with %j', (value, sentence) => {
    expect(complaintAbout(value, PERSON)).toMatch(sentence);
  });

  it('knows no inherited names, and comes to an end in a schema that refers to itself', () => {
    const schema = { type: 'object', properties: { toString: { type: 'string' } }, required: ['toString'] };
    expect(complaintAbout({}, schema)).toMatch(/toString/);
    expect(complaintAbout({}, { type: 'object', $ref: '#' })).toBe('the arguments must be nested less deep');
  });

  it('looks at the whole of a value, however deep', () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? { id: 'last' } : { id: 1, friend: nested(depth - 1) };
    expect(complaintAbout({ name: 'Ada', friend: nested(5) }, PERSON)).toBeUndefined();
    expect(complaintAbout({ name: 'Ada', friend: nested(40) }, PERSON)).toBe(
      '"friend" must be nested less deep',
    );
  });
});
