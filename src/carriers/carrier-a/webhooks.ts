// Webhooks of carrier A: form parameters in, markup out.
import { RequestError } from '../../base/errors.js';
import type { CallOutcome, CallStatus } from '../../contract/call-record.js';
import type {
  CallAnswer,
  CarrierMessage,
  WebhookDialect,
  WebhookReply,
  WebhookRequest,
  WebhookRoute,
} from '../carrier.js';
import { decodeForm, isForm } from './form.js';
import { escapeXml, responseMarkup } from './xml.js';

const MAX_ID_LENGTH = 128;
const MAX_PARTY_LENGTH = 128;

/** `CallStatus` on the wire -> our status and, at the end, outcome. */
const STATUSES: ReadonlyMap<string, { status: CallStatus; outcome: CallOutcome | null }> = new Map([
  ['queued', { status: 'initiated', outcome: null }],
  ['initiated', { status: 'initiated', outcome: null }],
  ['ringing', { status: 'ringing', outcome: null }],
  ['in-progress', { status: 'active', outcome: null }],
  ['answered', { status: 'active', outcome: null }],
  ['completed', { status: 'completed', outcome: 'answered' }],
  ['busy', { status: 'completed', outcome: 'busy' }],
  ['no-answer', { status: 'completed', outcome: 'no-answer' }],
  ['failed', { status: 'completed', outcome: 'failed' }],
  ['canceled', { status: 'completed', outcome: 'canceled' }],
]);

/** The webhook words of carrier A. Detection and recording reports are understood and not used. */
export const webhookDialect: WebhookDialect = {
  routes: ['voice', 'status', 'recording', 'amd'],

  parse(route: WebhookRoute, request: WebhookRequest): CarrierMessage {
    const parameters = parametersOf(request);
    const carrierCallId = parameters.get('CallSid') ?? '';
    if (carrierCallId === '' || carrierCallId.length > MAX_ID_LENGTH) {
      throw new RequestError('REQUEST_INVALID', 'The webhook carries no usable CallSid.');
    }
    if (route === 'voice') return toIncomingCall(carrierCallId, parameters, request);
    if (route === 'status') return toStatus(carrierCallId, parameters);
    return { type: 'acknowledged' };
  },

  answer(answer: CallAnswer): WebhookReply {
    return markup(answerVerbs(answer));
  },

  acknowledge(route: WebhookRoute): WebhookReply {
    return markup(route === 'voice' ? answerVerbs({ type: 'reject' }) : '');
  },
};

/** @throws RequestError for a body that is no form. A GET carries everything in its query. */
function parametersOf(request: WebhookRequest): URLSearchParams {
  if (request.method === 'GET') {
    const start = request.target.indexOf('?');
    return decodeForm(start < 0 ? '' : request.target.slice(start + 1));
  }
  if (!isForm(request.headers['content-type'] ?? '')) {
    throw new RequestError('REQUEST_INVALID', 'The webhook is not a form.');
  }
  return decodeForm(request.rawBody);
}

function toIncomingCall(
  carrierCallId: string,
  parameters: URLSearchParams,
  request: WebhookRequest,
): CarrierMessage {
  const deliveryId = request.headers['i-twilio-idempotency-token'];
  return {
    type: 'incoming-call',
    carrierCallId,
    direction: parameters.get('Direction')?.startsWith('outbound') ? 'outbound' : 'inbound',
    caller: party(parameters.get('From')),
    callee: party(parameters.get('To')),
    ...(deliveryId === undefined ? {} : { deliveryId }),
  };
}

/** A number, a SIP address or a word such as `anonymous`: whatever the network claims, without control characters. */
function party(value: string | null): string {
  return (value ?? '').replace(/\p{Cc}/gu, '').slice(0, MAX_PARTY_LENGTH);
}

function toStatus(carrierCallId: string, parameters: URLSearchParams): CarrierMessage {
  const known = STATUSES.get(parameters.get('CallStatus') ?? '');
  if (known === undefined) return { type: 'acknowledged' };
  const sequence = parameters.get('SequenceNumber') ?? '';
  return {
    type: 'status',
    carrierCallId,
    ...known,
    sequence: /^\d{1,9}$/.test(sequence) ? Number(sequence) : null,
  };
}

function answerVerbs(answer: CallAnswer): string {
  switch (answer.type) {
    case 'stream':
      return streamVerb(answer.url, answer.parameters);
    case 'busy':
      return '<Reject reason="busy"/>';
    case 'reject':
      return '<Reject reason="rejected"/>';
    case 'hang-up':
      return '<Hangup/>';
  }
}

/** The carrier strips the query of a stream URL, so what the stream must know travels as parameters too. */
function streamVerb(url: string, parameters: Readonly<Record<string, string>>): string {
  const children = Object.entries(parameters).map(
    ([name, value]) => `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`,
  );
  return `<Connect><Stream url="${escapeXml(url)}">${children.join('')}</Stream></Connect>`;
}

function markup(verbs: string): WebhookReply {
  return { status: 200, contentType: 'text/xml; charset=utf-8', body: responseMarkup(verbs) };
}
