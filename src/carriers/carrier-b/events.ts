// Events of carrier B, one reader each. Every field may be missing or null; what is not listed still tells of its leg.
import { toClaim, toSipHeaders, withDetails } from '../call-details.js';
import type { CallDetails, CallReference, CarrierMessage, MachineVerdict } from '../carrier.js';
import { type Fields, toDigit, toFields, toText } from './fields.js';
import { toOutcome, toTransferResult } from './hangup-cause.js';

const MAX_PARTY_LENGTH = 128;
const MAX_TIME_LENGTH = 40;
const ACKNOWLEDGED: CarrierMessage = { type: 'acknowledged' };

/** An event that names a call leg. */
export interface LegEvent {
  readonly type: string;
  readonly reference: CallReference;
  readonly payload: Fields;
  /** The leg is the one that a transfer has dialed, not the one that the call is. */
  readonly isTransferLeg: boolean;
  /** ISO 8601, as the envelope has it. */
  readonly occurredAt: unknown;
}

type Reader = (reference: CallReference, payload: Fields) => CarrierMessage;

/** What an event says. The leg of a transfer can only say what becomes of the transfer: its keys and its answer are not the caller's. */
export function readEvent({ type, reference, payload, isTransferLeg, occurredAt }: LegEvent): CarrierMessage {
  const read = (isTransferLeg ? TRANSFER_LEG : OWN_LEG).get(type);
  const message = read?.(reference, payload) ?? ACKNOWLEDGED;
  if (message.type === 'acknowledged' && !isTransferLeg) return { type: 'leg-event', ...reference };
  const at = Date.parse(toText(occurredAt, MAX_TIME_LENGTH) ?? '');
  return message.type === 'status' && at > 0 ? { ...message, occurredAt: at } : message;
}

const readBridged: Reader = (reference) => ({ type: 'transfer', result: 'connected', ...reference });
const readSpeechEnd: Reader = (reference) => ({ type: 'speech-ended', ...reference });
const readStreamFailure: Reader = (reference, payload) => ({
  type: 'stream-failed',
  streamId: toText(payload.stream_id, MAX_PARTY_LENGTH) ?? null,
  ...reference,
});

const OWN_LEG: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['call.initiated', readInitiated],
  [
    'call.answered',
    (reference) => ({ type: 'status', status: 'active', outcome: null, sequence: null, ...reference }),
  ],
  ['call.hangup', readHangup],
  ['call.bridged', readBridged],
  ['call.dtmf.received', readDtmf],
  ['call.machine.detection.ended', readVerdict],
  ['call.machine.premium.detection.ended', readVerdict],
  ['call.machine.greeting.ended', readGreetingEnd],
  ['call.machine.premium.greeting.ended', readGreetingEnd],
  ['call.speak.ended', readSpeechEnd],
  ['call.playback.ended', readSpeechEnd],
  // Documented without the prefix, and shown with it in samples of the vendor.
  ['streaming.failed', readStreamFailure],
  ['call.streaming.failed', readStreamFailure],
  ['call.hold', (reference) => ({ type: 'hold', isHeld: true, ...reference })],
  ['call.unhold', (reference) => ({ type: 'hold', isHeld: false, ...reference })],
  ['call.cost', readCost],
]);

const TRANSFER_LEG: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['call.bridged', readBridged],
  [
    'call.hangup',
    (reference, payload) => ({
      type: 'transfer',
      result: toTransferResult(payload.hangup_cause, payload.sip_hangup_cause),
      ...reference,
    }),
  ],
]);

/** Only an incoming leg waits for an answer; answering another one is an error of the carrier. */
function readInitiated(reference: CallReference, payload: Fields): CarrierMessage {
  if (payload.direction === 'incoming') {
    const [caller, callee] = [toParty(payload.from), toParty(payload.to)];
    const details = withDetails(readDetails(payload));
    return { type: 'incoming-call', direction: 'inbound', caller, callee, ...details, ...reference };
  }
  if (payload.direction !== 'outgoing') return ACKNOWLEDGED;
  return { type: 'status', status: 'initiated', outcome: null, sequence: null, ...reference };
}

/** The carrier does not tell where a caller is. */
function readDetails(payload: Fields): CallDetails {
  const listed = [payload.sip_headers, payload.custom_headers].flatMap((list) =>
    Array.isArray(list) ? list.map(toFields) : [],
  );
  const sipHeaders = toSipHeaders(listed.map(({ name, value }) => [name, value] as const));
  const { diversion } = sipHeaders;
  return {
    callerName: toClaim(payload.caller_id_name),
    forwardedFrom: diversion === undefined ? null : toUser(diversion),
    sipHeaders,
    location: null,
  };
}

/** The user of the first address in a header: `<sip:+15550100@host>;reason=…`. */
function toUser(header: string): string | null {
  return toClaim(/(?:sips?|tel):([^@;>\s]+)/i.exec(header)?.[1]);
}

function readHangup(reference: CallReference, payload: Fields): CarrierMessage {
  const outcome = toOutcome(payload.hangup_cause, payload.sip_hangup_cause);
  const end = { type: 'status', status: 'completed', outcome, sequence: null, ...reference } as const;
  const { hangup_source: source } = payload;
  return source === 'caller' || source === 'callee' ? { ...end, endedBy: source } : end;
}

function readDtmf(reference: CallReference, payload: Fields): CarrierMessage {
  const digit = toDigit(payload.digit);
  return digit === undefined ? ACKNOWLEDGED : { type: 'dtmf', digit, ...reference };
}

/** Results of both detection modes. Silence does not say who answered. */
const VERDICTS: ReadonlyMap<unknown, MachineVerdict> = new Map([
  ['human', 'human'],
  ['human_residence', 'human'],
  ['human_business', 'human'],
  ['machine', 'machine'],
  ['fax_detected', 'fax'],
]);

function readVerdict(reference: CallReference, payload: Fields): CarrierMessage {
  return {
    type: 'machine-detection',
    verdict: VERDICTS.get(payload.result) ?? 'unknown',
    ...reference,
  };
}

/** Results after which a message can be spoken. `not_sure` is not among them: the session's own timeout decides then. */
const GREETING_ENDS: ReadonlySet<unknown> = new Set(['beep_detected', 'no_beep_detected', 'ended']);

/** A beep that comes before the verdict comes instead of it, so this event alone says that a machine is there. */
function readGreetingEnd(reference: CallReference, payload: Fields): CarrierMessage {
  if (!GREETING_ENDS.has(payload.result)) return ACKNOWLEDGED;
  return { type: 'machine-detection', verdict: 'machine-ready', ...reference };
}

const AMOUNT = /^\d{1,9}(\.\d{1,12})?$/;

/** `total_cost` is a decimal text. One that could not be computed, or is in another currency, is not passed on. */
function readCost(reference: CallReference, payload: Fields): CarrierMessage {
  const { status, total_cost: total, cost_parts: parts } = payload;
  const text = String(total);
  const isDollars = (Array.isArray(parts) ? parts : []).every((part) => {
    const { currency } = toFields(part);
    return currency === undefined || currency === null || currency === 'USD';
  });
  if (status === 'error' || !isDollars || !AMOUNT.test(text)) return ACKNOWLEDGED;
  return { type: 'cost', costUsd: Number(text), ...reference };
}

/** A number, a SIP address or a word such as `anonymous`: whatever the network claims, without control characters. */
function toParty(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\p{Cc}/gu, '').slice(0, MAX_PARTY_LENGTH) : '';
}
