// One function per endpoint: what was asked in, status and body out. Knows no web framework and no authentication.
import { isE164 } from '../base/e164.js';
import { NotFoundError, RequestError } from '../base/errors.js';
import type { CallControls } from '../contract/call-command.js';
import type { ActiveCalls, CallsPage } from '../contract/dashboard-api.js';
import { toSummary } from '../events/summarize.js';
import type { CallStore } from '../stores/call-store.js';
import type { Answer } from './answer.js';
import { OPENAPI } from './openapi.js';
import { parseCallsQuery } from './query.js';

/** What an endpoint may look at. */
export interface HandlerRequest {
  /** The call in the path, by our id or the carrier's; empty where the path has none. */
  callId: string;
  query: URLSearchParams;
  /** The parsed JSON body, undefined where there is none. */
  body: unknown;
}

export type Handler = (request: HandlerRequest) => Promise<Answer>;

/** The endpoints that answer with JSON, by operation id. */
export type JsonOperation =
  | 'listCalls'
  | 'getCall'
  | 'listActiveCalls'
  | 'getAggregates'
  | 'hangUpCall'
  | 'transferCall'
  | 'ingestEvents'
  | 'getOpenApi';

/** Builds the endpoints. `controls` is null where this process owns no calls. */
export function createHandlers(parts: {
  store: CallStore;
  controls: CallControls | null;
}): Record<JsonOperation, Handler> {
  const { store, controls } = parts;

  /** Runs a command on a call that is not over. @throws RequestError, NotFoundError. */
  async function command(callId: string, run: (controls: CallControls, id: string) => Promise<void>) {
    const record = await store.get(callId);
    if (record?.status === 'completed') throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    if (controls === null) {
      if (record === undefined) throw new NotFoundError('There is no such call.');
      throw new RequestError('REQUEST_CONFLICT', 'Another process owns this call.');
    }
    const id = record?.callId ?? callId;
    await run(controls, id);
    return { status: 202, body: { callId: id } };
  }

  return {
    async listCalls({ query }) {
      const page = await store.list(parseCallsQuery(query));
      const body: CallsPage = { ...page, calls: page.calls.map(toSummary) };
      return { status: 200, body };
    },
    async getCall({ callId }) {
      const record = await store.get(callId);
      if (record === undefined) throw new NotFoundError('There is no such call.');
      return { status: 200, body: record };
    },
    async listActiveCalls() {
      const body: ActiveCalls = { calls: await store.active() };
      return { status: 200, body };
    },
    async getAggregates() {
      return { status: 200, body: await store.aggregates() };
    },
    async hangUpCall({ callId, body }) {
      checkObject(body);
      return command(callId, (owner, id) => owner.hangUp(id));
    },
    async transferCall({ callId, body }) {
      const { to } = checkObject(body);
      if (typeof to !== 'string' || !isE164(to))
        throw new RequestError('REQUEST_INVALID', 'Field "to" must be a telephone number like +15550100.');
      return command(callId, (owner, id) => owner.transfer(id, to));
    },
    async ingestEvents() {
      throw new RequestError(
        'REQUEST_CONFLICT',
        'This dashboard shows the calls of its own server only. A standalone one (offhook dashboard) takes those of others.',
      );
    },
    async getOpenApi() {
      return { status: 200, body: OPENAPI };
    },
  };
}

/** An absent body counts as an empty object. */
function checkObject(body: unknown): { to?: unknown } {
  if (body === undefined) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new RequestError('REQUEST_INVALID', 'The body must be a JSON object.');
}
