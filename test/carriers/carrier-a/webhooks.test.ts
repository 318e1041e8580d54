import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.js';
import { webhookDialect } from '../../../src/carriers/carrier-a/webhooks.js';
import type { CarrierMessage, WebhookRequest, WebhookRoute } from '../../../src/carriers/carrier.js';

interface Fixture {
  title: string;
  route: WebhookRoute;
  method: string;
  target: string;
  headers: Record<string, string>;
  rawBody: string;
  message: CarrierMessage;
}

const fixtures = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-a-webhooks.json', import.meta.url), 'utf8'),
) as Fixture[];

const form = 'application/x-www-form-urlencoded; charset=UTF-8';
const routes: WebhookRoute[] = ['voice', 'status', 'recording', 'amd'];

function post(parameters: Record<string, string>, over: Partial<WebhookRequest> = {}): WebhookRequest {
  return {
    method: 'POST',
    target: '/webhooks/carrier-a/voice',
    headers: { 'content-type': form },
    rawBody: Buffer.from(new URLSearchParams(parameters).toString()),
    ...over,
  };
}

function postJson(body: unknown): WebhookRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return post({}, { headers: { 'content-type': 'application/json' }, rawBody: Buffer.from(text) });
}

describe('parse', () => {
  it.each(fixtures)('reads what the carrier sends: $title', ({ route, rawBody, message, ...request }) => {
    expect(webhookDialect.parse(route, { ...request, rawBody: Buffer.from(rawBody) })).toEqual(message);
  });

  it('has a fixture of every kind of message that the carrier can send', () => {
    expect(new Set(fixtures.map(({ message }) => message.type))).toEqual(
      new Set([
        'incoming-call',
        'status',
        'transfer',
        'recording',
        'machine-detection',
        'resume',
        'acknowledged',
      ]),
    );
  });

  it.each([
    ['no call id', post({ From: '+1' })],
    ['an empty call id', post({ CallSid: '' })],
    ['an endless call id', post({ CallSid: 'C'.repeat(129) })],
    ['a call id with a blank', post({ CallSid: 'CA 1' })],
    ['a call id with a line break', post({ CallSid: 'CA1\n' })],
    ['a call id beyond ASCII', post({ CallSid: 'CÄ1' })],
    ['no content type', post({ CallSid: 'CA1' }, { headers: {} })],
    ['another content type', post({ CallSid: 'CA1' }, { headers: { 'content-type': 'text/plain' } })],
    ['an empty body', post({})],
    ['a GET without a query', post({ CallSid: 'CA1' }, { method: 'GET' })],
    ['a GET whose parameters are in the fragment', post({}, { method: 'GET', target: '/x#?CallSid=CA1' })],
    ['bytes that are no text', post({}, { rawBody: Uint8Array.of(0xff, 0xfe, 0, 0xc3) })],
    ['broken JSON', postJson('{"CallSid":')],
    ['empty JSON', postJson('')],
    ['a JSON list', postJson([{ CallSid: 'CA1' }])],
    ['JSON null', postJson('null')],
    ['a JSON text', postJson('"CallSid=CA1"')],
    ['a JSON call id that is not text', postJson({ CallSid: { toString: 'CA1' } })],
    ['a JSON call id that is half a character', postJson('{"CallSid":"CA\\ud800"}')],
  ])('refuses %s', (_, request) => {
    for (const route of routes) expect(() => webhookDialect.parse(route, request)).toThrow(RequestError);
  });

  it('throws nothing but RequestError, whatever is signed', () => {
    const word = fc.constantFrom('CallSid', 'CallStatus', 'From', 'Direction', 'RecordingUrl', 'AnsweredBy');
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('CA1', 'completed', 'https://x/'));
    const body = fc.oneof(
      fc.json().map((json) => ({ type: 'application/json', bytes: Buffer.from(json) })),
      fc
        .dictionary(word, fc.oneof(text, fc.jsonValue()))
        .map((fields) => ({ type: 'application/json', bytes: Buffer.from(JSON.stringify(fields)) })),
      fc.dictionary(word, text).map((fields) => ({
        type: form,
        bytes: Buffer.from(new URLSearchParams(fields).toString()),
      })),
      fc.uint8Array().map((bytes) => ({ type: form, bytes })),
    );
    const target = fc.string().map((query) => `/webhooks/carrier-a/voice?${query}`);
    fc.assert(
      fc.property(fc.constantFrom(...routes), body, target, (route, { type, bytes }, url) => {
        const headers = { 'content-type': type };
        try {
          const { type: kind } = webhookDialect.parse(
            route,
            post({}, { target: url, headers, rawBody: bytes }),
          );
          expect(typeof kind).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(RequestError);
        }
      }),
    );
  });
});

describe('our call id', () => {
  const parse = (query: string) =>
    webhookDialect.parse(
      'status',
      post({ CallSid: 'CA1', CallStatus: 'ringing', callId: 'body' }, { target: `/x?${query}` }),
    );

  it.each([
    ['callId=Zb3_-xYQ9k1TqPm0aLr5ew', 'Zb3_-xYQ9k1TqPm0aLr5ew'],
    ['a=1&callId=abc&b=2', 'abc'],
    ['callId=abc#d', 'abc'],
    ['', null],
    ['callId=', null],
    ['callId=a%20b', null],
    ['callId=a+b', null],
    ['callId=../x', null],
    ['callId=a%00', null],
    ['callid=abc', null],
    ['x=%3FcallId=abc', null],
    [`callId=${'a'.repeat(128)}`, 'a'.repeat(128)],
    [`callId=${'a'.repeat(129)}`, null],
  ])('is read from the query %j as %s', (query, callId) => {
    expect(parse(query)).toMatchObject({ type: 'status', callId });
  });
});

describe('the name of a delivery', () => {
  const parse = (route: WebhookRoute, token: string | undefined) =>
    webhookDialect.parse(
      route,
      post(
        { CallSid: 'CA1', CallStatus: 'ringing', RecordingStatus: 'absent' },
        { headers: { 'content-type': form, 'i-twilio-idempotency-token': token } },
      ),
    );

  it('is handed on with every message', () => {
    for (const route of routes) expect(parse(route, 'd-1')).toMatchObject({ deliveryId: 'd-1' });
  });

  it.each([undefined, '', 'a b', 'x'.repeat(129)])('is left out when it is %j', (token) => {
    for (const route of routes) expect(parse(route, token)).not.toHaveProperty('deliveryId');
  });
});

describe('parse of the voice webhook', () => {
  const ring = { CallSid: 'CA1', From: '+15005550020', To: '+15005550010', Direction: 'inbound', New: '' };

  it.each([
    ['outbound-api', 'outbound'],
    ['outbound-dial', 'outbound'],
    ['inbound', 'inbound'],
    ['', 'inbound'],
  ])('reads direction %j as %s', (Direction, direction) => {
    expect(webhookDialect.parse('voice', post({ ...ring, Direction }))).toMatchObject({ direction });
  });

  it.each([
    ['', ''],
    ['anonymous', 'anonymous'],
    ['+1500\n5550020\u0000', '+15005550020'],
    ['9'.repeat(500), '9'.repeat(128)],
    [`${'9'.repeat(127)}😀`, '9'.repeat(127)],
  ])('takes the caller %j as it comes, tamed', (From, caller) => {
    expect(webhookDialect.parse('voice', post({ ...ring, From }))).toMatchObject({ caller });
  });

  it('takes the older names of the parties where the usual ones are missing', () => {
    const parties = { CallSid: 'CA1', Caller: '+1', Called: '+2' };
    expect(webhookDialect.parse('voice', post(parties))).toMatchObject({ caller: '+1', callee: '+2' });
    expect(webhookDialect.parse('voice', post({ ...parties, From: '' }))).toMatchObject({ caller: '' });
  });

  it.each([
    [{}, 'failed'],
    [{ DialCallStatus: '' }, 'failed'],
    [{ DialCallStatus: 'Completed' }, 'failed'],
    [{ DialCallStatus: 'constructor' }, 'failed'],
  ])('reads a transfer that says %j as %s', (said, result) => {
    const request = post({ ...ring, ...said }, { target: '/webhooks/carrier-a/voice?callId=abc&transfer=1' });
    expect(webhookDialect.parse('voice', request)).toMatchObject({ type: 'transfer', callId: 'abc', result });
  });

  it.each([
    ['completed', 'no-answer', { type: 'status', status: 'completed', outcome: 'answered', sequence: null }],
    ['completed', 'canceled', { type: 'status', status: 'completed', outcome: 'answered', sequence: null }],
    ['completed', '', { type: 'status', status: 'completed', outcome: 'answered', sequence: null }],
    ['failed', 'failed', { type: 'status', status: 'completed', outcome: 'failed', sequence: null }],
    ['completed', 'completed', { type: 'transfer', result: 'connected' }],
    ['completed', 'answered', { type: 'transfer', result: 'connected' }],
    ['in-progress', 'canceled', { type: 'transfer', result: 'failed' }],
    ['x', 'busy', { type: 'transfer', result: 'busy' }],
  ])('reads a transfer of a call that is %s, and says %j', (CallStatus, DialCallStatus, message) => {
    const target = '/webhooks/carrier-a/voice?callId=abc&transfer=1';
    const request = post({ ...ring, CallStatus, DialCallStatus }, { target });
    expect(webhookDialect.parse('voice', request)).toEqual({
      carrierCallId: 'CA1',
      callId: 'abc',
      ...message,
    });
  });

  it.each(['transfer=0', 'transfer', 'Transfer=1', 'x=transfer=1'])(
    'takes a call for no transfer because of %s',
    (query) => {
      const request = post({ ...ring, transfer: '1' }, { target: `/webhooks/carrier-a/voice?${query}` });
      expect(webhookDialect.parse('voice', request)).toMatchObject({ type: 'incoming-call' });
    },
  );
});

describe('parse of the status webhook', () => {
  it.each(['constructor', '', 'Completed', ' completed'])('acknowledges the status %j', (CallStatus) => {
    expect(webhookDialect.parse('status', post({ CallSid: 'CA1', CallStatus }))).toEqual({
      type: 'acknowledged',
    });
  });

  it.each([
    ['completed', '61', 61_000],
    ['completed', '0', 0],
    ['completed', '', undefined],
    ['completed', '-1', undefined],
    ['completed', '1.5', undefined],
    ['completed', '9'.repeat(8), undefined],
    ['busy', '0', undefined],
    ['in-progress', '5', undefined],
  ])('reads of %s how long it was answered, %j s', (CallStatus, CallDuration, durationMs) => {
    const message = webhookDialect.parse('status', post({ CallSid: 'CA1', CallStatus, CallDuration }));
    expect(message).toMatchObject({ type: 'status' });
    expect('durationMs' in message ? message.durationMs : undefined).toBe(durationMs);
  });

  it.each(['', '-1', '1.5', 'x', '99999999999999999999'])(
    'reads the sequence %j as none',
    (SequenceNumber) => {
      const request = post({ CallSid: 'CA1', CallStatus: 'ringing', SequenceNumber });
      expect(webhookDialect.parse('status', request)).toMatchObject({ sequence: null });
    },
  );
});

describe('parse of the recording webhook', () => {
  const parse = (report: Record<string, string>) =>
    webhookDialect.parse('recording', post({ CallSid: 'CA1', ...report }));
  const url = 'https://api.example/Recordings/RE1';

  it.each([
    [url, url],
    ['http://api.example/RE1', 'http://api.example/RE1'],
    ['https://AC3:secret@api.example/RE1', 'https://api.example/RE1'],
    ['https://api.example/RE1?a=<b>', 'https://api.example/RE1?a=%3Cb%3E'],
    ['javascript:alert(1)', null],
    ['file:///etc/passwd', null],
    ['//api.example/RE1', null],
    ['RE1', null],
    ['', null],
    [`https://api.example/${'x'.repeat(2048)}`, null],
  ])('reads the address %j as %j', (RecordingUrl, expected) => {
    const recording = { url: expected, durationMs: 2000, status: 'completed' };
    expect(parse({ RecordingStatus: 'completed', RecordingDuration: '2', RecordingUrl })).toMatchObject({
      recording,
    });
  });

  it.each(['', '-1', '1.5', 'x', '9'.repeat(30)])('reads the duration %j as unknown', (RecordingDuration) => {
    expect(parse({ RecordingStatus: 'completed', RecordingDuration })).toMatchObject({
      recording: { durationMs: null },
    });
  });

  it('takes a recording that has an address and no status for a completed one', () => {
    expect(parse({ RecordingUrl: url })).toMatchObject({ recording: { url, status: 'completed' } });
  });

  it.each([{}, { RecordingStatus: 'processing' }, { RecordingStatus: 'paused', RecordingUrl: url }])(
    'acknowledges %j',
    (report) => expect(parse(report)).toEqual({ type: 'acknowledged' }),
  );
});

describe('parse of the detection webhook', () => {
  it.each(['', 'HUMAN', 'machine', 'constructor'])('reads %j as unknown', (AnsweredBy) => {
    expect(webhookDialect.parse('amd', post({ CallSid: 'CA1', AnsweredBy }))).toMatchObject({
      type: 'machine-detection',
      verdict: 'unknown',
    });
  });
});

describe('answers', () => {
  const wrap = (verbs: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${verbs}</Response>`;

  it('are markup', () => {
    expect(webhookDialect.answer({ type: 'hang-up' })).toEqual({
      status: 200,
      contentType: 'text/xml; charset=utf-8',
      body: wrap('<Hangup/>'),
    });
  });

  it('make no call on the voice route, and say nothing on the others', () => {
    expect(webhookDialect.acknowledge('voice').body).toBe(wrap('<Reject reason="rejected"/>'));
    for (const route of ['status', 'recording', 'amd'] as const) {
      expect(webhookDialect.acknowledge(route).body).toBe(wrap(''));
    }
  });
});
