// Types are checked where `tsc` compiles this file; that the check of arguments is of the same opinion, where it runs.
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { complaintAbout } from '../../../src/engines/tools/json-schema-check.js';
import { findUnenforced } from '../../../src/engines/tools/json-schema-words.js';
import type { StandardSchema, Tool, ToolContext } from '../../../src/engines/tools/tool.js';
import { type ToolArguments, tool } from '../../../src/engines/tools/typed-tool.js';
import type { JsonObject } from '../../../src/providers/language-model.js';
import { A_CALL } from '../a-call.js';

const BASE = { name: 'book', description: 'Books.' };

/** A schema, and arguments that have its type: those that do not are written below a `@ts-expect-error`. */
function argumentsOf<const S extends JsonObject>(schema: S) {
  expect(findUnenforced(schema)).toBeUndefined();
  return {
    accept: (...all: ToolArguments<S>[]) => {
      for (const args of all) expect(complaintAbout(args, schema)).toBeUndefined();
    },
    refuse: (args: ToolArguments<S>) => expect(complaintAbout(args, schema)).toEqual(expect.any(String)),
  };
}

/** The type alone. */
function typeOf<const S extends Tool['parameters']>(_: S): ToolArguments<S> {
  return undefined as never;
}

describe('arguments by a JSON Schema that is written in place', () => {
  it('are required or optional', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        day: { type: 'string' },
        seats: { type: 'integer', default: 2 },
        isSure: { type: 'boolean' },
      },
      required: ['day', 'isSure'],
    });
    accept({ day: 'Friday', isSure: true }, { day: 'Friday', isSure: false, seats: 3 });
    // @ts-expect-error
    refuse({ day: 'Friday' });
    // @ts-expect-error
    refuse({ day: 5, isSure: true });
    // @ts-expect-error
    refuse({ day: 'Friday', isSure: true, seats: 'two' });
  });

  it('have a type that is one object, which a program may change', () => {
    const args = typeOf({
      type: 'object',
      properties: { day: { type: 'string' }, seats: { type: 'number' } },
      required: ['day'],
    });
    expectTypeOf<typeof args>().toEqualTypeOf<{ day: string; seats?: number }>();
  });

  it('nest', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        guest: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
          required: ['name'],
        },
      },
      required: ['guest'],
    });
    accept({ guest: { name: 'Ann' } }, { guest: { name: 'Ann', address: { city: 'Oslo' } } });
    // @ts-expect-error
    refuse({ guest: {} });
    // @ts-expect-error
    refuse({ guest: { name: 'Ann', address: {} } });
    // @ts-expect-error
    refuse({ guest: { name: 'Ann', address: { city: 1 } } });
  });

  it('have lists', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        days: { type: 'array', items: { type: 'string' } },
        guests: { type: 'array', items: { type: 'object', properties: { age: { type: 'number' } } } },
        any: { type: 'array' },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        row: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      },
    });
    accept(
      { days: [], guests: [{}, { age: 3 }], any: [1, 'a'] },
      { pair: [] },
      { pair: ['a', 1] },
      { row: ['a', 1, 2, 3] },
    );
    // @ts-expect-error
    refuse({ days: [1] });
    // @ts-expect-error
    refuse({ days: 'Friday' });
    // @ts-expect-error
    refuse({ guests: [{ age: 'three' }] });
    // @ts-expect-error
    refuse({ pair: [1, 'a'] });
    // @ts-expect-error
    refuse({ pair: ['a', 1, 2] });
    // @ts-expect-error
    refuse({ row: ['a', 'b'] });
  });

  it('have values of a list, and one value', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        size: { enum: ['small', 'large', 3, null] },
        day: { type: 'string', enum: ['Friday', 'Saturday'] },
        kind: { const: 'table' },
        version: { type: 'integer', const: 1 },
      },
    });
    accept({ size: 'small', day: 'Friday', kind: 'table', version: 1 }, { size: null }, { size: 3 });
    // @ts-expect-error
    refuse({ size: 'medium' });
    // @ts-expect-error
    refuse({ day: 'Sunday' });
    // @ts-expect-error
    refuse({ kind: 'chair' });
    // @ts-expect-error
    refuse({ version: 2 });
  });

  it('may be null where the schema says so', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        day: { type: ['string', 'null'] },
        guest: { type: ['object', 'null'], properties: { name: { type: 'string' } }, required: ['name'] },
        seats: { type: 'number' },
        nothing: { type: 'null' },
      },
    });
    accept({ day: null, guest: null, nothing: null }, { day: 'Friday', guest: { name: 'Ann' }, seats: 2 });
    // @ts-expect-error
    refuse({ seats: null });
    // @ts-expect-error
    refuse({ day: 5 });
    // @ts-expect-error
    refuse({ guest: {} });
    // @ts-expect-error
    refuse({ nothing: 0 });
  });

  it('are one of several', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        day: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        way: {
          oneOf: [
            {
              type: 'object',
              properties: { by: { const: 'mail' }, to: { type: 'string' } },
              required: ['by', 'to'],
            },
            {
              type: 'object',
              properties: { by: { const: 'phone' }, number: { type: 'number' } },
              required: ['by'],
            },
          ],
        },
      },
    });
    accept(
      { day: null },
      { day: 'Friday', way: { by: 'mail', to: 'a' } },
      { way: { by: 'phone', number: 1 } },
    );
    // @ts-expect-error
    refuse({ day: 5 });
    // @ts-expect-error
    refuse({ way: { by: 'mail' } });
    // @ts-expect-error
    refuse({ way: { by: 'fax' } });
  });

  it('are all of several, beside what the schema itself says', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: { day: { type: 'string' } },
      required: ['day'],
      allOf: [
        { type: 'object', properties: { seats: { type: 'number' } }, required: ['seats'] },
        { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      ],
      anyOf: [{ required: ['phone'] }, { required: ['mail'] }],
    });
    const good = { day: 'Friday', seats: 2, name: 'Ann', mail: 'a' };
    accept(good);
    // @ts-expect-error
    refuse({ seats: 2, name: 'Ann', mail: 'a' });
    // @ts-expect-error
    refuse({ day: 'Friday', name: 'Ann', mail: 'a' });
    // @ts-expect-error
    refuse({ day: 'Friday', seats: 2, mail: 'a' });
  });

  it('have other names as additionalProperties says', () => {
    const closed = argumentsOf({
      type: 'object',
      properties: { day: { type: 'string' } },
      additionalProperties: false,
    });
    closed.accept({ day: 'Friday' }, {});
    // @ts-expect-error
    closed.refuse({ day: 'Friday', seats: 2 });
    const counts = argumentsOf({ type: 'object', additionalProperties: { type: 'number' } });
    counts.accept({}, { rolls: 3, cakes: 1 });
    // @ts-expect-error
    counts.refuse({ rolls: 'three' });
    const mixed = typeOf({
      type: 'object',
      properties: { day: { type: 'string' } },
      required: ['day'],
      additionalProperties: { type: 'number' },
    });
    expectTypeOf<typeof mixed.day>().toEqualTypeOf<string>();
    expectTypeOf<(typeof mixed)['rolls']>().toEqualTypeOf<number>();
    const open = typeOf({ type: 'object', additionalProperties: true });
    expectTypeOf<(typeof open)['rolls']>().toEqualTypeOf<unknown>();
    const unnamed = typeOf({ type: 'object', properties: { day: { type: 'string' } } });
    // @ts-expect-error
    expectTypeOf<(typeof unnamed)['rolls']>();
  });

  it('refer to parts of the schema, also to themselves', () => {
    const { accept, refuse } = argumentsOf({
      type: 'object',
      properties: {
        from: { $ref: '#/$defs/day' },
        to: { $ref: '#/definitions/day' },
        parts: { type: 'array', items: { $ref: '#' } },
        deep: { $ref: '#/properties/from' },
      },
      required: ['from'],
      $defs: { day: { enum: ['Friday', 'Saturday'] } },
      definitions: { day: { type: 'string' } },
    });
    accept({ from: 'Friday', to: 'any', parts: [{ from: 'Saturday', parts: [] }], deep: 'Friday' });
    // @ts-expect-error
    refuse({ from: 'Sunday' });
    // @ts-expect-error
    refuse({ from: 'Friday', to: 1 });
    // @ts-expect-error
    refuse({ from: 'Friday', parts: [{ from: 'Sunday' }] });
  });

  it('are unknown where the schema says nothing', () => {
    const args = typeOf({
      type: 'object',
      properties: {
        any: {},
        yes: true,
        short: { maxLength: 3 },
        from: { properties: { day: { type: 'string' } } },
        odd: { type: 'text' },
        deep: { $ref: '#/properties/any' },
      },
      required: ['any', 'yes', 'short', 'from', 'odd', 'deep', 'more'],
    });
    expectTypeOf<typeof args>().toEqualTypeOf<
      Record<'any' | 'yes' | 'short' | 'from' | 'odd' | 'deep' | 'more', unknown>
    >();
    const { refuse } = argumentsOf({ type: 'object', properties: { never: false } });
    // @ts-expect-error
    refuse({ never: 1 });
  });

  it('are what is known of a schema that is written elsewhere', () => {
    const schema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    expectTypeOf(typeOf(schema)).toEqualTypeOf<{ day?: unknown }>();
    const constant = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } as const;
    expectTypeOf(typeOf(constant)).toEqualTypeOf<{ day: string }>();
    expectTypeOf(typeOf(constant as JsonObject)).toEqualTypeOf<JsonObject>();
    expectTypeOf(typeOf(schema as Tool['parameters'])).toEqualTypeOf<JsonObject | Record<never, never>>();
  });
});

describe('arguments by a schema of a library', () => {
  it('are what zod makes of them', () => {
    const args = typeOf(
      z.object({
        day: z.iso.date(),
        seats: z.number().default(2),
        at: z.string().transform((text) => new Date(text)),
        guest: z.object({ name: z.string().optional(), age: z.number().nullable() }),
      }),
    );
    expectTypeOf<typeof args>().toEqualTypeOf<{
      day: string;
      seats: number;
      at: Date;
      guest: { name?: string | undefined; age: number | null };
    }>();
    // @ts-expect-error
    void (() => args.night);
  });

  it('are what Valibot makes of them', () => {
    const schema = v.object({ day: v.string(), seats: v.optional(v.number(), 2) });
    expectTypeOf(typeOf(schema)).toEqualTypeOf<{ day: string; seats: number }>();
    expectTypeOf(typeOf(toStandardJsonSchema(schema))).toEqualTypeOf<{ day: string; seats: number }>();
  });

  it('are what ArkType makes of them', () => {
    const args = typeOf(
      type({ day: "'Friday' | 'Saturday'", seats: 'number = 2', 'at?': 'string.date.parse' }),
    );
    expectTypeOf<typeof args>().toEqualTypeOf<{ day: 'Friday' | 'Saturday'; seats: number; at?: Date }>();
  });

  it('are an object where the library says no type', () => {
    expectTypeOf(typeOf({ '~standard': { validate: (value) => value } })).toEqualTypeOf<JsonObject>();
    expectTypeOf(typeOf(z.object({}) as StandardSchema)).toEqualTypeOf<JsonObject>();
  });
});

describe('a typed tool', () => {
  it('is the object that was given', () => {
    const given = { ...BASE, execute: () => 'ok' };
    const made = tool(given);
    expect(made).toBe(given);
    expectTypeOf<typeof made>().toEqualTypeOf<Tool>();
  });

  it('has typed arguments and the call in execute, wherever that stands', () => {
    tool({
      ...BASE,
      execute: async ({ day, seats }, context) => {
        expectTypeOf<typeof day>().toEqualTypeOf<'Friday' | 'Saturday'>();
        expectTypeOf<typeof seats>().toEqualTypeOf<number | undefined>();
        expectTypeOf<typeof context>().toEqualTypeOf<ToolContext>();
      },
      parameters: {
        type: 'object',
        properties: { day: { enum: ['Friday', 'Saturday'] }, seats: { type: 'number' } },
        required: ['day'],
      },
    });
    tool({
      ...BASE,
      parameters: z.object({ day: z.string() }),
      execute(args, { caller }) {
        expectTypeOf<typeof args>().toEqualTypeOf<{ day: string }>();
        expectTypeOf<typeof caller>().toEqualTypeOf<string>();
        // @ts-expect-error
        return args.night;
      },
    });
  });

  it('has no arguments without parameters', () => {
    tool({ ...BASE, execute: (_, { callId }) => callId });
    tool({ ...BASE, parameters: undefined, execute: () => 'ok' });
    // @ts-expect-error
    tool({ ...BASE, execute: ({ day }) => day });
    // @ts-expect-error
    tool({ ...BASE, parameters: { type: 'object', properties: {} }, execute: ({ day }) => day });
  });

  it('has the fields of a tool and no others', () => {
    tool({ ...BASE, url: 'https://example.com', timeoutSeconds: 5, idempotent: true });
    tool({ ...BASE, parameters: z.object({}), jsonSchema: { type: 'object' }, execute: () => 'ok' });
    // @ts-expect-error
    tool({ ...BASE, execute: () => 'ok', timeout: 5 });
    // @ts-expect-error
    tool({ name: 'book', execute: () => 'ok' });
    // @ts-expect-error
    tool({ ...BASE, parameters: 'day', execute: () => 'ok' });
  });

  it.each<[string, (seen: unknown[]) => Tool]>([
    [
      'zod',
      (seen) =>
        tool({
          ...BASE,
          parameters: z.object({ day: z.string().toUpperCase(), seats: z.number().default(2) }),
          execute: ({ day, seats }) => seen.push(day, seats),
        }),
    ],
    [
      'Valibot',
      (seen) =>
        tool({
          ...BASE,
          parameters: toStandardJsonSchema(
            v.object({ day: v.pipe(v.string(), v.toUpperCase()), seats: v.optional(v.number(), 2) }),
          ),
          execute: ({ day, seats }) => seen.push(day, seats),
        }),
    ],
    [
      'ArkType',
      (seen) =>
        tool({
          ...BASE,
          parameters: type({ day: 'string.upper', seats: 'number = 2' }),
          execute: ({ day, seats }) => seen.push(day, seats),
        }),
    ],
  ])(
    'runs with what %s made of the arguments, and tells the model that defaults are optional',
    async (_, make) => {
      const seen: unknown[] = [];
      const [made] = createAgentTools([make(seen)]);
      const context = {
        ...A_CALL,
        idempotencyKey: 'c.tool-1',
        signal: new AbortController().signal,
        pauseRecording() {},
        resumeRecording() {},
      };
      const checked = await made?.check({ day: 'friday' });
      if (checked === undefined || !('value' in checked)) throw new Error(checked?.complaint);
      await made?.run(checked.value, context);
      expect(seen).toEqual(['FRIDAY', 2]);
      expect(made?.definition.parameters).toMatchObject({ type: 'object', required: ['day'] });
      expect(await made?.check({})).toEqual({ complaint: expect.stringContaining('day') });
    },
  );
});
