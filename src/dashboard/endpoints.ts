// The endpoints of the API, one table: the router binds it, and the OpenAPI document is written from it.
import { type JsonSchema, ref } from './json-schema.js';
import {
  AGGREGATES_PARAMETERS,
  CALLS_PARAMETERS,
  EVENTS_PARAMETERS,
  EXPORT_PARAMETERS,
  type QueryParameters,
} from './parameters.js';

/** What a status code carries: a media type and the schema of its body. */
export interface EndpointContent {
  readonly description: string;
  readonly content: { readonly [mediaType: string]: JsonSchema };
}

export interface Endpoint {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'delete';
  /** In OpenAPI's notation. The only path parameter is `callId`. */
  readonly path: string;
  readonly tag: 'Calls' | 'Live' | 'Commands' | 'Standalone dashboard' | 'Machines';
  readonly summary: string;
  readonly parameters?: QueryParameters;
  /** A part of the body can be asked for. */
  readonly hasRanges?: boolean;
  readonly requestBody?: JsonSchema;
  /** It is there only where a dashboard token is set, also for whoever is on this machine. */
  readonly needsToken?: boolean;
  readonly success: { readonly status: 200 | 202 } & EndpointContent;
  /** Refusals beside those that every endpoint has. */
  readonly refusals?: readonly (404 | 409 | 413 | 415 | 502)[];
}

function json(name: string, description: string): EndpointContent {
  return { description, content: { 'application/json': ref(name) } };
}

const accepted = { status: 202, ...json('CommandAccepted', 'The carrier accepted the command.') } as const;

export const ENDPOINTS = [
  {
    operationId: 'listCalls',
    tag: 'Calls',
    method: 'get',
    path: '/api/dashboard/calls',
    summary: 'List calls, newest first, without turns and transcripts.',
    parameters: CALLS_PARAMETERS,
    success: { status: 200, ...json('CallsPage', 'One page of calls.') },
  },
  {
    operationId: 'getCall',
    tag: 'Calls',
    method: 'get',
    path: '/api/dashboard/calls/{callId}',
    summary: 'Get one call with its turns and transcript.',
    success: { status: 200, ...json('CallRecord', 'The call.') },
    refusals: [404],
  },
  {
    operationId: 'forgetCall',
    tag: 'Calls',
    method: 'delete',
    path: '/api/dashboard/calls/{callId}',
    summary:
      'Delete a call that is over, with all that is kept of it and its recordings, on this machine and at the carrier. Only its ID remains. Repeating it does what failed before. Needs a dashboard token.',
    needsToken: true,
    success: { status: 200, ...json('ForgetAnswer', 'The call is deleted.') },
    refusals: [404, 409],
  },
  {
    operationId: 'getCallAudio',
    tag: 'Calls',
    method: 'get',
    path: '/api/dashboard/calls/{callId}/audio',
    summary:
      'Get the recording of a call that `localRecording` has made: stereo, the caller left, the agent right as the caller heard it.',
    hasRanges: true,
    success: {
      status: 200,
      description: 'The whole file.',
      content: { 'audio/wav': { type: 'string', format: 'binary' } },
    },
    refusals: [404, 409],
  },
  {
    operationId: 'listenToCall',
    tag: 'Live',
    method: 'get',
    path: '/api/dashboard/calls/{callId}/listen',
    summary:
      'Listen in to a live call, where `listenIn` is set: stereo, the caller left, the agent right as the caller hears it. Nobody on the line notices.',
    success: {
      status: 200,
      description:
        'A WAV file of 16 kHz PCM that ends with the call. `X-Offhook-Delay-Ms` says how much later everything is sent than it is heard. Readers that fall behind are disconnected.',
      content: { 'audio/wav': { type: 'string', format: 'binary' } },
    },
    refusals: [404, 409],
  },
  {
    operationId: 'listActiveCalls',
    tag: 'Live',
    method: 'get',
    path: '/api/dashboard/active',
    summary: 'List live calls with their turns and transcripts.',
    success: { status: 200, ...json('CallList', 'The active calls.') },
  },
  {
    operationId: 'getAggregates',
    tag: 'Calls',
    method: 'get',
    path: '/api/dashboard/aggregates',
    summary: 'Get counters over the calls of the history and the live ones, or over those that match.',
    parameters: AGGREGATES_PARAMETERS,
    success: { status: 200, ...json('Aggregates', 'The counters.') },
  },
  {
    operationId: 'streamEvents',
    tag: 'Live',
    method: 'get',
    path: '/api/dashboard/events',
    summary:
      'Follow events as Server-Sent Events: first `snapshot` (a Snapshot), then each CallEvent under its type, `draining` when the server is about to stop, and, in a dashboard of a cluster, `broker` when that is away (`{"isThere":false}`) or back. Last-Event-ID resumes a stream.',
    parameters: EVENTS_PARAMETERS,
    success: {
      status: 200,
      description:
        'An endless stream, with a comment every 15 seconds. Readers that fall behind are disconnected.',
      content: { 'text/event-stream': { type: 'string' } },
    },
  },
  {
    operationId: 'exportCalls',
    tag: 'Calls',
    method: 'get',
    path: '/api/dashboard/export/calls',
    summary: 'Export all matching calls as a file.',
    parameters: EXPORT_PARAMETERS,
    success: {
      status: 200,
      description: 'An attachment.',
      content: { 'application/json': ref('CallList'), 'text/csv': { type: 'string' } },
    },
  },
  {
    operationId: 'hangUpCall',
    tag: 'Commands',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/hangup',
    summary: 'Hang up a call. If the hang-up is pending at the carrier, this tries again at once.',
    requestBody: ref('HangUpRequest'),
    success: {
      status: 202,
      ...json('HangUpAccepted', 'The call has ended here; `hangUp` is its state at the carrier.'),
    },
    refusals: [404, 409, 413, 415, 502],
  },
  {
    operationId: 'transferCall',
    tag: 'Commands',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/transfer',
    summary:
      'Transfer the caller to a phone number. The result is in `transfer` of the record; if the transfer fails, the caller returns to the agent.',
    requestBody: ref('TransferRequest'),
    success: accepted,
    refusals: [404, 409, 413, 415, 502],
  },
  {
    operationId: 'sayOnCall',
    tag: 'Commands',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/say',
    summary:
      'Have the agent say a text on a live call. The answer comes once it was heard, or will not be. Needs a dashboard token.',
    requestBody: ref('SayRequest'),
    needsToken: true,
    success: { status: 200, ...json('SayAnswer', 'What became of the text.') },
    refusals: [404, 409, 413, 415],
  },
  {
    operationId: 'informCall',
    tag: 'Commands',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/inform',
    summary:
      'Tell the model of a live call something that nobody hears. The next answer knows it. Needs a dashboard token.',
    requestBody: ref('InformRequest'),
    needsToken: true,
    success: { status: 202, ...json('CommandAccepted', 'The model knows it.') },
    refusals: [404, 409, 413, 415],
  },
  {
    operationId: 'ingestEvents',
    tag: 'Standalone dashboard',
    method: 'post',
    path: '/api/dashboard/ingest',
    summary:
      'Send events of calls to a standalone dashboard. Other dashboards answer 409. Over the network this needs the token as a bearer token. Repeated events change nothing.',
    requestBody: ref('IngestBatch'),
    success: {
      status: 200,
      ...json('IngestAnswer', 'What was taken, and how far the dashboard is with each call.'),
    },
    refusals: [409, 413, 415],
  },
  {
    operationId: 'getMetrics',
    tag: 'Machines',
    method: 'get',
    path: '/metrics',
    summary: 'Get metrics for Prometheus.',
    success: {
      status: 200,
      description: 'Prometheus text exposition format.',
      content: { 'text/plain': { type: 'string' } },
    },
  },
  {
    operationId: 'getServerMetrics',
    tag: 'Machines',
    method: 'get',
    path: '/metrics/servers',
    summary:
      'Get the metrics of all servers of a cluster for Prometheus, with the label `server`: the `cluster.address` of each.',
    success: {
      status: 200,
      description: 'Prometheus text exposition format.',
      content: { 'text/plain': { type: 'string' } },
    },
    refusals: [404],
  },
  {
    operationId: 'getOpenApi',
    tag: 'Machines',
    method: 'get',
    path: '/api/openapi.json',
    summary: 'Get this document.',
    success: {
      status: 200,
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { type: 'object', additionalProperties: true } },
    },
  },
] as const satisfies readonly Endpoint[];

export type OperationId = (typeof ENDPOINTS)[number]['operationId'];
