// A carrier of your own: JSON webhooks signed with HMAC-SHA256, mu-law over a WebSocket, a REST API with two requests.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Carrier, CarrierError, type CarrierMessage, type MediaMessage, SignatureError } from 'offhook';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8000 } as const;

export function createExampleTelecom({ secret, api }: { secret: string; api: string }): Carrier {
  const sign = (body: Uint8Array) => createHmac('sha256', secret).update(body).digest();
  const reply = (body: object) => ({
    status: 200,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  const ask = async (method: string, path: string, body: object = {}) => {
    const request = { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(api + path, { ...request, signal: AbortSignal.timeout(10_000) });
    if (!response.ok)
      throw new CarrierError('The carrier refused.', { status: response.status, retryable: false });
    return (await response.json()) as { call: string };
  };
  const cannot = async () => {
    throw new CarrierError('This carrier cannot do that.', { status: null, retryable: false });
  };
  return {
    id: 'example-telecom',
    supports: {
      recording: false,
      voiceUrl: false,
      digitsReplaceStream: false,
      callCost: false,
      callCostCoversStream: true,
    },
    prices: { inbound: { perMinute: 0.006, stepSeconds: 60 }, outbound: { perMinute: 0.012 } },
    verifies: true,
    secretSetting: 'EXAMPLE_TELECOM_SECRET',
    streamTokenKey: createHmac('sha256', secret).update('stream token').digest(),
    prepare: async () => {},
    verify({ headers, rawBody }) {
      const given = Buffer.from(headers['x-example-signature'] ?? '', 'hex');
      const wanted = sign(rawBody);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
        throw new SignatureError('SIGNATURE_MISMATCH', 'The signature is wrong.');
    },
    verifyUpgrade() {},
    webhooks: {
      routes: ['voice', 'status'],
      parse(route, { rawBody }): CarrierMessage {
        const { call, ours = null, from, to } = JSON.parse(Buffer.from(rawBody).toString());
        const reference = { carrierCallId: call, callId: ours };
        if (route === 'status')
          return { ...reference, type: 'status', status: 'completed', outcome: 'answered', sequence: null };
        const direction = ours === null ? 'inbound' : 'outbound';
        const [caller, callee] = ours === null ? [from, to] : [to, from];
        return { ...reference, type: 'incoming-call', direction, caller, callee };
      },
      answer(answer) {
        if (answer.type === 'stream') return reply({ stream: answer.url });
        if (answer.type === 'say') return reply({ say: answer.text });
        if (answer.type === 'transfer') return reply({ dial: answer.to });
        return reply({ end: answer.type });
      },
      acknowledge: () => reply({}),
    },
    openMedia: () => ({
      decode: readMessage,
      encodeAudio: (payload) =>
        JSON.stringify({ type: 'audio', data: Buffer.from(payload).toString('base64') }),
      encodeMark: (name) => JSON.stringify({ type: 'mark', name }),
      encodeClear: () => JSON.stringify({ type: 'clear' }),
    }),
    rest: {
      configured: true,
      async dial({ callId, from, to, webhookBaseUrl }) {
        const placed = await ask('POST', '/calls', { ours: callId, from, to, webhooks: webhookBaseUrl });
        return { carrierCallId: placed.call };
      },
      hangUp: async (call) => void (await ask('DELETE', `/calls/${encodeURIComponent(call)}`)),
      lookUp: async () => ({ isOver: true, outcome: null, costUsd: null }),
      transfer: cannot,
      sendDigits: cannot,
      speak: cannot,
      startRecording: cannot,
      setVoiceUrl: cannot,
    },
  };
}

/** Never throws: what cannot be read is `unexpected`. */
function readMessage(text: string): MediaMessage {
  try {
    const message = JSON.parse(text);
    if (message.type === 'audio') return { type: 'audio', payload: Buffer.from(message.data, 'base64') };
    if (message.type === 'mark') return { type: 'mark', name: message.name };
    if (message.type === 'stop') return { type: 'stop' };
    if (message.type !== 'start') return { type: 'ignored' };
    const formats = { format: MULAW, outboundFormat: MULAW, codec: 'PCMU', parameters: {} };
    return { type: 'start', carrierCallId: message.call, streamId: message.stream, ...formats };
  } catch {
    return { type: 'unexpected', reason: 'a message is not JSON' };
  }
}
