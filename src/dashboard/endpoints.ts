// The endpoints of the API, one table: the router binds it, and the OpenAPI document is written from it.
import {
  AGGREGATES_PARAMETERS,
  CALLS_PARAMETERS,
  EVENTS_PARAMETERS,
  EXPORT_PARAMETERS,
  type JsonSchema,
  type QueryParameters,
} from './parameters.js';
import { ref } from './schemas.js';

/** What a status code carries: a media type and the schema of its body. */
export interface EndpointContent {
  readonly description: string;
  readonly content: { readonly [mediaType: string]: JsonSchema };
}

export interface Endpoint {
  readonly operationId: string;
  readonly method: 'get' | 'post';
  /** In OpenAPI's notation. The only path parameter is `callId`. */
  readonly path: string;
  readonly summary: string;
  readonly parameters?: QueryParameters;
  readonly requestBody?: JsonSchema;
  readonly success: { readonly status: 200 | 202 } & EndpointContent;
  /** Refusals beside those that every endpoint has. */
  readonly refusals?: readonly (404 | 409 | 413 | 415 | 502)[];
}

function json(name: string, description: string): EndpointContent {
  return { description, content: { 'application/json': ref(name) } };
}

const accepted = { status: 202, ...json('CommandAccepted', 'The carrier has been told.') } as const;

export const ENDPOINTS = [
  {
    operationId: 'listCalls',
    method: 'get',
    path: '/api/dashboard/calls',
    summary: 'Calls, newest first, without transcript and turns.',
    parameters: CALLS_PARAMETERS,
    success: { status: 200, ...json('CallsPage', 'One page of calls.') },
  },
  {
    operationId: 'getCall',
    method: 'get',
    path: '/api/dashboard/calls/{callId}',
    summary: 'One call with transcript and turns.',
    success: { status: 200, ...json('CallRecord', 'The call.') },
    refusals: [404],
  },
  {
    operationId: 'listActiveCalls',
    method: 'get',
    path: '/api/dashboard/active',
    summary: 'Calls that are up now, as whole records.',
    success: { status: 200, ...json('CallList', 'The active calls.') },
  },
  {
    operationId: 'getAggregates',
    method: 'get',
    path: '/api/dashboard/aggregates',
    summary:
      'Counters over the calls that the history holds and the active ones, or over those of them that match.',
    parameters: AGGREGATES_PARAMETERS,
    success: { status: 200, ...json('Aggregates', 'The counters.') },
  },
  {
    operationId: 'streamEvents',
    method: 'get',
    path: '/api/dashboard/events',
    summary:
      'Server-Sent Events: `snapshot` (a Snapshot), then facts (each a CallEvent) under their type as event name, and `draining` when the server is about to stop. Last-Event-ID resumes.',
    parameters: EVENTS_PARAMETERS,
    success: {
      status: 200,
      description: 'An endless stream. A comment every 15 seconds; a reader that falls behind is cut off.',
      content: { 'text/event-stream': { type: 'string' } },
    },
  },
  {
    operationId: 'exportCalls',
    method: 'get',
    path: '/api/dashboard/export/calls',
    summary: 'All calls that match, as a file.',
    parameters: EXPORT_PARAMETERS,
    success: {
      status: 200,
      description: 'An attachment.',
      content: { 'application/json': ref('CallList'), 'text/csv': { type: 'string' } },
    },
  },
  {
    operationId: 'hangUpCall',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/hangup',
    summary:
      'Ends a call. One whose hang-up is pending at the carrier may be ended again: that is tried at once.',
    requestBody: { type: 'object' },
    success: {
      status: 202,
      ...json('HangUpAccepted', 'The call is over here; `hangUp` tells of the carrier.'),
    },
    refusals: [404, 409, 413, 415, 502],
  },
  {
    operationId: 'transferCall',
    method: 'post',
    path: '/api/dashboard/calls/{callId}/transfer',
    summary:
      'Hands the caller over to a telephone number. The result is in `transfer` of the record; a caller whose transfer failed comes back.',
    requestBody: ref('TransferRequest'),
    success: accepted,
    refusals: [404, 409, 413, 415, 502],
  },
  {
    operationId: 'ingestEvents',
    method: 'post',
    path: '/api/dashboard/ingest',
    summary:
      'Takes facts of calls from the servers that own them. Only a standalone dashboard does (others answer 409), and only with its token as a bearer. Facts that come again change nothing.',
    requestBody: ref('IngestBatch'),
    success: {
      status: 200,
      ...json('IngestAnswer', 'What was taken, and how far the calls of the batch are.'),
    },
    refusals: [409, 413, 415],
  },
  {
    operationId: 'getMetrics',
    method: 'get',
    path: '/metrics',
    summary: 'Metrics for Prometheus.',
    success: {
      status: 200,
      description: 'Prometheus text exposition format.',
      content: { 'text/plain': { type: 'string' } },
    },
  },
  {
    operationId: 'getOpenApi',
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This document.',
    success: {
      status: 200,
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { type: 'object' } },
    },
  },
] as const satisfies readonly Endpoint[];

export type OperationId = (typeof ENDPOINTS)[number]['operationId'];
