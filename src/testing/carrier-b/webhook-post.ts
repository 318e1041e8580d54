// One delivery of a webhook: the request, and how it ended.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../base/clock.js';

export interface WebhookPost {
  /** What is dialed, path included. */
  url: URL;
  /** Public host, for the `Host` header. */
  host: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  timeoutMs: number;
  clock: Clock;
  signal: AbortSignal;
}

/** Posts and resolves with the HTTP status, or with null when there was no answer in time. `code` is that of a failed connection. */
export function postWebhook(post: WebhookPost): Promise<{ status: number | null; code: string | null }> {
  const send = post.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = {
    host: post.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(post.body)),
    'user-agent': 'telnyx-webhooks',
    ...post.headers,
  };
  return new Promise((resolve) => {
    const request = send(post.url, { method: 'POST', headers, agent: false, signal: post.signal });
    const timer = post.clock.after(post.timeoutMs, () => request.destroy());
    const settle = (status: number | null, code: string | null) => {
      timer.cancel();
      resolve({ status, code });
    };
    request.on('response', (response) => {
      // Only the status counts; the rest is read so that the connection ends in order.
      response.resume();
      response.on('error', () => {});
      settle(response.statusCode ?? null, null);
    });
    request.on('error', (error) => settle(null, (error as { code?: string }).code ?? null));
    request.on('close', () => settle(null, null));
    request.end(post.body);
  });
}
