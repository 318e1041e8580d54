// Webhooks as bytes: signatures are made over what was sent, not over what a parser thinks of it.
import type { Request, RequestHandler } from 'express';
import { readBody } from '../base/request-body.js';
import type { WebhookRequest } from '../carriers/carrier.js';

/** Longest webhook, in bytes. */
const MAX_WEBHOOK_BYTES = 64 * 1024;

/** Collects the body of any type. A longer or compressed one is refused before it is read. */
export const captureRawBody: RequestHandler = async (request, response, next) => {
  request.body = await readBody(request, response, MAX_WEBHOOK_BYTES);
  next();
};

/** The request in the words of the carriers. */
export function toWebhookRequest(request: Request): WebhookRequest {
  const body: unknown = request.body;
  return {
    method: request.method,
    target: request.originalUrl,
    headers: joinHeaders(request.headers),
    rawBody: body instanceof Uint8Array ? body : new Uint8Array(),
  };
}

/** Headers with repeated ones joined by `, `. */
export function joinHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): WebhookRequest['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
