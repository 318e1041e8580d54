// Parameters of a webhook -> what it says, in our words.
import { RequestError } from '../../base/errors.js';
import { toClaim, toSipHeaders, withDetails } from '../call-details.js';
import type {
  CallDetails,
  CallReference,
  CarrierMessage,
  MachineVerdict,
  TransferResult,
  WebhookRequest,
  WebhookRoute,
} from '../carrier.js';
import { readCallback, readResume } from './callback-url.js';
import { type Parameters, readParameters } from './parameters.js';
import { toRecording } from './recording.js';
import { toProgress } from './statuses.js';
import { isWireId } from './wire-id.js';

const DELIVERY_HEADER = 'i-twilio-idempotency-token';
const MAX_PARTY_LENGTH = 128;
const ACKNOWLEDGED: CarrierMessage = { type: 'acknowledged' };

/** Reads one webhook. A word that is not known is acknowledged, the carrier adds new ones. @throws RequestError */
export function toMessage(route: WebhookRoute, request: WebhookRequest): CarrierMessage {
  const parameters = readParameters(request);
  const carrierCallId = parameters.get('CallSid');
  if (!isWireId(carrierCallId)) {
    throw new RequestError('REQUEST_INVALID', 'The webhook has no valid CallSid.');
  }
  const { callId, isTransfer } = readCallback(request.target);
  const deliveryId = request.headers[DELIVERY_HEADER];
  const call = { carrierCallId, callId, ...(isWireId(deliveryId) ? { deliveryId } : {}) };
  switch (route) {
    case 'voice':
      return isTransfer ? toTransfer(call, parameters) : toIncomingCall(call, parameters);
    case 'status':
      return toStatus(call, parameters);
    case 'amd':
      return { type: 'machine-detection', ...call, verdict: toVerdict(parameters.get('AnsweredBy') ?? '') };
    case 'resume':
      return { type: 'resume', ...call, ...readResume(request.target) };
    case 'recording': {
      const recording = toRecording(parameters);
      return recording === undefined ? ACKNOWLEDGED : { type: 'recording', ...call, recording };
    }
  }
}

function toIncomingCall(call: CallReference, parameters: Parameters): CarrierMessage {
  const direction = parameters.get('Direction')?.startsWith('outbound') ? 'outbound' : 'inbound';
  return {
    type: 'incoming-call',
    ...call,
    direction,
    caller: party(parameters.get('From') ?? parameters.get('Caller')),
    callee: party(parameters.get('To') ?? parameters.get('Called')),
    ...(direction === 'inbound' ? withDetails(toDetails(parameters)) : {}),
  };
}

const SIP_HEADER = 'SipHeader_';

function toDetails(parameters: Parameters): CallDetails {
  const claim = (name: string) => toClaim(parameters.get(name));
  const location = {
    city: claim('FromCity'),
    region: claim('FromState'),
    postalCode: claim('FromZip'),
    country: claim('FromCountry'),
  };
  const headers = [...parameters].filter(([name]) => name.startsWith(SIP_HEADER));
  return {
    callerName: claim('CallerName'),
    forwardedFrom: claim('ForwardedFrom'),
    sipHeaders: toSipHeaders(headers.map(([name, value]) => [name.slice(SIP_HEADER.length), value])),
    location: Object.values(location).every((part) => part === null) ? null : location,
  };
}

/** A number, a SIP address or a word such as `anonymous`: whatever the network claims, without control characters. */
function party(value: string | null): string {
  return (value ?? '')
    .replace(/\p{Cc}/gu, '')
    .slice(0, MAX_PARTY_LENGTH)
    .replace(/\p{Cs}/gu, '');
}

function toStatus(call: CallReference, parameters: Parameters): CarrierMessage {
  const progress = toProgress(parameters.get('CallStatus'));
  if (progress === undefined) return ACKNOWLEDGED;
  const sequence = parameters.get('SequenceNumber') ?? '';
  const seconds = parameters.get('CallDuration') ?? '';
  const isTimed = progress.outcome === 'answered' && /^\d{1,7}$/.test(seconds);
  return {
    type: 'status',
    ...call,
    ...progress,
    sequence: /^\d{1,9}$/.test(sequence) ? Number(sequence) : null,
    ...(isTimed ? { durationMs: Number(seconds) * 1000 } : {}),
  };
}

const TRANSFER_RESULTS: ReadonlyMap<string, TransferResult> = new Map<string, TransferResult>([
  ['completed', 'connected'],
  ['answered', 'connected'],
  ['busy', 'busy'],
  ['no-answer', 'no-answer'],
]);

/**
 * Whatever does not say that the other side was reached leaves the caller with us, unless the call is over: a caller who leaves
 * while the other side rings makes the carrier report this as well.
 */
function toTransfer(call: CallReference, parameters: Parameters): CarrierMessage {
  const result = TRANSFER_RESULTS.get(parameters.get('DialCallStatus') ?? '') ?? 'failed';
  const progress = toProgress(parameters.get('CallStatus'));
  const hasLeft = progress?.status === 'completed' && result !== 'connected';
  return hasLeft
    ? { type: 'status', ...call, ...progress, sequence: null }
    : { type: 'transfer', ...call, result };
}

const VERDICTS: ReadonlyMap<string, MachineVerdict> = new Map<string, MachineVerdict>([
  ['human', 'human'],
  ['machine_start', 'machine'],
  ['machine_end_beep', 'machine-ready'],
  ['machine_end_silence', 'machine-ready'],
  ['machine_end_other', 'machine-ready'],
  ['fax', 'fax'],
]);

function toVerdict(answeredBy: string): MachineVerdict {
  return VERDICTS.get(answeredBy) ?? 'unknown';
}
