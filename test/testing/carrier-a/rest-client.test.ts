import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierA } from '../../../src/carriers/carrier-a/index.js';
import type { CarrierMessage, WebhookRequest, WebhookRoute } from '../../../src/carriers/carrier.js';
import { MARKUP, type Received } from '../fake-phone-server.js';
import { ACCOUNT, HOST, OTHER, OWN, type Rig, startRig, TOKEN } from './rig.js';

const BASE = `https://${HOST}/webhooks/carrier-a`;
const THIRD = '+15005550030';

let rig: Rig;
let carrier: CarrierA;
beforeEach(async () => {
  rig = await startRig({
    server: { answer: ({ form }) => (form.has('DialCallStatus') ? { body: MARKUP } : undefined) },
    simulator: { phoneNumbers: [OWN], callees: { [THIRD]: { type: 'busy' } } },
  });
  carrier = new CarrierA({ accountSid: ACCOUNT, authToken: TOKEN, baseUrl: rig.simulator.url });
});
afterEach(() => rig.close());

/** What the carrier's own dialect makes of a webhook; refuses one that is not signed. */
function read({ method, path, headers, body }: Received): CarrierMessage {
  const request: WebhookRequest = {
    method,
    target: path,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    rawBody: Buffer.from(body),
  };
  carrier.verify(request, HOST);
  return carrier.webhooks.parse(path.split(/[/?]/)[3] as WebhookRoute, request);
}

const order = { callId: 'call-1', webhookBaseUrl: BASE };

async function dial(more: { machineDetection?: boolean; recording?: boolean } = {}) {
  const { carrierCallId } = await carrier.rest.dial({
    ...order,
    from: OWN,
    to: OTHER,
    ringTimeoutSeconds: 25,
    maxCallSeconds: 3600,
    machineDetection: false,
    recording: false,
    ...more,
  });
  const leg = rig.simulator.legs.find((each) => each.carrierCallId === carrierCallId);
  if (leg === undefined) throw new Error('the carrier knows another call');
  return leg;
}

describe('the REST client and the simulated carrier', () => {
  it('agree on a whole outbound call', async () => {
    const leg = await dial({ machineDetection: true, recording: true });
    await rig.passUntil(() => rig.posts('amd').length > 0);
    expect(await carrier.rest.lookUp(leg.carrierCallId)).toEqual({
      isOver: false,
      outcome: null,
      costUsd: null,
    });
    await carrier.rest.hangUp(leg.carrierCallId);
    await carrier.rest.hangUp(leg.carrierCallId);
    await rig.pass(rig.simulator.settled());
    rig.clock.advance(5000);
    expect(await carrier.rest.lookUp(leg.carrierCallId)).toEqual({
      isOver: true,
      outcome: 'answered',
      costUsd: 0.014,
    });
    expect(leg.violations).toEqual([]);
    const messages = rig.server.webhooks.map(read);
    expect(messages.every((message) => !('callId' in message) || message.callId === 'call-1')).toBe(true);
    const statuses = messages.flatMap((message) =>
      message.type === 'status' ? [[message.status, message.outcome, message.sequence]] : [],
    );
    expect(statuses).toEqual([
      ['initiated', null, 0],
      ['ringing', null, 1],
      ['active', null, 2],
      ['completed', 'answered', 3],
    ]);
    expect(messages.find(({ type }) => type === 'machine-detection')).toMatchObject({ verdict: 'human' });
    expect(messages.find(({ type }) => type === 'recording')).toMatchObject({
      recording: { status: 'completed' },
    });
    expect(messages.find(({ type }) => type === 'incoming-call')).toMatchObject({ direction: 'outbound' });
  });

  it('agree on keys, speech, recording, and a transfer that fails', async () => {
    const leg = await dial();
    const streams = () => rig.server.messages.filter(({ event }) => event === 'start').length;
    await rig.passUntil(() => streams() === 1);
    await carrier.rest.startRecording(leg.carrierCallId, order);
    const stream = { url: `wss://${HOST}/ws/stream/c1/t`, parameters: { caller: '<&"' } };
    await carrier.rest.sendDigits(leg.carrierCallId, '1w2#', stream);
    await rig.passUntil(() => streams() === 2);
    await carrier.rest.transfer(leg.carrierCallId, {
      ...order,
      to: THIRD,
      callerId: OWN,
      ringTimeoutSeconds: 20,
    });
    await rig.passUntil(() => streams() === 3);
    const action = rig.server.webhooks.find(({ form }) => form.has('DialCallStatus'));
    expect(action === undefined ? undefined : read(action)).toMatchObject({
      type: 'transfer',
      carrierCallId: leg.carrierCallId,
      callId: 'call-1',
      result: 'busy',
    });
    await carrier.rest.speak(leg.carrierCallId, 'Sorry & goodbye', { language: 'en-GB' });
    await rig.pass(rig.simulator.settled());
    expect(leg).toMatchObject({
      sentDigits: ['1w2#'],
      spoken: ['Sorry & goodbye'],
      isRecorded: true,
      violations: [],
    });
    expect(rig.simulator.requests.map(({ purpose }) => purpose)).toEqual([
      'dial',
      'record',
      'send-digits',
      'transfer',
      'speak',
    ]);
  });

  it('agree on where a number points', async () => {
    const urls = { voice: `${BASE}/voice`, status: `${BASE}/status` };
    await carrier.rest.setVoiceUrl(OWN, urls);
    await carrier.rest.setVoiceUrl(OWN, urls);
    expect(rig.simulator.numbers[0]).toMatchObject({ voiceUrl: urls.voice, statusCallback: urls.status });
    expect(rig.simulator.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    await expect(carrier.rest.setVoiceUrl(OTHER, urls)).rejects.toThrow(/does not own/);
  });
});
