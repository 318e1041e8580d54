// Who talks to whom, from sources that are not equally believable.
import type { MediaMessage } from '../carriers/carrier.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallDirection } from '../contract/call-record.js';
import type { StreamAdmission } from './call-desk.js';

export type StartMessage = Extract<MediaMessage, { type: 'start' }>;

/** Longest number or address that is kept, in characters. A `sip:` address fits. */
const MAX_PARTY_LENGTH = 128;

/**
 * The identity of a call, without its carrier. An admission that was proven by a token outranks what the start message says; one
 * that only repeats the query of the URL is outranked by it.
 */
export function identifyCall(
  admission: StreamAdmission,
  start: StartMessage | undefined,
  options: { proven: boolean },
): Omit<CallIdentity, 'carrier'> {
  const stated = {
    caller: parameter(start, 'caller'),
    callee: parameter(start, 'callee'),
    direction: toDirection(parameter(start, 'direction')),
  };
  const [first, second] = options.proven ? [admission, stated] : [stated, admission];
  return {
    carrierCallId: admission.carrierCallId ?? start?.carrierCallId ?? null,
    caller: toParty(first.caller ?? second.caller),
    callee: toParty(first.callee ?? second.callee),
    direction: first.direction ?? second.direction ?? 'inbound',
  };
}

function parameter(start: StartMessage | undefined, name: string): string | null {
  if (start === undefined || !Object.hasOwn(start.parameters, name)) return null;
  return start.parameters[name] || null;
}

function toDirection(value: string | null): CallDirection | null {
  return value === 'inbound' || value === 'outbound' ? value : null;
}

function toParty(value: string | null): string {
  return (value ?? '').replace(/\p{Cc}/gu, '').slice(0, MAX_PARTY_LENGTH);
}
