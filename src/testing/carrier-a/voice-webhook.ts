// Posts carrier A's webhooks to a server: signed with the public host, dialled at the address of the server.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { signRequest } from './signing.js';

/** A server under test, as the carrier reaches it. */
export interface WebhookTarget {
  /** What is dialled, for example `http://127.0.0.1:8000`. */
  readonly url: URL;
  /** Public host that the number's webhook is configured with; part of the signed text. */
  readonly webhookHost: string;
  /** Signs the requests; nothing is signed without it. */
  readonly authToken: string | undefined;
}

export interface PostOptions {
  path: '/webhooks/carrier-a/voice' | '/webhooks/carrier-a/status';
  parameters: readonly (readonly [string, string])[];
  clock: Clock;
  signal: AbortSignal;
}

export interface WebhookAnswer {
  status: number;
  contentType: string;
  body: string;
  /** From the first byte of the request to the last of the answer. */
  afterMs: number;
}

/** Source: webhook delivery of the carrier, hard ceiling for requests of a call. */
const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 65_536;

/** Facts of a call that every webhook of it carries. */
export interface CallFacts {
  callSid: string;
  accountSid: string;
  from: string;
  to: string;
}

/** Parameters of a voice webhook for an inbound call, empty geography included as the carrier sends it. */
export function voiceParameters(call: CallFacts): [string, string][] {
  const geography = ['City', 'State', 'Zip', 'Country'].flatMap((field) =>
    ['From', 'To', 'Caller', 'Called'].map((side): [string, string] => [side + field, '']),
  );
  return [...baseParameters(call, 'ringing'), ...geography];
}

/** Parameters of the number's status callback at the end of a call. */
export function statusParameters(
  call: CallFacts,
  ended: { status: string; durationMs: number },
): [string, string][] {
  const seconds = String(Math.ceil(ended.durationMs / 1000));
  return [
    ...baseParameters(call, ended.status),
    ['CallDuration', seconds],
    ['Duration', String(Math.ceil(ended.durationMs / 60_000))],
    ['SequenceNumber', '0'],
    ['CallbackSource', 'call-progress-events'],
    ['Timestamp', new Date().toUTCString().replace('GMT', '+0000')],
  ];
}

function baseParameters(call: CallFacts, status: string): [string, string][] {
  return [
    ['AccountSid', call.accountSid],
    ['ApiVersion', '2010-04-01'],
    ['CallSid', call.callSid],
    ['CallStatus', status],
    ['Called', call.to],
    ['Caller', call.from],
    ['Direction', 'inbound'],
    ['From', call.from],
    ['To', call.to],
  ];
}

/** Posts one webhook. Rejects when the server cannot be reached or takes longer than the carrier waits. */
export function postWebhook(target: WebhookTarget, options: PostOptions): Promise<WebhookAnswer> {
  const body = new URLSearchParams(
    options.parameters.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  const path = target.url.pathname.replace(/\/$/, '') + options.path;
  const headers: Record<string, string> = {
    host: target.webhookHost,
    'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'TwilioProxy/1.1',
    accept: '*/*',
    'i-twilio-idempotency-token': randomUUID(),
  };
  if (target.authToken !== undefined) {
    const url = `https://${target.webhookHost}${path}`;
    headers['x-twilio-signature'] = signRequest(target.authToken, { url, parameters: options.parameters });
  }
  const startedMs = options.clock.now();
  const send = target.url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const url = new URL(path, target.url);
    const request = send(url, { method: 'POST', headers, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is longer than 64 KiB'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          body: Buffer.concat(chunks).toString('utf8'),
          afterMs: options.clock.now() - startedMs,
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}
