// Webhooks of carrier B: JSON envelopes in, an empty JSON object out. Commands go through its REST API, never in the answer.
import { RequestError } from '../../base/errors.js';
import type { CarrierMessage, WebhookDoor, WebhookReply, WebhookRequest } from '../carrier.js';

/** The webhook words of carrier B. Its events are understood and nothing is done: the call is left unanswered. */
export const webhookDialect: WebhookDoor['webhooks'] = {
  routes: ['voice'],

  parse(_route, request: WebhookRequest): CarrierMessage {
    if (!isEnvelope(request.rawBody)) {
      throw new RequestError('REQUEST_INVALID', 'The webhook is not a JSON object.');
    }
    return { type: 'acknowledged' };
  },

  acknowledge(): WebhookReply {
    return { status: 200, contentType: 'application/json; charset=utf-8', body: '{}' };
  },
};

function isEnvelope(rawBody: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
