// The JSON around an event, in both versions of the API, and what a disturbance takes out of it.
import { toWireTime } from './ids.js';

/** Something that happened, with the fields of its payload. */
export interface WireEvent {
  /** The same for every repetition. */
  id: string;
  type: string;
  occurredAtMs: number;
  payload: Readonly<Record<string, unknown>>;
}

export interface EnvelopeOptions {
  apiVersion: '1' | '2';
  attempt: number;
  deliveredTo: string;
  optionalFields: 'missing' | 'null' | undefined;
}

/** Without these an event says nothing. Of all others the vendor promises none. */
const NEEDED_FIELDS = new Set([
  'call_control_id',
  'client_state',
  'direction',
  'digit',
  'result',
  'hangup_cause',
  'failure_reason',
  'total_cost',
]);

function thin(event: WireEvent, how: 'missing' | 'null'): Record<string, unknown> {
  const isNeeded = (name: string) =>
    NEEDED_FIELDS.has(name) || (event.type === 'call.initiated' && (name === 'from' || name === 'to'));
  const entries = Object.entries(event.payload);
  const kept = entries.filter(([name]) => isNeeded(name));
  const rest = how === 'null' ? entries.filter(([name]) => !isNeeded(name)) : [];
  return Object.fromEntries([...kept, ...rest.map(([name]) => [name, null])]);
}

/** The body of a webhook. */
export function writeEnvelope(event: WireEvent, options: EnvelopeOptions): string {
  const { optionalFields, attempt, deliveredTo } = options;
  const payload = optionalFields === undefined ? event.payload : thin(event, optionalFields);
  const occurredAt = toWireTime(event.occurredAtMs);
  if (options.apiVersion === '1') {
    const type = event.type.replaceAll('.', '_');
    return JSON.stringify({
      record_type: 'event',
      id: event.id,
      event_type: type,
      created_at: occurredAt,
      payload,
    });
  }
  const data = {
    record_type: 'event',
    event_type: event.type,
    id: event.id,
    occurred_at: occurredAt,
    payload,
  };
  return JSON.stringify(
    optionalFields === 'missing' ? { data } : { data, meta: { attempt, delivered_to: deliveredTo } },
  );
}
