// Webhooks of carrier B: JSON envelopes in, an empty JSON object out. What is to be done with a call goes through its REST API.
import { RequestError } from '../../base/errors.js';
import type { CarrierMessage, WebhookDialect, WebhookReply, WebhookRequest } from '../carrier.js';
import { toCallControlId } from './call-control-id.js';
import { decodeClientState } from './client-state.js';
import { readEvent } from './events.js';
import { type Fields, parseObject, toFields, toText } from './fields.js';

const MAX_DELIVERY_ID_LENGTH = 128;
const REPLY: WebhookReply = { status: 200, contentType: 'application/json; charset=utf-8', body: '{}' };

/** The webhook words of carrier B. All events of an application arrive on one route. */
export const webhookDialect: WebhookDialect = {
  routes: ['voice'],

  parse(_route, request: WebhookRequest): CarrierMessage {
    const data = toFields(readEnvelope(request.rawBody).data);
    const payload = toFields(data.payload);
    const carrierCallId = toCallControlId(payload.call_control_id);
    // An envelope of another version, an event that is about no call, or one that does not say about which.
    if (typeof data.event_type !== 'string' || carrierCallId === undefined) return { type: 'acknowledged' };
    const { callId, isTransferLeg } = decodeClientState(payload.client_state);
    const deliveryId = toText(data.id, MAX_DELIVERY_ID_LENGTH);
    const reference = { carrierCallId, callId, ...(deliveryId === undefined ? {} : { deliveryId }) };
    const { event_type: type, occurred_at: occurredAt } = data;
    return readEvent({ type, reference, payload, isTransferLeg, occurredAt });
  },

  answer: () => REPLY,
  acknowledge: () => REPLY,
};

/** @throws RequestError for what is not a JSON object in UTF-8. A byte order mark is not JSON. */
function readEnvelope(rawBody: Uint8Array): Fields {
  const envelope = parseObject(decodeUtf8(rawBody) ?? '');
  if (envelope !== undefined) return envelope;
  throw new RequestError('REQUEST_INVALID', 'The webhook is not a JSON object.');
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
