import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.js';
import { webhookDialect } from '../../../src/carriers/carrier-a/webhooks.js';
import type { WebhookRequest, WebhookRoute } from '../../../src/carriers/carrier.js';

const form = 'application/x-www-form-urlencoded; charset=UTF-8';

function post(parameters: Record<string, string>, headers: Record<string, string> = {}): WebhookRequest {
  return {
    method: 'POST',
    target: '/webhooks/carrier-a/voice',
    headers: { 'content-type': form, ...headers },
    rawBody: Buffer.from(new URLSearchParams(parameters).toString()),
  };
}

describe('parse of the voice webhook', () => {
  const ring = { CallSid: 'CA1', From: '+15005550020', To: '+15005550010', Direction: 'inbound', New: '' };
  const call = {
    type: 'incoming-call',
    carrierCallId: 'CA1',
    direction: 'inbound',
    caller: '+15005550020',
    callee: '+15005550010',
  };

  it('reads an incoming call', () => {
    expect(webhookDialect.parse('voice', post(ring))).toEqual(call);
  });

  it('reads the same call from the query of a GET', () => {
    const target = `/webhooks/carrier-a/voice?${new URLSearchParams(ring)}`;
    const request = { method: 'GET', target, headers: {}, rawBody: new Uint8Array() };
    expect(webhookDialect.parse('voice', request)).toEqual(call);
  });

  it('hands on the name of the delivery', () => {
    const request = post(ring, { 'i-twilio-idempotency-token': 'd-1' });
    expect(webhookDialect.parse('voice', request)).toEqual({ ...call, deliveryId: 'd-1' });
  });

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
    ['sip:anna@example.com', 'sip:anna@example.com'],
    ['+1500\n5550020\u0000', '+15005550020'],
    ['9'.repeat(500), '9'.repeat(128)],
  ])('takes the caller %j as it comes, tamed', (From, caller) => {
    expect(webhookDialect.parse('voice', post({ ...ring, From }))).toMatchObject({ caller });
  });
});

describe('parse of the status webhook', () => {
  it.each([
    ['queued', 'initiated', null],
    ['initiated', 'initiated', null],
    ['ringing', 'ringing', null],
    ['in-progress', 'active', null],
    ['answered', 'active', null],
    ['completed', 'completed', 'answered'],
    ['busy', 'completed', 'busy'],
    ['no-answer', 'completed', 'no-answer'],
    ['failed', 'completed', 'failed'],
    ['canceled', 'completed', 'canceled'],
  ])('reads %s as %s, %s', (CallStatus, status, outcome) => {
    const request = post({ CallSid: 'CA1', CallStatus, SequenceNumber: '2' });
    expect(webhookDialect.parse('status', request)).toEqual({
      type: 'status',
      carrierCallId: 'CA1',
      status,
      outcome,
      sequence: 2,
    });
  });

  it('acknowledges a status that it does not know', () => {
    const request = post({ CallSid: 'CA1', CallStatus: 'constructor' });
    expect(webhookDialect.parse('status', request)).toEqual({ type: 'acknowledged' });
  });

  it.each(['', '-1', '1.5', 'x', '99999999999999999999'])(
    'reads the sequence %j as none',
    (SequenceNumber) => {
      const request = post({ CallSid: 'CA1', CallStatus: 'ringing', SequenceNumber });
      expect(webhookDialect.parse('status', request)).toMatchObject({ sequence: null });
    },
  );
});

describe('parse of any webhook', () => {
  const routes: WebhookRoute[] = ['voice', 'status', 'recording', 'amd'];

  it.each([
    ['no call id', post({ From: '+1' })],
    ['an empty call id', post({ CallSid: '' })],
    ['an endless call id', post({ CallSid: 'C'.repeat(129) })],
    ['JSON', { ...post({}), headers: { 'content-type': 'application/json' }, rawBody: Buffer.from('{}') }],
    ['no content type', { ...post({ CallSid: 'CA1' }), headers: {} }],
    ['an empty body', post({})],
    ['a GET without a query', { ...post({ CallSid: 'CA1' }), method: 'GET' }],
  ])('refuses %s', (_, request) => {
    for (const route of routes) expect(() => webhookDialect.parse(route, request)).toThrow(RequestError);
  });

  it('acknowledges recordings and detection', () => {
    for (const route of ['recording', 'amd'] as const) {
      expect(webhookDialect.parse(route, post({ CallSid: 'CA1' }))).toEqual({ type: 'acknowledged' });
    }
  });
});

describe('answers', () => {
  const wrap = (verbs: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${verbs}</Response>`;

  it.each([
    [{ type: 'busy' }, '<Reject reason="busy"/>'],
    [{ type: 'reject' }, '<Reject reason="rejected"/>'],
    [{ type: 'hang-up' }, '<Hangup/>'],
    [
      { type: 'stream', url: 'wss://v.example/ws/stream/a?caller=1&callee=2', parameters: { caller: '+1' } },
      '<Connect><Stream url="wss://v.example/ws/stream/a?caller=1&amp;callee=2"><Parameter name="caller" value="+1"/></Stream></Connect>',
    ],
  ] as const)('writes %j', (answer, verbs) => {
    expect(webhookDialect.answer(answer)).toEqual({
      status: 200,
      contentType: 'text/xml; charset=utf-8',
      body: wrap(verbs),
    });
  });

  it('makes no call on the voice route, and says nothing on the others', () => {
    expect(webhookDialect.acknowledge('voice').body).toBe(wrap('<Reject reason="rejected"/>'));
    expect(webhookDialect.acknowledge('status').body).toBe(wrap(''));
  });

  it('keeps values inside their attribute, whatever they hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (caller) => {
        const { body } = webhookDialect.answer({ type: 'stream', url: 'wss://x', parameters: { caller } });
        const value = /value="([^"]*)"\/><\/Stream>/.exec(body)?.[1] ?? '<';
        expect(value).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|apos);)/);
        expect(Buffer.from(value).toString('utf8')).toBe(value);
        const holdsControl = [...value].some((character) => character < ' ' && !'\t\n\r'.includes(character));
        expect(holdsControl).toBe(false);
      }),
    );
  });
});
