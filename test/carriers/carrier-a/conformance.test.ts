import { describe, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.js';
import { CarrierA } from '../../../src/carriers/carrier-a/index.js';
import type { WebhookRequest } from '../../../src/carriers/carrier.js';
import { type CarrierFixtures, testCarrier } from '../../../src/testing/index.js';
import { signJsonRequest, signRequest } from '../../../src/testing/carrier-a/signing.js';

const HOST = 'voice.example';
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const ACCOUNT = `AC${'0a'.repeat(16)}`;
const CALL = `CA${'1b'.repeat(16)}`;
const STREAM = `MZ${'2c'.repeat(16)}`;
const PATH = '/webhooks/carrier-a/voice';
const FORM = 'application/x-www-form-urlencoded; charset=UTF-8';
const CALLER = '+15005550020';
const CALLEE = '+15005550010';

function sign(body: Uint8Array, target = PATH): WebhookRequest {
  const parameters = new URLSearchParams(Buffer.from(body).toString('utf8'));
  const signature = signRequest(TOKEN, { url: `https://${HOST}${target}`, parameters });
  const headers = {
    'content-type': FORM,
    'x-twilio-signature': signature,
    'i-twilio-idempotency-token': 'd1',
  };
  return { method: 'POST', target, headers, rawBody: body };
}

const webhook = (fields: Record<string, string>, target = PATH) =>
  sign(
    Buffer.from(new URLSearchParams({ CallSid: CALL, AccountSid: ACCOUNT, ...fields }).toString()),
    target,
  );

const inbound = webhook({
  CallStatus: 'ringing',
  Direction: 'inbound',
  From: CALLER,
  To: CALLEE,
  FromCity: '',
});
const reference = { carrierCallId: CALL, callId: null, deliveryId: 'd1' };
const outbound = { ...reference, callId: 'call-1' };

const wire = (event: string, fields: object) => JSON.stringify({ event, streamSid: STREAM, ...fields });
const start = {
  accountSid: ACCOUNT,
  callSid: CALL,
  streamSid: STREAM,
  tracks: ['inbound'],
  mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  customParameters: { caller: CALLER },
};

const json = signJsonRequest(TOKEN, { url: `https://${HOST}${PATH}`, body: '{}' });
const jsonRequest = (body: string): WebhookRequest => ({
  method: 'POST',
  target: json.url.replace(`https://${HOST}`, ''),
  headers: { 'content-type': 'application/json', 'x-twilio-signature': json.signature },
  rawBody: Buffer.from(body),
});

const fixtures: CarrierFixtures = {
  host: HOST,
  create: (baseUrl) => new CarrierA({ accountSid: ACCOUNT, authToken: TOKEN, baseUrl }),
  createBare: () => new CarrierA(),
  secrets: [TOKEN, Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')],
  sign: (body) => sign(body),
  signed: [
    { title: 'an inbound webhook with empty fields', request: () => inbound, accepted: true },
    {
      title: 'a name that comes twice',
      request: () => sign(Buffer.from('Tag=b&Tag=a&Tag=b')),
      accepted: true,
    },
    { title: 'a JSON body by its hash', request: () => jsonRequest('{}'), accepted: true },
    { title: 'another JSON body', request: () => jsonRequest('{ }'), accepted: false },
    {
      title: 'a webhook of another path',
      request: () => ({ ...inbound, target: '/webhooks/carrier-a/status' }),
      accepted: false,
    },
    {
      title: 'a form that calls itself JSON',
      request: () => ({ ...inbound, headers: { ...inbound.headers, 'content-type': 'application/json' } }),
      accepted: false,
    },
  ],
  webhooks: [
    {
      title: 'an inbound call',
      route: 'voice',
      request: inbound,
      message: { type: 'incoming-call', ...reference, direction: 'inbound', caller: CALLER, callee: CALLEE },
    },
    {
      title: 'an outbound call that was answered',
      route: 'voice',
      request: webhook(
        { CallStatus: 'in-progress', Direction: 'outbound-api', From: CALLEE, To: CALLER },
        `${PATH}?callId=call-1`,
      ),
      message: { type: 'incoming-call', ...outbound, direction: 'outbound', caller: CALLEE, callee: CALLER },
    },
    {
      title: 'a call that rings',
      route: 'status',
      request: webhook({ CallStatus: 'ringing', SequenceNumber: '1' }, `${PATH}?callId=call-1`),
      message: { type: 'status', ...outbound, status: 'ringing', outcome: null, sequence: 1 },
    },
    {
      title: 'a line that is busy',
      route: 'status',
      request: webhook({ CallStatus: 'busy' }),
      message: { type: 'status', ...reference, status: 'completed', outcome: 'busy', sequence: null },
    },
    {
      title: 'a status that is new',
      route: 'status',
      request: webhook({ CallStatus: 'pondering' }),
      message: { type: 'acknowledged' },
    },
    {
      title: 'the end of a greeting',
      route: 'amd',
      request: webhook({ AnsweredBy: 'machine_end_beep' }, `${PATH}?callId=call-1`),
      message: { type: 'machine-detection', ...outbound, verdict: 'machine-ready' },
    },
    {
      title: 'a transfer that failed',
      route: 'voice',
      request: webhook({ DialCallStatus: 'no-answer' }, `${PATH}?callId=call-1&transfer=1`),
      message: { type: 'transfer', ...outbound, result: 'no-answer' },
    },
  ],
  streams: [
    {
      title: 'a stream from its start to its end',
      messages: [
        { text: '{"event":"connected","protocol":"Call","version":"1.0.0"}', message: { type: 'connected' } },
        {
          text: wire('start', { sequenceNumber: '1', start }),
          message: {
            type: 'start',
            carrierCallId: CALL,
            streamId: STREAM,
            format: MULAW_8K,
            outboundFormat: MULAW_8K,
            codec: 'audio/x-mulaw/8000/1',
            parameters: { caller: CALLER },
          },
        },
        {
          text: wire('media', { media: { track: 'inbound', chunk: '1', timestamp: '20', payload: '/38=' } }),
          message: { type: 'audio', payload: new Uint8Array([0xff, 0x7f]) },
        },
        {
          text: wire('dtmf', { dtmf: { track: 'inbound_track', digit: '5' } }),
          message: { type: 'dtmf', digit: '5' },
        },
        { text: wire('mark', { mark: { name: 'turn-1' } }), message: { type: 'mark', name: 'turn-1' } },
        { text: wire('stop', { stop: { accountSid: ACCOUNT, callSid: CALL } }), message: { type: 'stop' } },
      ],
    },
  ],
  rest: {
    carrierCallId: CALL,
    phoneNumber: CALLEE,
    answer({ method, path }) {
      if (path.includes('IncomingPhoneNumbers')) {
        const number = { sid: `PN${'3d'.repeat(16)}`, phone_number: CALLEE, voice_url: '' };
        const list = { incoming_phone_numbers: [number], page: 0 };
        return { status: 200, body: JSON.stringify(method === 'GET' ? list : number) };
      }
      if (path.includes('Recordings')) return { status: 201, body: `{"sid":"RE${'4e'.repeat(16)}"}` };
      const body = { sid: CALL, status: 'completed', price: null, price_unit: 'USD' };
      return {
        status: method === 'POST' && path.endsWith('/Calls.json') ? 201 : 200,
        body: JSON.stringify(body),
      };
    },
    callOver: { status: 400, body: '{"code":21220,"message":"Call is not in-progress.","status":400}' },
  },
};

describe('carrier A keeps the contract of carriers: it', () => {
  for (const { name, slow, run } of testCarrier(fixtures)) it(name, run, slow === true ? 90_000 : 20_000);
});
