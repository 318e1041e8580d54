// The query parameters of the API, one table: it validates requests, and the OpenAPI document is written from it.
import { RequestError } from '../base/errors.js';
import {
  CALL_OUTCOMES,
  CARRIER_ID,
  type CallDirection,
  type CallStatus,
  type CarrierId,
  END_REASONS,
} from '../contract/call-record.js';
import { MAX_AMOUNT, parseAmount } from '../events/call-filter.js';
import { type JsonSchema, ref } from './json-schema.js';

/** One query parameter: how it is described, and how its text becomes a value. */
export interface QueryParameter<T> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** @throws RequestError that names the parameter. */
  parse(text: string, name: string): T;
}

/** A family of parameters by name. */
export type QueryParameters = { readonly [name: string]: QueryParameter<unknown> };

/** What `readParameters` makes of a family: every parameter may be absent. */
export type ParameterValues<P extends QueryParameters> = {
  [K in keyof P]?: P[K] extends QueryParameter<infer T> ? T : never;
};

const MAX_LIMIT = 500;
const MAX_TEXT = 200;
/** How much of a name is repeated to who sent it. */
const MAX_NAME = 50;
/** The last instant that a Date can hold. Source: ECMA-262, section 21.4.1.1. */
export const MAX_EPOCH_MS = 8.64e15;

function refuse(name: string, expectation: string): never {
  throw new RequestError('REQUEST_INVALID', `Query parameter "${name}" must be ${expectation}.`);
}

/** One of these words. Where bodies have them too, `schema` is the name that they have there. */
function oneOf<T extends string>(
  values: readonly T[],
  description: string,
  schema?: string,
): QueryParameter<T> {
  return {
    description,
    schema: schema === undefined ? { type: 'string', enum: values } : ref(schema),
    parse: (text, name) =>
      values.find((value) => value === text) ?? refuse(name, `one of ${values.join(', ')}`),
  };
}

const limit: QueryParameter<number> = {
  description: 'Calls per page.',
  schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 50 },
  parse(text, name) {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    return value >= 1 && value <= MAX_LIMIT ? value : refuse(name, `a whole number from 1 to ${MAX_LIMIT}`);
  },
};

const cursor: QueryParameter<string> = {
  description: 'The nextCursor of the page before.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_TEXT },
  parse: (text, name) =>
    /^[\x21-\x7e]{1,200}$/.test(text) ? text : refuse(name, 'the nextCursor of a page before'),
};

const search: QueryParameter<string> = {
  description:
    'Part of a phone number, however it is spaced, or of an ID; case is ignored. So is white space around it, because a plus sign that was not encoded arrives as a space.',
  schema: { type: 'string', maxLength: MAX_TEXT },
  parse: (text, name) =>
    text.length <= MAX_TEXT ? text.trim() : refuse(name, `at most ${MAX_TEXT} characters`),
};

/** A name or a part of a text. */
function text(description: string): QueryParameter<string> {
  return {
    description,
    schema: { type: 'string', minLength: 1, maxLength: MAX_TEXT },
    parse: (value, name) =>
      value !== '' && value.length <= MAX_TEXT ? value : refuse(name, `1 to ${MAX_TEXT} characters`),
  };
}

/** A number that is not negative, as JSON writes it, without an exponent. */
function amount(description: string): QueryParameter<number> {
  return {
    description,
    schema: { type: 'number', minimum: 0, maximum: MAX_AMOUNT },
    parse: (value, name) => parseAmount(value) ?? refuse(name, `a number from 0 to ${MAX_AMOUNT}`),
  };
}

const ISO_INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Epoch milliseconds, NaN for what is no date: the 30th of February, which `Date` takes for a day in March, is none. */
function parseIso(text: string): number {
  const day = text.slice(0, 10);
  const isDay = ISO_INSTANT.test(text) && new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}

function instant(description: string): QueryParameter<number> {
  return {
    description: `${description} Epoch milliseconds, or an ISO 8601 date (midnight UTC) or date and time with its offset.`,
    schema: {
      oneOf: [
        { type: 'integer', minimum: 0, maximum: MAX_EPOCH_MS },
        { type: 'string', pattern: ISO_INSTANT.source },
      ],
    },
    parse(text, name) {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : parseIso(text.replace(' ', '+'));
      return value <= MAX_EPOCH_MS ? value : refuse(name, 'epoch milliseconds or an ISO 8601 date');
    },
  };
}

const carrier: QueryParameter<CarrierId> = {
  description: 'Only calls over the carrier with this id.',
  schema: { type: 'string', pattern: CARRIER_ID.source, maxLength: 40 },
  parse: (text, name) => (CARRIER_ID.test(text) ? text : refuse(name, 'the id of a carrier, in kebab-case')),
};

export const CALL_STATUSES: readonly CallStatus[] = ['initiated', 'ringing', 'active', 'completed'];
export const CALL_DIRECTIONS: readonly CallDirection[] = ['inbound', 'outbound'];

const FILTERS = {
  status: oneOf(CALL_STATUSES, 'Only calls in this state.', 'CallStatus'),
  direction: oneOf(CALL_DIRECTIONS, 'Only calls that came in, or only calls that went out.', 'CallDirection'),
  carrier,
  outcome: oneOf(CALL_OUTCOMES, 'Only calls with this outcome.', 'CallOutcome'),
  endReason: oneOf(END_REASONS, 'Only calls that ended for this reason.', 'EndReason'),
  q: search,
  words: text(
    'Part of what was said, or of the name or error of a tool; case is ignored. A number of three digits or more is found however it is spaced, there and here.',
  ),
  incident: text('Only calls with an incident of this code.'),
  provider: text('Only calls that this AI provider served last: `vendor`, or `vendor/model`.'),
  agent: text('Only calls in which the agent of this name had the caller.'),
  nodeId: text('Only calls that this process owns or owned last, or that began in it.'),
  minLatencyMs: amount('Only calls with an average answer latency at or above this, in milliseconds.'),
  minCost: amount('Only calls that cost this much or more, in US dollars.'),
  from: instant('Only calls started at or after this instant.'),
  to: instant('Only calls started before this instant.'),
};

/** Of `GET /api/dashboard/calls`. */
export const CALLS_PARAMETERS = { limit, cursor, ...FILTERS } satisfies QueryParameters;

/** Of `GET /api/dashboard/aggregates`. */
export const AGGREGATES_PARAMETERS = FILTERS satisfies QueryParameters;

/** Of `GET /api/dashboard/export/calls`. */
export const EXPORT_PARAMETERS = {
  format: oneOf(['json', 'csv'] as const, 'csv: one row per call. json (the default): whole records.'),
  ...FILTERS,
} satisfies QueryParameters;

/** Of `GET /api/dashboard/events`. */
export const EVENTS_PARAMETERS = {
  lastEventId: {
    description: 'What a client that cannot send the header Last-Event-ID resumes behind. The header wins.',
    schema: { type: 'string', maxLength: MAX_TEXT },
    parse: (text: string) => text,
  },
} satisfies QueryParameters;

/** Read by the doorkeeper, on every path. */
const TOKEN_PARAMETER = 'token';

/**
 * Reads a family of parameters from a query.
 * @throws RequestError when a value is out of its range or given twice, and for a name that the family does not have: a filter that is
 * misspelt must not answer as if there were none.
 */
export function readParameters<P extends QueryParameters>(
  query: URLSearchParams,
  family: P,
): ParameterValues<P> {
  for (const name of query.keys()) {
    if (name === TOKEN_PARAMETER || Object.hasOwn(family, name)) continue;
    throw new RequestError('REQUEST_INVALID', `Query parameter "${name.slice(0, MAX_NAME)}" is unknown.`);
  }
  const values: { [name: string]: unknown } = {};
  for (const [name, parameter] of Object.entries(family)) {
    const texts = query.getAll(name);
    if (texts.length > 1)
      throw new RequestError('REQUEST_INVALID', `Query parameter "${name}" is given twice.`);
    const text = texts[0];
    if (text !== undefined) values[name] = parameter.parse(text, name);
  }
  return values as ParameterValues<P>;
}
