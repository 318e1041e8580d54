// Requests to the server that the page came from. Addresses are relative, so that a path prefix does not matter.
import type { ForgetOutcome, SayOutcome } from '../../contract/call-command.js';
import type { CallRecord } from '../../contract/call-record.js';
import type { Aggregates, CallsPage, ErrorBody } from '../../contract/dashboard-api.js';
import type { CallFilter } from '../../events/call-filter.js';

/** A refusal of the server, or no answer at all (status 0). */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const PATIENCE_MS = 15_000;
/** A sentence waits until those before it were said. */
const SENTENCE_PATIENCE_MS = 600_000;

/** Files are written anew before a call is said to be gone. */
const FORGET_PATIENCE_MS = 60_000;

function request(path: string, init?: RequestInit, patienceMs = PATIENCE_MS): Promise<Response> {
  return send(path, { ...init, signal: AbortSignal.timeout(patienceMs) });
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new ApiError(0, 'The server does not answer.');
  }
  if (response.ok) return response;
  throw new ApiError(response.status, await messageOf(response));
}

async function messageOf(response: Response): Promise<string> {
  const fallback = `The server answered ${response.status}.`;
  if (response.headers.get('content-type')?.includes('application/json') !== true) return fallback;
  const body = (await response.json()) as Partial<ErrorBody>;
  return body.error?.message ?? fallback;
}

/** Of the page's two paths the one that is there on a server of the application's, too. */
const PAGE_PATH = 'dashboard';
export const EVENTS_PATH = 'api/dashboard/events';

/** A file of the calls that match. */
export function exportPath(format: 'csv' | 'json', filter: CallFilter): string {
  return `api/dashboard/export/calls?${toQuery({ format, ...filter })}`;
}

/** Counters over the calls that match; over all without a filter. */
export async function fetchAggregates(filter: CallFilter = {}): Promise<Aggregates> {
  const query = Object.keys(filter).length === 0 ? '' : `?${toQuery({ ...filter })}`;
  return (await (await request(`api/dashboard/aggregates${query}`)).json()) as Aggregates;
}

function toQuery(values: { [name: string]: string | number }): URLSearchParams {
  return new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

export async function fetchCall(callId: string): Promise<CallRecord> {
  const path = `api/dashboard/calls/${encodeURIComponent(callId)}`;
  return (await (await request(path)).json()) as CallRecord;
}

/** The newest 500 calls that match. */
export async function fetchCalls(filter: CallFilter): Promise<CallsPage> {
  const path = `api/dashboard/calls?${toQuery({ ...filter, limit: 500 })}`;
  return (await (await request(path)).json()) as CallsPage;
}

/** The recording of a call, a WAV file. */
export function audioPath(callId: string): string {
  return `api/dashboard/calls/${encodeURIComponent(callId)}/audio`;
}

/** Reads a piece of a recording, for an audio element does not say why it failed. @throws ApiError */
export async function tryAudio(callId: string, { from, to }: { from: number; to: number }): Promise<void> {
  const response = await request(audioPath(callId), { headers: { Range: `bytes=${from}-${to}` } });
  try {
    await response.arrayBuffer();
  } catch {
    throw new ApiError(0, 'The recording breaks off here: its file is damaged, or the server is gone.');
  }
}

/** The sound of a live call, as it comes. */
export interface OpenSound {
  /** How much later than it was heard the server sends it. */
  readonly delayMs: number;
  /** Of a WAV file without an end. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** `leaving` ends it, also while it goes on. @throws ApiError */
export async function openSound(callId: string, leaving: AbortSignal): Promise<OpenSound> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), PATIENCE_MS);
  leaving.addEventListener('abort', () => giveUp.abort());
  const path = `api/dashboard/calls/${encodeURIComponent(callId)}/listen`;
  const response = await send(path, { signal: giveUp.signal }).finally(() => clearTimeout(timer));
  const delayMs = Number(response.headers.get('x-offhook-delay-ms'));
  return { delayMs, pieces: piecesOf(response.body) };
}

/** Not every browser can loop over a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncIterable<Uint8Array> {
  const reader = body?.getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) yield next.value;
}

export async function hangUp(callId: string): Promise<void> {
  await command(`${encodeURIComponent(callId)}/hangup`, {});
}

/** `to` is a telephone number with its country code: `+15550100`. */
export async function transfer(callId: string, to: string): Promise<void> {
  await command(`${encodeURIComponent(callId)}/transfer`, { to });
}

/** Resolves when the caller has heard the text, or will not. `interrupt`: it cuts off what the agent says now. */
export async function say(callId: string, body: { text: string; interrupt: boolean }): Promise<SayOutcome> {
  const response = await command(`${encodeURIComponent(callId)}/say`, body, SENTENCE_PATIENCE_MS);
  return ((await response.json()) as { outcome: SayOutcome }).outcome;
}

/** Tells the model of a call what nobody hears. */
export async function inform(callId: string, text: string): Promise<void> {
  await command(`${encodeURIComponent(callId)}/inform`, { text });
}

/** Deletes a call that is over. */
export async function forget(callId: string): Promise<ForgetOutcome> {
  const path = `api/dashboard/calls/${encodeURIComponent(callId)}`;
  return (await (await request(path, { method: 'DELETE' }, FORGET_PATIENCE_MS)).json()) as ForgetOutcome;
}

function command(path: string, body: object, patienceMs?: number): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  return request(`api/dashboard/calls/${path}`, init, patienceMs);
}

/** Shows the token once, for the session cookie in return. */
export async function signIn(token: string): Promise<void> {
  await request(PAGE_PATH, { headers: { Authorization: `Bearer ${token}` } });
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await request(PAGE_PATH, { method: 'DELETE' });
}
