// The OpenAPI document, written from the tables that route and validate. Source: OpenAPI Specification 3.1.1.
import { ENDPOINTS, type Endpoint, type EndpointContent } from './endpoints.js';
import type { JsonSchema } from './parameters.js';
import { ref, SCHEMAS } from './schemas.js';

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is wrong; the message names it.',
  401: 'The token is missing or wrong.',
  403: 'The request comes from an origin or address that is not allowed.',
  404: 'No such call.',
  409: 'The call is over, or another process owns it.',
  413: 'The body is larger than allowed.',
  415: 'The body is not JSON.',
  429: 'Too many wrong tokens from this address, or too many event streams.',
  500: 'The server failed.',
  502: 'The carrier refused, or did not answer.',
  503: 'The call store cannot be read.',
};

const EVERYWHERE = [400, 401, 403, 429, 500, 503];

function content(of: EndpointContent): JsonSchema {
  const types = Object.entries(of.content).map(([type, schema]) => [type, { schema }]);
  return { description: of.description, content: Object.fromEntries(types) };
}

function responses(endpoint: Endpoint): JsonSchema {
  const refused = [...(endpoint.refusals ?? []), ...EVERYWHERE].map((status) => [
    status,
    { description: REFUSALS[status] ?? '', content: { 'application/json': { schema: ref('Error') } } },
  ]);
  return { [endpoint.success.status]: content(endpoint.success), ...Object.fromEntries(refused) };
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event that was heard.',
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
    description: "Our id of the call, or the carrier's.",
    schema: { type: 'string' },
  };
  return [inPath, ...inQuery];
}

function operation(endpoint: Endpoint): JsonSchema {
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    security: [{ bearer: [] }, ...(endpoint.method === 'get' ? [{ query: [] }] : []), { session: [] }, {}],
    parameters: parameters(endpoint),
    ...(endpoint.requestBody === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: endpoint.requestBody } } } }),
    responses: responses(endpoint),
  };
}

const HTML = { 'text/html': { schema: { type: 'string' } } };
const ERROR = { 'application/json': { schema: ref('Error') } };

/** The page holds no data, and its sign-in form is the answer to a browser without a token. */
function page(path: string): JsonSchema {
  const refusals = [403, 404, 429, 500].map((status) => [
    status,
    { description: status === 404 ? 'The page is turned off.' : (REFUSALS[status] ?? ''), content: ERROR },
  ]);
  return {
    operationId: path === '/' ? 'getPage' : 'getDashboard',
    summary: 'The page. With the right token it sets the session cookie.',
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

/** The whole document. */
export const OPENAPI = {
  openapi: '3.1.1',
  info: {
    title: 'offhook dashboard',
    version: '1',
    description:
      'Calls, live and ended. Fields are added, never renamed or taken away. Every answer is JSON where no other type is named, whatever Accept asks for, and none is to be cached. A query parameter that a path does not have is refused, except `token`. HEAD answers like GET without the body, OPTIONS with Allow, any other method with 405.',
  },
  // Relative to the document itself, so that it holds behind a path prefix too.
  servers: [{ url: '..' }],
  paths: Object.fromEntries([
    ...['/', '/dashboard'].map((path) => [path, { get: page(path) }] as const),
    ...ENDPOINTS.map((endpoint) => [endpoint.path, { [endpoint.method]: operation(endpoint) }] as const),
  ]),
  components: {
    schemas: SCHEMAS,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      query: { type: 'apiKey', in: 'query', name: 'token' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'offhook_session_*',
        description: 'Set by the page. The end of its name depends on the token.',
      },
    },
  },
};
