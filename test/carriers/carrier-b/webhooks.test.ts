import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.js';
import { webhookDialect } from '../../../src/carriers/carrier-b/webhooks.js';
import { runs } from '../../support/depth.js';

type Leg = 'none' | 'own' | 'transfer' | 'foreign';

interface Fixtures {
  envelope: { data: { id: string; payload: Record<string, unknown> } };
  legs: Record<Leg, { payload: Record<string, unknown>; callId: string | null }>;
  events: {
    title: string;
    event_type: string;
    leg: Leg;
    payload: Record<string, unknown>;
    message: Record<string, unknown>;
  }[];
}

const { envelope, legs, events } = JSON.parse(
  readFileSync(new URL('../fixtures/carrier-b-webhooks.json', import.meta.url), 'utf8'),
) as Fixtures;

const webhook = (rawBody: Uint8Array) => ({
  method: 'POST',
  target: '/webhooks/carrier-b/voice',
  headers: { 'content-type': 'application/json' },
  rawBody,
});
const parseBytes = (bytes: Uint8Array) => webhookDialect.parse('voice', webhook(bytes));
const parse = (body: unknown) => parseBytes(Buffer.from(JSON.stringify(body)));

function bodyOf({ event_type, leg, payload }: Omit<Fixtures['events'][number], 'title' | 'message'>) {
  const { data, ...rest } = envelope;
  return {
    ...rest,
    data: { ...data, event_type, payload: { ...data.payload, ...legs[leg].payload, ...payload } },
  };
}

describe('parse', () => {
  it.each(events)('$event_type: $title', (event) => {
    const { leg, message } = event;
    const names = {
      carrierCallId: bodyOf(event).data.payload.call_control_id,
      callId: legs[leg].callId,
      deliveryId: envelope.data.id,
    };
    const occurredAt = message.type === 'status' ? { occurredAt: Date.UTC(2026, 10, 21, 6, 0, 0, 123) } : {};
    expect(parse(bodyOf(event))).toEqual(
      message.type === 'acknowledged' ? message : { ...message, ...names, ...occurredAt },
    );
  });

  it.each([null, 7, '', 'yesterday', '9'.repeat(99)])('takes the date %j for none', (occurred_at) => {
    const { data, ...rest } = bodyOf({ event_type: 'call.answered', leg: 'own', payload: {} });
    expect(parse({ ...rest, data: { ...data, occurred_at } })).not.toHaveProperty('occurredAt');
  });

  it.each(['caller', 'callee', 'unknown', null, 7])('reads who has hung up: %j', (source) => {
    const payload = { hangup_cause: 'normal_clearing', hangup_source: source };
    const message = parse(bodyOf({ event_type: 'call.hangup', leg: 'own', payload }));
    const isTold = source === 'caller' || source === 'callee';
    expect(message).toMatchObject(isTold ? { endedBy: source } : { type: 'status' });
    expect('endedBy' in message).toBe(isTold);
  });

  const answered = bodyOf({ event_type: 'call.answered', leg: 'own', payload: {} });
  const ringing = bodyOf({
    event_type: 'call.initiated',
    leg: 'none',
    payload: { direction: 'incoming', state: 'parked' },
  });
  const withPayload = (body: typeof answered, payload: object) => ({
    ...body,
    data: { ...body.data, payload: { ...body.data.payload, ...payload } },
  });

  it.each([
    ['an empty object', {}],
    ['an envelope of version 1', { event_type: 'call_initiated', payload: { call_control_id: 'v2:x' } }],
    ['data that is none', { data: null }],
    ['data that is a text', { data: 'call.initiated' }],
    ['an event without a payload', { data: { event_type: 'call.answered' } }],
    ['an event without a type', { data: { ...answered.data, event_type: null } }],
    ['a leg without an id', withPayload(ringing, { call_control_id: null })],
    ['an id that would climb out of a path', withPayload(ringing, { call_control_id: '..' })],
    ['an id with a blank', withPayload(ringing, { call_control_id: 'v3:a b' })],
    ['an id without an end', withPayload(ringing, { call_control_id: 'v'.repeat(513) })],
  ])('acknowledges %s', (_, body) => {
    expect(parse(body)).toEqual({ type: 'acknowledged' });
  });

  it.each([
    ['goes nowhere', withPayload(ringing, { direction: null })],
    ['brings a type that is a method of objects', { data: { ...answered.data, event_type: 'constructor' } }],
  ])('hears of a leg that %s', (_, body) => {
    expect(parse(body)).toMatchObject({ type: 'leg-event', carrierCallId: expect.any(String) });
  });

  it('takes a call whose parties are not told', () => {
    expect(parse(withPayload(ringing, { from: null, to: 5 }))).toMatchObject({
      type: 'incoming-call',
      caller: '',
      callee: '',
    });
  });

  it('cleans and bounds what the network claims', () => {
    const from = `sip:a\u0000\n${'b'.repeat(300)}`;
    expect(parse(withPayload(ringing, { from }))).toMatchObject({ caller: `sip:a${'b'.repeat(123)}` });
  });

  it.each([undefined, null, '', 7, 'x'.repeat(129)])('does without the delivery id %j', (id) => {
    expect(parse({ ...answered, data: { ...answered.data, id } })).not.toHaveProperty('deliveryId');
  });

  it.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('abc').toString('base64')],
    ['no object', Buffer.from('[1]').toString('base64')],
    ['an id of another form', Buffer.from('{"callId":"../x"}').toString('base64')],
    ['an id that is not text', Buffer.from('{"callId":5}').toString('base64')],
    ['too much', Buffer.from(`{"callId":"a"}${' '.repeat(2000)}`).toString('base64')],
  ])('knows no call from a state that is %s', (_, state) => {
    expect(parse(withPayload(answered, { client_state: state }))).toMatchObject({
      type: 'status',
      callId: null,
    });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'x'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"call"'],
    ['a form', 'a=1'],
  ])('refuses %s', (_, body) => {
    expect(() => parseBytes(Buffer.from(body))).toThrow(RequestError);
  });

  it('refuses a byte order mark and what is no UTF-8', () => {
    const good = Buffer.from(JSON.stringify(answered));
    expect(() => parseBytes(good)).not.toThrow();
    expect(() => parseBytes(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), good]))).toThrow(RequestError);
    expect(() => parseBytes(Buffer.from('{"data":"\xff"}', 'latin1'))).toThrow(RequestError);
  });

  it('reads every event with any field missing, null or of another kind', () => {
    const change = fc.oneof(fc.constant(undefined), fc.constant(null), fc.jsonValue());
    const names = [...new Set(events.flatMap(({ payload }) => Object.keys(payload)))];
    const changes = fc.dictionary(
      fc.constantFrom(...names, 'call_control_id', 'client_state', 'from', 'to'),
      change,
    );
    fc.assert(
      fc.property(fc.constantFrom(...events), changes, change, (event, payload, id) => {
        const body = withPayload(bodyOf(event), payload);
        const message = parse({ ...body, data: { ...body.data, id } });
        expect(message.type).toBeTypeOf('string');
        if (message.type === 'acknowledged') return;
        expect(message.carrierCallId).toMatch(/^[\x21-\x7e]{1,512}$/);
        if (message.type === 'incoming-call') expect(message.caller.length).toBeLessThanOrEqual(128);
        if (message.type === 'cost') expect(message.costUsd).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(300, 2000) },
    );
  });

  it('throws nothing but RequestError, whatever arrives', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
      fc.jsonValue().map((data) => Buffer.from(JSON.stringify({ data }))),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        try {
          parseBytes(body);
        } catch (error) {
          expect(error).toBeInstanceOf(RequestError);
        }
      }),
    );
  });
});

describe('answer', () => {
  it('says nothing: the call is steered by commands', () => {
    const nothing = { status: 200, contentType: 'application/json; charset=utf-8', body: '{}' };
    expect(webhookDialect.routes).toEqual(['voice']);
    expect(webhookDialect.acknowledge('voice')).toEqual(nothing);
    expect(webhookDialect.answer({ type: 'busy' })).toEqual(nothing);
    expect(webhookDialect.answer({ type: 'stream', url: 'wss://x', parameters: {} })).toEqual(nothing);
  });
});
