// A webhook in the words of the carriers.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { WebhookRequest } from '../carriers/carrier.js';

/** `rawBody` are the bytes as they came: signatures are made over what was sent, not over what a parser thinks of it. */
export function toWebhookRequest(request: IncomingMessage, rawBody: Uint8Array): WebhookRequest {
  const { method = '', url: target = '', headers } = request;
  return { method, target, headers: joinHeaders(headers), rawBody };
}

/** Node has joined repeated headers by `, ` already, but for this one. */
function joinHeaders(headers: IncomingHttpHeaders): WebhookRequest['headers'] {
  const { 'set-cookie': cookies } = headers;
  return (
    cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') }
  ) as WebhookRequest['headers'];
}
