// Requests to the server that the page came from. Addresses are relative, so that a path prefix does not matter.
import type { CallRecord } from '../../contract/call-record.js';
import type { Aggregates, CallsPage, ErrorBody } from '../../contract/dashboard-api.js';

/** A refusal of the server, or no answer at all (status 0). */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function request(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, signal: AbortSignal.timeout(15_000) });
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

export const EVENTS_PATH = 'api/dashboard/events';

export function exportPath(format: 'csv' | 'json'): string {
  return `api/dashboard/export/calls?format=${format}`;
}

export async function fetchAggregates(): Promise<Aggregates> {
  return (await (await request('api/dashboard/aggregates')).json()) as Aggregates;
}

export async function fetchCall(callId: string): Promise<CallRecord> {
  const path = `api/dashboard/calls/${encodeURIComponent(callId)}`;
  return (await (await request(path)).json()) as CallRecord;
}

/** A page of ended calls. */
export async function fetchHistory(options: { limit: number; cursor: string | null }): Promise<CallsPage> {
  const query = new URLSearchParams({ status: 'completed', limit: String(options.limit) });
  if (options.cursor !== null) query.set('cursor', options.cursor);
  return (await (await request(`api/dashboard/calls?${query}`)).json()) as CallsPage;
}

export async function hangUp(callId: string): Promise<void> {
  await request(`api/dashboard/calls/${encodeURIComponent(callId)}/hangup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
}

/** Shows the token once, for the session cookie in return. */
export async function signIn(token: string): Promise<void> {
  await request('./', { headers: { Authorization: `Bearer ${token}` } });
}
