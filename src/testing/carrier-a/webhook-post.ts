// Sends one webhook of carrier A to a server: signed with the public host, dialed at the address of the server.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../base/clock.js';
import type { Parameters } from './parameters.js';
import { signJsonRequest, signRequest } from './signing.js';

/** A server under test, as the carrier reaches it. */
export interface WebhookTarget {
  /** What is dialed, for example `http://127.0.0.1:8000`. */
  readonly url: URL;
  /** Public host that the webhooks are configured with; part of the signed text. */
  readonly webhookHost: string;
  /** Signs the requests; nothing is signed without it. */
  readonly authToken: string | undefined;
}

export interface OutgoingWebhook {
  /** The URL that the carrier was told, fragment and all. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly parameters: Parameters;
  /** The same when the delivery is repeated. */
  readonly deliveryId: string;
  /** @default 'right', where there is a secret to sign with */
  readonly signature?: 'right' | 'wrong' | 'none';
  /** A JSON body in place of the form: the URL is extended by its hash. */
  readonly json?: string;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** From the first byte of the request to the last of the answer. */
  readonly afterMs: number;
}

/** Source: webhook delivery of the carrier, hard ceiling for requests of a call. */
const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 65_536;

/** No answer. `connected` is false when the server was never reached, which is the case that the carrier repeats. */
export class DeliveryFailure extends Error {
  readonly connected: boolean;
  constructor(connected: boolean, cause: unknown) {
    super('the webhook got no answer', { cause });
    this.connected = connected;
  }
}

interface Envelope {
  /** Path and query, as requested. */
  readonly target: string;
  readonly host: string;
  readonly body: string;
  readonly contentType: string;
  readonly signature: string | undefined;
}

/** Parameters as the body of a form. */
export function encodeForm(parameters: Parameters): string {
  return new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
}

/** Puts URL, body and signature together. */
function seal(webhook: OutgoingWebhook, authToken: string | undefined): Envelope {
  const [bare = ''] = webhook.url.split('#');
  const { json, method, parameters } = webhook;
  let url = bare;
  let signature: string | undefined;
  const key = webhook.signature === 'wrong' ? 'somebody else' : authToken;
  if (json !== undefined) {
    const signed = signJsonRequest(key ?? '', { url: bare, body: json });
    url = signed.url;
    signature = signed.signature;
  } else {
    if (method === 'GET') url += (bare.includes('?') ? '&' : '?') + encodeForm(parameters);
    signature = signRequest(key ?? '', { url, parameters: method === 'GET' ? [] : parameters });
  }
  const [, host = '', target = ''] = /^[a-z]+:\/\/([^/?]*)(.*)$/i.exec(url) ?? [];
  return {
    target: target.startsWith('/') ? target : `/${target}`,
    host,
    body: json ?? (method === 'GET' ? '' : encodeForm(parameters)),
    contentType: json === undefined ? 'application/x-www-form-urlencoded; charset=UTF-8' : 'application/json',
    signature: key === undefined || webhook.signature === 'none' ? undefined : signature,
  };
}

function headersOf(envelope: Envelope, webhook: OutgoingWebhook): Record<string, string> {
  return {
    host: envelope.host,
    'user-agent': 'TwilioProxy/1.1',
    accept: '*/*',
    'i-twilio-idempotency-token': webhook.deliveryId,
    ...(webhook.method === 'GET'
      ? {}
      : {
          'content-type': envelope.contentType,
          'content-length': String(Buffer.byteLength(envelope.body)),
        }),
    ...(envelope.signature === undefined ? {} : { 'x-twilio-signature': envelope.signature }),
  };
}

/** Sends one webhook. @throws DeliveryFailure when there is no answer, within 15 s at the most. */
export function postWebhook(
  target: WebhookTarget,
  webhook: OutgoingWebhook,
  context: { clock: Clock; signal: AbortSignal },
): Promise<WebhookAnswer> {
  const envelope = seal(webhook, target.authToken);
  const startedMs = context.clock.now();
  const send = target.url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    let connected = false;
    const fail = (cause: unknown) => reject(new DeliveryFailure(connected, cause));
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const options = {
      method: webhook.method,
      path: envelope.target,
      headers: headersOf(envelope, webhook),
      agent: false as const,
      signal,
    };
    const request = send(target.url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is longer than 64 KiB'));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          body: Buffer.concat(chunks).toString('utf8'),
          afterMs: context.clock.now() - startedMs,
        }),
      );
    });
    const readyEvent = target.url.protocol === 'https:' ? 'secureConnect' : 'connect';
    request.on('socket', (socket) => {
      socket.once(readyEvent, () => {
        connected = true;
      });
    });
    request.on('error', fail);
    request.end(envelope.body);
  });
}

/** Why a webhook got no answer, in words. */
export function describeFailure(error: unknown, subject: string): string {
  const cause = error instanceof DeliveryFailure ? error.cause : error;
  const code = (cause as { code?: unknown } | null)?.code;
  if (code === 'ECONNREFUSED') return `nobody listens at ${subject}`;
  if (cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError')) {
    const isTimeout =
      cause.name === 'TimeoutError' || (cause.cause as Error | undefined)?.name === 'TimeoutError';
    return isTimeout ? 'the webhook was not answered within 15 s' : 'the simulation was called off';
  }
  return typeof code === 'string' ? `the webhook failed (${code})` : 'the webhook failed';
}
