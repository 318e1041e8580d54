import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CarrierError, StoreError } from '../../src/base/errors.js';
import { FIELDS } from '../../src/dashboard/descriptions.js';
import { ENDPOINTS } from '../../src/dashboard/endpoints.js';
import { EXAMPLES } from '../../src/dashboard/examples.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { type DashboardServer, send, startDashboard, failingControls } from '../support/dashboard-server.js';
import { violations, violationsOf } from '../support/openapi-check.js';

const CALL = '/api/dashboard/calls/{callId}';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const TOKEN = 'a token';

describe('the OpenAPI document', () => {
  it('is valid for an independent validator', async () => {
    // As a client reads it. The validator writes into what it is given.
    const result = await new Validator().validate(JSON.parse(JSON.stringify(OPENAPI)));
    expect(result).toMatchObject({ valid: true });
    const broken = { ...structuredClone(OPENAPI), paths: { '/x': { get: { responses: { 200: {} } } } } };
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it('gives every operation an id of its own, and every reference a schema', () => {
    const operations = Object.values<object>(OPENAPI.paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(new Set(operations).size).toBe(operations.length);
    expect(operations).toHaveLength(ENDPOINTS.length + 3);
    const references = JSON.stringify(OPENAPI).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, name = ''] of references) expect(OPENAPI.components.schemas).toHaveProperty(name);
  });
});

/** Every schema in the document, with where it stands. */
function* schemasIn(value: unknown, path: readonly string[] = []): Generator<[string, object]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === 'example') continue;
    if (name === 'properties')
      for (const [property, schema] of Object.entries(member as Record<string, object>))
        yield [[...path, property].join('.'), schema];
    yield* schemasIn(member, [...path, name]);
  }
}

interface DocumentedBody {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, DocumentedBody> };
  readonly responses: Record<string, { description: string; content: Record<string, DocumentedBody> }>;
}

describe('what generators of clients make types of', () => {
  interface Schema {
    readonly properties?: Record<string, Schema>;
    readonly enum?: readonly string[];
    readonly anyOf?: readonly Schema[];
    readonly additionalProperties?: boolean;
  }

  /** Every schema that has no name, with where it stands. */
  function* nameless(value: unknown, path: readonly string[] = []): Generator<[string, Schema]> {
    if (typeof value !== 'object' || value === null) return;
    const isNamed = path.length === 3 && path[1] === 'schemas';
    if (!isNamed && path.at(-1) !== 'properties') yield [path.join('.'), value];
    for (const [name, member] of Object.entries(value))
      if (name !== 'example') yield* nameless(member, [...path, name]);
  }

  const schemas: Record<string, Schema> = OPENAPI.components.schemas;
  const inline = [...nameless(OPENAPI)];

  it('every object has a name', () => {
    const objects = inline.filter(([, { properties }]) => properties !== undefined);
    expect(objects.map(([where]) => where)).toEqual([]);
  });

  it('words have a name where they stand twice, or beside null', () => {
    const wordy = inline.filter(([, { enum: words }]) => words !== undefined);
    const lists = [...wordy, ...Object.entries(schemas)].flatMap(
      ([, { enum: words }]) => words?.join() ?? [],
    );
    expect(wordy.length).toBeGreaterThan(0);
    expect(new Set(lists).size).toBe(lists.length);
    expect(wordy.map(([where]) => where).filter((where) => /\.anyOf\.\d+$/.test(where))).toEqual([]);
  });

  it('every event is told by its type', () => {
    const { oneOf, discriminator } = OPENAPI.components.schemas.CallEvent as unknown as {
      oneOf: { $ref: string }[];
      discriminator: { propertyName: string; mapping: Record<string, string> };
    };
    expect(discriminator.propertyName).toBe('type');
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
    expect(oneOf.length).toBeGreaterThan(15);
    for (const [type, reference] of Object.entries(discriminator.mapping)) {
      const schema = schemas[reference.split('/').at(-1) ?? ''];
      expect(schema?.properties?.type).toMatchObject({ const: type });
    }
  });

  it('takes fields that a later version adds', () => {
    const shut = [...inline, ...Object.entries(schemas)].filter(
      ([, schema]) => schema.additionalProperties === false,
    );
    expect(shut.map(([where]) => where)).toEqual([]);
  });
});

describe('the words of the document', () => {
  const operations = Object.values<object>(OPENAPI.paths).flatMap((path) =>
    Object.values(path as Record<string, DocumentedOperation>),
  );

  it('describe every schema and every field', () => {
    const fields = [...schemasIn(OPENAPI.components.schemas)];
    expect(fields.length).toBeGreaterThan(200);
    const named = [...fields, ...Object.entries(OPENAPI.components.schemas)];
    const silent = named.filter(
      ([, schema]) => ((schema as { description?: string }).description ?? '') === '',
    );
    expect(silent.map(([where]) => where)).toEqual([]);
  });

  it('are of things that are there', () => {
    const schemas: Record<string, { properties?: Record<string, { const?: string }> }> =
      OPENAPI.components.schemas;
    const fields = new Set(
      Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
        Object.keys(properties).flatMap((field) => [
          field,
          `${name}.${field}`,
          ...(properties.type?.const === undefined ? [] : [`CallEvent.${field}`]),
        ]),
      ),
    );
    expect(Object.keys(FIELDS).filter((field) => !fields.has(field))).toEqual([]);
  });

  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'say of %s what it is for, who may, and how its bodies look',
    (_, { summary, tags, security, requestBody, responses }) => {
      expect(summary).toMatch(/^[A-Z].*\.$/);
      expect(OPENAPI.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]));
      expect([tags.length, security.length > 0, requestBody?.required ?? true]).toEqual([1, true, true]);
      const bodies = [requestBody, ...Object.values(responses)].flatMap((each) =>
        Object.values(each?.content ?? {}),
      );
      for (const { schema, example } of bodies) {
        expect(example).toBeDefined();
        const name = schema.$ref?.split('/').at(-1);
        if (name !== undefined) expect([name, violations(name, example)]).toEqual([name, []]);
      }
    },
  );

  it('give an example of an event', () => {
    expect(violations('CallEvent', EXAMPLES.CallEvent)).toEqual([]);
  });
});

describe('every answer of the running server', () => {
  let open: DashboardServer;
  let guarded: DashboardServer;
  let broken: DashboardServer;
  const answerOf = async (server: DashboardServer, path: string, init: Parameters<typeof send>[1] = {}) =>
    send(server.url + path.replace('{callId}', 'live'), init);

  beforeAll(async () => {
    open = await startDashboard();
    guarded = await startDashboard({ token: TOKEN });
    const store = new MemoryStore();
    const fail = () => Promise.reject(new StoreError('The store is gone.'));
    for (const name of ['get', 'list', 'active', 'aggregates'] as const) store[name] = fail;
    broken = await startDashboard({ store });
    open.publish(
      ...stamp(
        [
          started(),
          {
            type: 'local-recording.updated',
            recording: {
              status: 'completed',
              file: 'live.wav',
              startedAt: 1,
              durationMs: 2,
              bytes: 4,
              pauses: [],
              trouble: null,
            },
          },
        ],
        { callId: 'live' },
      ),
      ...stamp([started({ carrierCallId: null }), ended()], { callId: 'over' }),
    );
    await open.bus.settled();
  });
  afterAll(() => Promise.all([open.close(), guarded.close(), broken.close()]));

  const readable = ENDPOINTS.filter(({ method }) => method === 'get').map(({ path }) => path);
  const paths = ['/', '/dashboard', ...readable.filter((path) => !path.endsWith('/events'))];

  it.each(paths)('is documented: GET %s', async (path) => {
    const answer = await answerOf(open, path);
    expect(answer.status).toBe(200);
    expect(violationsOf(path, 'GET', answer)).toEqual([]);
    expect(violationsOf(path, 'HEAD', await answerOf(open, path, { method: 'HEAD' }))).toEqual([]);
  });

  it.each([...paths, '/api/dashboard/events'])('is documented: refusals of GET %s', async (path) => {
    const check = async (status: number, server: DashboardServer, init: Parameters<typeof send>[1] = {}) => {
      const answer = await answerOf(server, path, init);
      expect([path, answer.status]).toEqual([path, status]);
      expect(violationsOf(path, 'GET', answer)).toEqual([]);
    };
    await check(401, guarded);
    await check(401, guarded, { headers: { Accept: 'text/html' } });
    await check(403, open, { headers: { Host: 'evil.example' } });
    const isData = path.includes('dashboard/') && !path.endsWith('/events');
    if (isData || path === '/metrics') await check(503, broken);
  });

  it('is documented: bad queries, unknown calls, and the CSV export', async () => {
    for (const path of readable.filter((each) => each.startsWith('/api'))) {
      const answer = await answerOf(open, `${path}?surprise=1`);
      expect([answer.status, violationsOf(path, 'GET', answer)]).toEqual([400, []]);
    }
    const unknown = await send(`${open.url}/api/dashboard/calls/none`);
    expect([unknown.status, violationsOf(CALL, 'GET', unknown)]).toEqual([404, []]);
    const csv = await send(`${open.url}/api/dashboard/export/calls?format=csv`);
    expect([csv.status, violationsOf('/api/dashboard/export/calls', 'GET', csv)]).toEqual([200, []]);
  });

  it.each<[number, string, string, Record<string, string>, string]>([
    [202, 'hangup', 'live', JSON_TYPE, '{}'],
    [202, 'transfer', 'live', JSON_TYPE, '{"to":"+15550123"}'],
    [400, 'transfer', 'live', JSON_TYPE, '{"to":1}'],
    [400, 'hangup', 'live', JSON_TYPE, '{'],
    [400, 'hangup', '%E0%A4%A', JSON_TYPE, '{}'],
    [403, 'hangup', 'live', { ...JSON_TYPE, Origin: 'https://evil.example' }, '{}'],
    [409, 'transfer', 'over', JSON_TYPE, '{"to":"+15550123"}'],
    [413, 'transfer', 'live', JSON_TYPE, JSON.stringify({ to: 'x'.repeat(5000) })],
    [415, 'hangup', 'live', { 'Content-Type': 'text/plain' }, '{}'],
  ])('is documented: %i of POST %s', async (status, command, callId, headers, body) => {
    const path = `/api/dashboard/calls/${callId}/${command}`;
    const answer = await send(open.url + path, { method: 'POST', headers, body });
    expect([answer.status, violationsOf(`${CALL}/${command}`, 'POST', answer)]).toEqual([status, []]);
  });

  it('is documented: a carrier that refuses, a failure, and a guesser', async () => {
    for (const [error, status] of [
      [new CarrierError('No.', { status: null, retryable: true }), 502],
      [new Error('x'), 500],
    ] as const) {
      const server = await startDashboard({ controls: failingControls(error) });
      const path = '/api/dashboard/calls/live/hangup';
      const answer = await send(server.url + path, { method: 'POST', headers: JSON_TYPE, body: '{}' });
      expect([answer.status, violationsOf(`${CALL}/hangup`, 'POST', answer)]).toEqual([status, []]);
      await server.close();
    }
    let answer = await answerOf(guarded, CALL, { headers: { Authorization: 'Bearer guess', Via: '1.1 x' } });
    for (let guess = 0; guess < 10; guess += 1)
      answer = await answerOf(guarded, CALL, { headers: { Authorization: 'Bearer guess', Via: '1.1 x' } });
    expect([answer.status, violationsOf(CALL, 'GET', answer)]).toEqual([429, []]);
  });
});
