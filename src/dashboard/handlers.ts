// One function per endpoint: what was asked in, status and body out. Knows no web framework and no authentication.
import { isE164 } from '../base/e164.js';
import { NotFoundError, RequestError } from '../base/errors.js';
import { checkSayOptions, toInformation, toSpokenText } from '../base/text-for-call.js';
import type { CallControls, ForgetOutcome } from '../contract/call-command.js';
import type { CallRecord } from '../contract/call-record.js';
import type { CallsPage, HangUpAccepted } from '../contract/dashboard-api.js';
import type { CallPage, CallReader } from '../stores/call-store.js';
import type { Answer, LongAnswer } from './answer.js';
import type { Piece } from './breather.js';
import { OPENAPI } from './openapi.js';
import { parseCallsQuery, parseFilter } from './query.js';
import { listPieces, recordPieces, summaryPieces } from './record-text.js';

/** What an endpoint may look at. */
export interface HandlerRequest {
  /** The call in the path, by our id or the carrier's; empty where the path has none. */
  callId: string;
  query: URLSearchParams;
  /** The parsed JSON body, undefined where there is none. */
  body: unknown;
}

export type Handler = (request: HandlerRequest) => Promise<Answer | LongAnswer>;

/** The endpoints that answer with JSON, by operation id. */
export type JsonOperation =
  | 'listCalls'
  | 'getCall'
  | 'forgetCall'
  | 'listActiveCalls'
  | 'getAggregates'
  | 'hangUpCall'
  | 'transferCall'
  | 'sayOnCall'
  | 'informCall'
  | 'ingestEvents'
  | 'getOpenApi';

/** Builds the endpoints. `controls` is null where this process owns no calls. */
export function createHandlers(parts: {
  store: CallReader;
  controls: CallControls | null;
  forget: ((callId: string) => Promise<ForgetOutcome>) | null;
}): Record<JsonOperation, Handler> {
  const { store, controls, forget } = parts;

  /** Runs a command on a call that is not over, or not yet at the carrier. @throws RequestError, NotFoundError. */
  async function command(callId: string, run: (controls: CallControls, id: string) => Promise<object>) {
    const record = await store.get(callId);
    if (record?.status === 'completed' && record.hangUp !== 'pending')
      throw new RequestError('REQUEST_CONFLICT', 'The call is over.');
    if (controls === null) {
      if (record === undefined) throw new NotFoundError('No such call.');
      throw new RequestError('REQUEST_CONFLICT', 'Another process owns this call.');
    }
    const id = record?.callId ?? callId;
    return { status: 202, body: { callId: id, ...(await run(controls, id)) } };
  }

  return {
    async listCalls({ query }) {
      return { status: 200, pieces: pagePieces(await store.list(parseCallsQuery(query))) };
    },
    async getCall({ callId }) {
      const record = await store.get(callId);
      if (record === undefined) throw new NotFoundError('No such call.');
      return { status: 200, pieces: recordPieces(record) };
    },
    async forgetCall({ callId }) {
      if (forget === null) throw new RequestError('REQUEST_CONFLICT', 'This process deletes no calls.');
      const record = await store.get(callId);
      return { status: 200, body: { callId: record?.callId ?? callId, ...(await forget(callId)) } };
    },
    async listActiveCalls() {
      return { status: 200, pieces: activePieces(await store.active()) };
    },
    async getAggregates({ query }) {
      return { status: 200, body: await store.aggregates(parseFilter(query)) };
    },
    async hangUpCall({ callId, body }) {
      checkObject(body);
      return command(
        callId,
        async (owner, id): Promise<Omit<HangUpAccepted, 'callId'>> => ({ hangUp: await owner.hangUp(id) }),
      );
    },
    async transferCall({ callId, body }) {
      const { to } = checkObject(body);
      if (typeof to !== 'string' || !isE164(to))
        throw new RequestError('REQUEST_INVALID', 'Field "to" must be a phone number like +15550100.');
      return command(callId, async (owner, id) => {
        await owner.transfer(id, to);
        return {};
      });
    },
    async sayOnCall({ callId, body }) {
      const { text, ...given } = checkObject(body);
      const [words, options] = [toSpokenText(text), checkSayOptions(given)];
      const answer = await command(callId, async (owner, id) => ({
        outcome: await owner.say(id, words, options),
      }));
      return { ...answer, status: 200 };
    },
    async informCall({ callId, body }) {
      const information = toInformation(checkObject(body).text);
      return command(callId, async (owner, id) => {
        await owner.inform(id, information);
        return {};
      });
    },
    async ingestEvents() {
      throw new RequestError(
        'REQUEST_CONFLICT',
        'This dashboard shows only the calls of its own server. Send calls of other servers to a standalone one (offhook dashboard).',
      );
    },
    async getOpenApi() {
      return { status: 200, body: OPENAPI };
    },
  };
}

function* pagePieces({ calls, nextCursor, total }: CallPage): Generator<Piece> {
  const rest: Omit<CallsPage, 'calls'> = { nextCursor, total };
  yield '{"calls":';
  yield* listPieces(calls, summaryPieces);
  yield `,${JSON.stringify(rest).slice(1)}`;
}

function* activePieces(calls: readonly CallRecord[]): Generator<Piece> {
  yield '{"calls":';
  yield* listPieces(calls, recordPieces);
  yield '}';
}

/** An absent body counts as an empty object. */
function checkObject(body: unknown): { to?: unknown; text?: unknown } {
  if (body === undefined) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new RequestError('REQUEST_INVALID', 'The body must be a JSON object.');
}
