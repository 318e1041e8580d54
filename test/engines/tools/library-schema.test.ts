// What real libraries give as the JSON Schema of their schemas, and what becomes of a field that has none.
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { refusal } from '../../options/refusal.js';

const create = (parameters: unknown) =>
  createAgentTools([{ name: 'book', description: 'Books.', execute: () => 'ok', parameters }])[0];

const recursive = z.object({
  name: z.string(),
  get parts() {
    return z.array(recursive);
  },
  at: z.date(),
});

const withoutTypes = (more: object) => ({
  '~standard': { validate: (value: unknown) => ({ value }) },
  ...more,
});

describe('a schema of a library', () => {
  it('is refused with the tool, the field and what to do', () => {
    const { code, message } = refusal(() => create(z.object({ seats: z.number(), day: z.date() })));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toBe(
      'The parameters of the tool book have no JSON Schema for day (Date cannot be represented in JSON Schema): use what JSON has there, such as a string that the schema converts, or pass the JSON Schema of all parameters as jsonSchema.',
    );
  });

  it.each<[string, string, unknown]>([
    ['zod: within a list', 'days[].at', z.object({ days: z.array(z.object({ at: z.date().nullable() })) })],
    ['zod: optional', 'stay.until', z.object({ stay: z.object({ until: z.date().optional() }) })],
    ['zod: one of several', 'day', z.object({ day: z.union([z.string(), z.date()]) })],
    ['zod: of a tuple', 'pair[]', z.object({ pair: z.tuple([z.string(), z.date()]) })],
    ['zod: by any name', 'days', z.object({ days: z.record(z.string(), z.date()) })],
    ['zod: beside a recursion', 'at', recursive],
    ['zod: converted', 'day', z.object({ day: z.coerce.date() })],
    ['zod: a value that JSON lacks', 'count', z.object({ count: z.literal(1n) })],
    ['zod: a class', 'site', z.object({ site: z.instanceof(URL) })],
    [
      'Valibot',
      'days[].at',
      toStandardJsonSchema(v.object({ days: v.array(v.object({ at: v.nullable(v.date()) })) })),
    ],
    [
      'Valibot: with a rule',
      'at',
      toStandardJsonSchema(v.object({ at: v.pipe(v.date(), v.minValue(new Date(0))) })),
    ],
    ['ArkType', 'days[].at', type({ days: [{ at: 'Date | null' }, '[]'] })],
    ['ArkType: a class', 'names', type({ names: 'Map' })],
    ['ArkType: a bigint', 'count', type({ count: 'bigint' })],
  ])('is refused where it cannot be told to a model: %s', (_, field, schema) => {
    const { code, message } = refusal(() => create(schema));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(`The parameters of the tool book have no JSON Schema for ${field} (`);
  });

  it('is refused as a whole where it is no object at all', () => {
    expect(refusal(() => create(z.date())).message).toContain('the tool book have no JSON Schema (Date');
  });

  it('is refused with what its library threw', () => {
    const toJSONSchema = () => {
      throw new Error('no\n  such thing.');
    };
    const { code, message } = refusal(() => create(withoutTypes({ toJSONSchema })));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toBe(
      'The parameters of the tool book could not be made a JSON Schema (no such thing): pass it as jsonSchema.',
    );
  });

  it('is asked for what may be written also by a method of its own', () => {
    const asked: unknown[] = [];
    const toJSONSchema = (options: unknown) => {
      asked.push(options);
      return { type: 'object' };
    };
    create(withoutTypes({ toJSONSchema }));
    expect(asked).toEqual([expect.objectContaining({ io: 'input' })]);
    const schema = type({
      at: 'string.lower',
      even: type('number').narrow((count) => count % 2 === 0),
    });
    expect(() => schema.toJsonSchema()).toThrow();
    const toJsonSchema = (options: object) => schema.toJsonSchema(options);
    expect(create(withoutTypes({ toJsonSchema }))?.definition.parameters.properties).toEqual({
      at: { type: 'string' },
      even: { type: 'number' },
    });
  });

  it.each<[string, unknown]>([
    [
      'zod',
      z.object({
        day: z.string().transform((text) => new Date(text)),
        seats: z.number().default(2),
        name: z.string().refine((text) => text !== 'Bob'),
        any: z.unknown(),
      }),
    ],
    [
      'Valibot',
      toStandardJsonSchema(
        v.object({
          day: v.pipe(
            v.string(),
            v.transform((text) => new Date(text)),
          ),
          seats: v.optional(v.number(), 2),
          name: v.pipe(
            v.string(),
            v.check((text) => text !== 'Bob'),
          ),
          any: v.unknown(),
        }),
      ),
    ],
    [
      'ArkType',
      type({
        day: type('string').pipe((text) => new Date(text)),
        seats: 'number = 2',
        name: type('string').narrow((text) => text !== 'Bob'),
        any: 'unknown',
      }),
    ],
  ])('tells what the model may write, and leaves out what only the library checks: %s', async (_, schema) => {
    const tool = create(schema);
    const { required, ...rest } = tool?.definition.parameters ?? {};
    expect(rest).toMatchObject({
      type: 'object',
      properties: {
        day: { type: 'string' },
        seats: { type: 'number' },
        name: { type: 'string' },
        any: {},
      },
    });
    expect(new Set(required as string[])).toEqual(new Set(['day', 'name', 'any']));
    const args = { day: '2026-12-24', name: 'Ann', any: 1 };
    expect(await tool?.check(args)).toEqual({ value: { ...args, seats: 2, day: new Date('2026-12-24') } });
    expect(await tool?.check({ ...args, name: 'Bob' })).toEqual({ complaint: expect.any(String) });
  });

  it('may have a default that JSON lacks', async () => {
    for (const schema of [
      z.object({ limit: z.number().default(Number.POSITIVE_INFINITY) }),
      toStandardJsonSchema(v.object({ limit: v.optional(v.number(), Number.POSITIVE_INFINITY) })),
      type({ limit: ['number', '=', Number.POSITIVE_INFINITY] }),
    ]) {
      const tool = create(schema);
      expect(tool?.definition.parameters.properties).toMatchObject({ limit: { type: 'number' } });
      expect(await tool?.check({})).toEqual({ value: { limit: Number.POSITIVE_INFINITY } });
    }
  });

  it('may have any field if its JSON Schema is given', async () => {
    const jsonSchema = {
      type: 'object',
      properties: { day: { type: 'string', format: 'date' } },
      required: ['day'],
    };
    const [tool] = createAgentTools([
      {
        name: 'book',
        description: 'Books.',
        execute: () => 'ok',
        parameters: z.object({ day: z.coerce.date() }),
        jsonSchema,
      },
    ]);
    expect(tool?.definition.parameters).toEqual(jsonSchema);
    expect(await tool?.check({ day: '2026-12-24' })).toEqual({ value: { day: new Date('2026-12-24') } });
  });
});
