// Requests to the server that the page came from. Addresses are relative, so that a path prefix does not matter.
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

/** Of the page's two paths the one that is there on a server of the application's, too. */
const PAGE_PATH = 'dashboard';
export const EVENTS_PATH = 'api/dashboard/events';

/** A file of the calls that match. */
export function exportPath(format: 'csv' | 'json', filter: CallFilter): string {
  return `api/dashboard/export/calls?${toQuery({ format, ...filter })}`;
}

/** Counters over the calls that began at or after `from`; over all without it. */
export async function fetchAggregates(from?: number): Promise<Aggregates> {
  const query = from === undefined ? '' : `?${toQuery({ from })}`;
  return (await (await request(`api/dashboard/aggregates${query}`)).json()) as Aggregates;
}

function toQuery(values: { [name: string]: string | number }): URLSearchParams {
  return new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

export async function fetchCall(callId: string): Promise<CallRecord> {
  const path = `api/dashboard/calls/${encodeURIComponent(callId)}`;
  return (await (await request(path)).json()) as CallRecord;
}

/** The ended calls that the server holds, newest first. */
export async function fetchHistory(): Promise<CallsPage> {
  const path = `api/dashboard/calls?${toQuery({ status: 'completed', limit: 500 })}`;
  return (await (await request(path)).json()) as CallsPage;
}

export function hangUp(callId: string): Promise<void> {
  return command(`${encodeURIComponent(callId)}/hangup`, {});
}

/** `to` is a telephone number with its country code: `+15550100`. */
export function transfer(callId: string, to: string): Promise<void> {
  return command(`${encodeURIComponent(callId)}/transfer`, { to });
}

async function command(path: string, body: object): Promise<void> {
  await request(`api/dashboard/calls/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Shows the token once, for the session cookie in return. */
export async function signIn(token: string): Promise<void> {
  await request(PAGE_PATH, { headers: { Authorization: `Bearer ${token}` } });
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await request(PAGE_PATH, { method: 'DELETE' });
}
