import { systemClock } from '../../../src/base/clock.js';
import { describe, it } from 'vitest';
import { MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { CarrierB } from '../../../src/carriers/carrier-b/index.js';
import type { MediaMessage, WebhookRequest } from '../../../src/carriers/carrier.js';
import { type CarrierFixtures, testCarrier } from '../../../src/testing/index.js';
import { createCarrierBSigner } from '../../../src/testing/carrier-b/signing.js';

const HOST = 'voice.example';
const KEY = 'KEY0123456789abcdef_secret';
const CALL = 'v3:Zm9vYmFyYmF6';
const STREAM = 'c1c1c1c1-0000-4000-8000-000000000004';
const signer = createCarrierBSigner(new Uint8Array(32).fill(7));

function sign(body: Uint8Array, atSeconds = Math.floor(systemClock.wallNow() / 1000)): WebhookRequest {
  const headers = { 'content-type': 'application/json', ...signer.sign(body, atSeconds) };
  return { method: 'POST', target: '/webhooks/carrier-b/voice', headers, rawBody: body };
}
const event = (type: string, payload: object = {}) =>
  Buffer.from(
    JSON.stringify({
      data: {
        record_type: 'event',
        event_type: type,
        id: '0ccc7b54-4df3-4bca-a65a-3da1ecc777f0',
        occurred_at: '2026-11-21T06:00:00.000000Z',
        payload: {
          call_control_id: CALL,
          connection_id: '7267xxxxxxxxxxxxxx',
          call_leg_id: 'a',
          call_session_id: 'b',
          client_state: null,
          from: '+15005550020',
          to: '+15005550010',
          direction: 'incoming',
          state: 'parked',
          ...payload,
        },
      },
      meta: { attempt: 1, delivered_to: `https://${HOST}` },
    }),
  );
const reference = { carrierCallId: CALL, callId: null, deliveryId: '0ccc7b54-4df3-4bca-a65a-3da1ecc777f0' };
const start = (encoding: string, rate: number) =>
  JSON.stringify({
    event: 'start',
    sequence_number: '1',
    start: {
      call_control_id: CALL,
      from: '+15005550020',
      to: '+15005550010',
      client_state: null,
      custom_parameters: {},
      media_format: { encoding, sample_rate: rate, channels: 1 },
    },
    stream_id: STREAM,
  });
const started = (format: typeof PCM_16K, codec: string): MediaMessage => ({
  type: 'start',
  carrierCallId: CALL,
  streamId: STREAM,
  format,
  outboundFormat: format,
  codec,
  parameters: { caller: '+15005550020', callee: '+15005550010' },
});
const fixtures: CarrierFixtures = {
  host: HOST,
  create: (baseUrl) =>
    new CarrierB({ apiKey: KEY, connectionId: '1234567890', publicKey: signer.publicKey, baseUrl }),
  createBare: () => new CarrierB(),
  secrets: [KEY],
  sign: (body) => sign(body),
  signed: [
    { title: 'a fresh event', request: () => sign(event('call.initiated')), accepted: true },
    {
      title: 'an old event',
      request: () => sign(event('call.initiated'), Math.floor(systemClock.wallNow() / 1000) - 600),
      accepted: false,
    },
  ],
  webhooks: [
    {
      title: 'an inbound call',
      route: 'voice',
      request: sign(event('call.initiated')),
      message: {
        type: 'incoming-call',
        ...reference,
        direction: 'inbound',
        caller: '+15005550020',
        callee: '+15005550010',
      },
    },
    {
      title: 'an unknown event',
      route: 'voice',
      request: sign(event('call.pondered')),
      message: { type: 'leg-event', ...reference },
    },
  ],
  streams: [
    {
      title: 'a stream of PCM',
      codec: 'preferred',
      messages: [
        { text: '{"event":"connected","version":"1.0.0"}', message: { type: 'connected' } },
        { text: start('L16', 16000), message: started(PCM_16K, 'L16/16000/1') },
      ],
    },
    {
      title: 'a stream of mu-law',
      codec: 'fallback',
      messages: [
        { text: '{"event":"connected","version":"1.0.0"}', message: { type: 'connected' } },
        { text: start('PCMU', 8000), message: started(MULAW_8K, 'PCMU/8000/1') },
      ],
    },
  ],
  rest: {
    carrierCallId: CALL,
    phoneNumber: '+15005550010',
    answer: ({ method, path }) => ({
      status: 200,
      body: JSON.stringify({
        data:
          method === 'GET'
            ? { call_control_id: CALL, is_alive: false }
            : path.includes('/actions/')
              ? { result: 'ok' }
              : { call_control_id: CALL },
      }),
    }),
    idempotencyField: 'command_id',
    callOver: { status: 422, body: '{"errors":[{"code":"90018","title":"Call has already ended"}]}' },
  },
};

describe('carrier B keeps the contract of carriers: it', () => {
  for (const { name, run } of testCarrier(fixtures)) it(name, run, 60_000);
});
