// The OpenAPI document, written from the tables that route and validate. Source: OpenAPI Specification 3.1.1.
import { describeSchemas } from './descriptions.js';
import { ENDPOINTS, type Endpoint, type EndpointContent } from './endpoints.js';
import { EXAMPLES, TEXT_EXAMPLES } from './examples.js';
import { type JsonSchema, ref } from './json-schema.js';
import { SCHEMAS } from './schemas.js';

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is wrong; the message names it.',
  401: 'The token is missing or wrong.',
  403: 'The request comes from an origin or address that is not allowed, or needs a dashboard token on a server without one.',
  404: 'No such call, or it has no recording.',
  409: 'The state of the call does not allow it: a command on a call that is over or at another process, a live call that is to be deleted, a recording that is still being made, a live call that has no sound or may not be listened in to.',
  413: 'The body is larger than allowed.',
  415: 'The body is not JSON.',
  429: 'Too many wrong tokens from this address, too many event streams or too many who listen in.',
  500: 'The server failed.',
  502: 'The carrier refused, or did not answer.',
  503: 'The call store, or the recording, cannot be read.',
};

const ERROR = { 'application/json': body('application/json', ref('Error')) };

const EVERYWHERE = [400, 401, 403, 429, 500, 503];

/** A body with an example. What has none of its own is any object. */
function body(type: string, schema: JsonSchema): JsonSchema {
  const name =
    String(schema.$ref ?? '')
      .split('/')
      .at(-1) ?? '';
  return { schema, example: EXAMPLES[name] ?? TEXT_EXAMPLES[type] ?? {} };
}

function content(of: EndpointContent): JsonSchema {
  const types = Object.entries(of.content).map(([type, schema]) => [type, body(type, schema)]);
  return { description: of.description, content: Object.fromEntries(types) };
}

function responses(endpoint: Endpoint): JsonSchema {
  const refused = [...(endpoint.refusals ?? []), ...EVERYWHERE].map((status) => [
    status,
    { description: REFUSALS[status] ?? '', content: ERROR },
  ]);
  const parts =
    endpoint.hasRanges === true
      ? { 206: content({ ...endpoint.success, description: 'The part that was asked for.' }), 416: BEYOND }
      : {};
  return { [endpoint.success.status]: content(endpoint.success), ...parts, ...Object.fromEntries(refused) };
}

/** Content-Range says how large the whole is. */
const BEYOND = { description: 'The part begins behind the end.', content: ERROR };

const RANGE = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'A part of the file, as `bytes=0-65535`. Several parts are answered with the whole.',
  schema: { type: 'string' },
};

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: '`id` of the last event received.',
  schema: { type: 'string' },
};

function parameters(endpoint: Endpoint): JsonSchema[] {
  const inQuery = Object.entries(endpoint.parameters ?? {}).map(([name, { description, schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));
  if (endpoint.operationId === 'streamEvents') return [LAST_EVENT_ID, ...inQuery];
  if (!endpoint.path.includes('{callId}')) return inQuery;
  const inPath = {
    name: 'callId',
    in: 'path',
    required: true,
    description: "offhook's ID of the call, or the carrier's.",
    schema: { type: 'string' },
  };
  return [inPath, ...(endpoint.hasRanges === true ? [RANGE] : []), ...inQuery];
}

/** What lets a request in. The empty one is for servers without a token. */
function security({ operationId, method }: Endpoint): JsonSchema[] {
  if (operationId === 'ingestEvents') return [{ bearer: [] }];
  return [{ bearer: [] }, ...(method === 'get' ? [{ query: [] }] : []), { session: [] }, {}];
}

function operation(endpoint: Endpoint): JsonSchema {
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    security: security(endpoint),
    parameters: parameters(endpoint),
    ...(endpoint.requestBody === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': body('application/json', endpoint.requestBody) },
          },
        }),
    responses: responses(endpoint),
  };
}

function operationsOf(path: string): JsonSchema {
  const endpoints = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint.method, operation(endpoint)]));
}

const HTML = { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>' } };

/** The page holds no data, and its sign-in form is the answer to a browser without a token. */
function page(path: string): JsonSchema {
  const refusals = [403, 404, 429, 500].map((status) => [
    status,
    { description: status === 404 ? 'The page is turned off.' : (REFUSALS[status] ?? ''), content: ERROR },
  ]);
  return {
    operationId: path === '/' ? 'getPage' : 'getDashboard',
    tags: ['Page'],
    summary: 'Open the page. With the right token it sets the session cookie.',
    security: [{ bearer: [] }, { query: [] }, { session: [] }, {}],
    responses: {
      200: { description: 'The page.', content: HTML },
      401: {
        description: 'The page with its sign-in form for who accepts text/html, else an error.',
        content: { ...HTML, ...ERROR },
      },
      ...Object.fromEntries(refusals),
    },
  };
}

/** Ends the session that the page began. */
function signOut(): JsonSchema {
  const refusals = [401, 403, 429, 500].map((status) => [
    status,
    { description: REFUSALS[status] ?? '', content: ERROR },
  ]);
  return {
    operationId: 'signOut',
    tags: ['Page'],
    summary: 'Sign out: delete the session cookie of this browser.',
    security: [{ bearer: [] }, { session: [] }, {}],
    responses: { 204: { description: 'The cookie is deleted.' }, ...Object.fromEntries(refusals) },
  };
}

/** The whole document. */
export const OPENAPI = {
  openapi: '3.1.1',
  info: {
    title: 'offhook dashboard',
    version: '1',
    description:
      'Calls, live and ended. New fields may be added; none is renamed or removed. Responses are JSON unless another type is named, and are never cached. Unknown query parameters are refused, except `token`. HEAD answers like GET without a body, OPTIONS with Allow, other methods with 405. The empty security requirement applies to servers without a `dashboardToken`: they accept reads from anyone who reaches them, and commands from their own machine. A standalone dashboard also accepts events over its socket, without a token, from servers of the same user.',
  },
  tags: [
    { name: 'Calls', description: 'History, live calls included.' },
    { name: 'Live', description: 'What happens at this moment.' },
    { name: 'Commands', description: 'Control a live call.' },
    { name: 'Standalone dashboard', description: 'For servers that send their calls.' },
    { name: 'Machines', description: 'Metrics and this document.' },
    { name: 'Page', description: 'The dashboard itself.' },
  ],
  // Relative to the document itself, so that it holds behind a path prefix too.
  servers: [{ url: '..' }],
  paths: Object.fromEntries([
    ['/', { get: page('/') }] as const,
    ['/dashboard', { get: page('/dashboard'), delete: signOut() }] as const,
    ...ENDPOINTS.map(({ path }) => [path, operationsOf(path)] as const),
  ]),
  components: {
    schemas: describeSchemas(SCHEMAS),
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'The `dashboardToken`.' },
      query: {
        type: 'apiKey',
        in: 'query',
        name: 'token',
        description: 'The `dashboardToken`, where headers cannot be set.',
      },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'offhook_session_*',
        description: 'Set by the page after sign-in. The end of its name depends on the token.',
      },
    },
  },
};
