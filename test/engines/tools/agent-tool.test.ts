import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import type { Tool } from '../../../src/engines/tools/tool.js';
import { A_CALL } from '../a-call.js';
import { refusal } from '../../options/refusal.js';

const JSON_SCHEMA = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const BASE = { name: 'book', description: 'Books.', execute: () => 'ok' };

/** Options as a program without types may write them. */
const create = (...tools: object[]) => createAgentTools(tools);
const createOne = (fields: object) => create({ ...BASE, ...fields })[0];

/** A schema of a library: `day` is a text, which it turns into capitals. */
function standardSchema(more: object = {}, standard: object = {}) {
  return {
    '~standard': {
      version: 1,
      vendor: 'any',
      validate: (value: { day?: unknown }) =>
        typeof value.day === 'string'
          ? { value: { day: value.day.toUpperCase() } }
          : { issues: [{ message: 'expected a day', path: ['day', { key: 'name' }] }] },
      ...standard,
    },
    ...more,
  };
}

describe('tools of an agent', () => {
  it('have defaults', () => {
    const tool = createOne({});
    expect(tool?.definition).toEqual({
      name: 'book',
      description: 'Books.',
      parameters: { type: 'object', properties: {} },
    });
    expect(tool?.timeoutMs).toBe(10_000);
    expect(createAgentTools(undefined)).toEqual([]);
  });

  it('take a JSON Schema, and are not changed with it', () => {
    const parameters = structuredClone({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...JSON_SCHEMA,
    });
    const tool = createOne({ parameters });
    parameters.properties.day.type = 'number';
    expect(tool?.definition.parameters).toEqual(JSON_SCHEMA);
    expect(tool?.check({ day: 'Friday' })).toEqual({ value: { day: 'Friday' } });
    expect(tool?.check({})).toEqual({ complaint: expect.stringContaining('"day"') });
  });

  it.each<[string, object]>([
    [
      '~standard.jsonSchema',
      { parameters: standardSchema({}, { jsonSchema: { input: () => JSON_SCHEMA } }) },
    ],
    ['toJSONSchema()', { parameters: standardSchema({ toJSONSchema: () => JSON_SCHEMA }) }],
    ['toJsonSchema()', { parameters: standardSchema({ toJsonSchema: () => JSON_SCHEMA }) }],
    ['jsonSchema', { parameters: standardSchema(), jsonSchema: JSON_SCHEMA }],
    [
      'a function',
      { parameters: Object.assign(() => {}, standardSchema({ toJsonSchema: () => JSON_SCHEMA })) },
    ],
  ])('take a schema of a library that says its JSON Schema by %s', async (_, fields) => {
    const tool = createOne(fields);
    expect(tool?.definition.parameters).toEqual(JSON_SCHEMA);
    expect(await tool?.check({ day: 'Friday' })).toEqual({ value: { day: 'FRIDAY' } });
    expect(await tool?.check({})).toEqual({ complaint: 'day.name: expected a day' });
  });

  it('tell what is wrong where a library tells it as a list with issues, as ArkType does', async () => {
    const issues = [{ message: 'must be a day', path: ['day'] }];
    const validate = () => Object.assign([...issues], { issues });
    const tool = createOne({ parameters: standardSchema({}, { validate }), jsonSchema: JSON_SCHEMA });
    expect(await tool?.check({})).toEqual({ complaint: 'day: must be a day' });
  });

  it('run with what the schema made of the arguments', async () => {
    const seen: unknown[] = [];
    const tool = createOne({ execute: (...args: unknown[]) => seen.push(args) });
    const { signal } = new AbortController();
    const context = {
      ...A_CALL,
      idempotencyKey: 'c.tool-1',
      signal,
      pauseRecording() {},
      resumeRecording() {},
    };
    await tool?.run({ day: 'FRIDAY' }, context);
    expect(seen).toEqual([[{ day: 'FRIDAY' }, context]]);
  });

  it.each<[string, object | undefined]>([
    ['no object', 'book' as unknown as object],
    ['no name', { name: undefined }],
    ['a name with a blank', { name: 'book it' }],
    ['a name that is too long', { name: 'a'.repeat(65) }],
    ['the name of a built-in tool', { name: 'transfer_call' }],
    ['no description', { description: undefined }],
    ['an empty description', { description: ' ' }],
    ['neither execute nor url', { execute: undefined }],
    ['both execute and url', { url: 'https://example.com' }],
    ['an execute that is not a function', { execute: 'rm' }],
    ['a url of another kind', { execute: undefined, url: 'file:///etc/passwd' }],
    ['a url that is none', { execute: undefined, url: 'example.com' }],
    ['a timeout of 0', { timeoutSeconds: 0 }],
    ['a timeout that is not a number', { timeoutSeconds: '10' }],
    ['parameters that are no object', { parameters: 'day' }],
    ['parameters of a list', { parameters: { type: 'array' } }],
    ['parameters without their type', { parameters: { day: { type: 'string' } } }],
    ['parameters that are no JSON', { parameters: { type: 'object', check() {} } }],
    ['a library that does not say its JSON Schema', { parameters: standardSchema() }],
    ['an option that does not exist', { timeout: 5 }],
  ])('are refused with %s', (_, fields) => {
    const tool = typeof fields === 'object' ? { ...BASE, ...fields } : fields;
    const { code, message } = refusal(() => create(tool as Tool));
    expect(code).toMatch(/^CONFIG_/);
    expect(message).toMatch(/tool/);
  });

  it('are refused with one name for two, and in their hundreds', () => {
    expect(refusal(() => create(BASE, BASE)).code).toBe('CONFIG_CONFLICT');
    expect(refusal(() => create(...Array.from({ length: 101 }, () => BASE))).code).toBe('CONFIG_INVALID');
    expect(refusal(() => createAgentTools({})).code).toBe('CONFIG_INVALID');
  });
});
