// A program of a reader of docs/reference/http-api.md. Its types are generated from the document by the test that compiles and runs it.
import createClient, { type Client } from 'openapi-fetch';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { components, operations, paths } from './offhook-api.js';

type Query = NonNullable<operations['listCalls']['parameters']['query']>;
type Snapshot = components['schemas']['Snapshot'];
type CallEvent = components['schemas']['CallEvent'];

export function connect(baseUrl: string, token: string): Client<paths> {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

/** All calls, newest first, page by page. */
export async function* readHistory(api: Client<paths>, limit: number) {
  const query: Query = { limit };
  while (true) {
    const { data, error } = await api.GET('/api/dashboard/calls', { params: { query } });
    if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
    yield* data.calls;
    if (data.nextCursor === null) return;
    query.cursor = data.nextCursor;
  }
}

export async function hangUp(api: Client<paths>, callId: string) {
  const params = { path: { callId } };
  const { data, error } = await api.POST('/api/dashboard/calls/{callId}/hangup', { params, body: {} });
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
  return data.hangUp;
}

/** The live calls as they are now, then every event as it comes. */
export async function* follow(api: Client<paths>): AsyncGenerator<Snapshot | CallEvent> {
  const { data, error } = await api.GET('/api/dashboard/events', { parseAs: 'stream' });
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
  if (data === null) return;
  const messages = data.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const message of messages)
    if (!['draining', 'broker'].includes(message.event ?? ''))
      yield JSON.parse(message.data) as Snapshot | CallEvent;
}

export async function readCall(api: Client<paths>, callId: string) {
  const { data, error } = await api.GET('/api/dashboard/calls/{callId}', { params: { path: { callId } } });
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
  return data;
}

/** Hangs up the first live call, and says why it ended. */
export async function endFirstCall(api: Client<paths>) {
  let callId: string | undefined;
  for await (const message of follow(api)) {
    if (!('type' in message)) {
      callId = message.active[0]?.callId;
      if (callId === undefined) return undefined;
      await hangUp(api, callId);
    } else if (message.type === 'call.ended' && message.callId === callId) {
      return message.endReason === 'operator-hangup' ? message : undefined;
    }
  }
  return undefined;
}
