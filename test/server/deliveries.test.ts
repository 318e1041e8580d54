import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallDesk, KeptReply } from '../../src/calls/call-desk.js';
import type { CarrierMessage, WebhookReply } from '../../src/carriers/carrier.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { Deliveries } from '../../src/server/deliveries.js';
import { FakeClock } from '../support/fake-clock.js';
import { type Harness, send, startServer, stopServers } from './harness.js';
import { createPlainCarrier } from '../support/plain-carrier.js';

afterEach(stopServers);

const carrier = createPlainCarrier();

function post(port: number, message: CarrierMessage | object, route = 'voice', headers = {}) {
  return send(port, {
    method: 'POST',
    path: `/webhooks/carrier-b/${route}`,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });
}

const bell = {
  type: 'incoming-call',
  carrierCallId: 'CC1',
  callId: null,
  deliveryId: 'd1',
  direction: 'inbound',
  caller: '+15005550020',
  callee: '+15005550010',
} satisfies CarrierMessage;

const key = { type: 'dtmf', digit: '5', carrierCallId: 'CC1', callId: null, deliveryId: 'd2' } as const;

describe('a report', () => {
  const reports: CarrierMessage[] = [
    { type: 'status', status: 'ringing', outcome: null, sequence: 1, carrierCallId: 'CC1', callId: 'c1' },
    { type: 'machine-detection', verdict: 'machine', carrierCallId: 'CC1', callId: null },
    {
      type: 'recording',
      recording: { url: null, durationMs: 1, status: 'completed' },
      carrierCallId: 'CC1',
      callId: null,
    },
    { type: 'dtmf', digit: '1', carrierCallId: 'CC1', callId: null },
    { type: 'transfer', result: 'busy', carrierCallId: 'CC2', callId: 'c1' },
    { type: 'stream-failed', streamId: null, carrierCallId: 'CC1', callId: null },
    { type: 'speech-ended', carrierCallId: 'CC1', callId: null },
    { type: 'cost', costUsd: 0.01, carrierCallId: 'CC1', callId: null },
  ];

  it.each(reports.map((report) => [report.type, report] as const))(
    '%s reaches the desk as it is, and once per delivery',
    async (_, report) => {
      const { port, desk } = await startServer({ carrier });
      const delivered = { ...report, deliveryId: 'd1' };
      for (let time = 0; time < 3; time += 1) {
        expect(await post(port, delivered, 'status')).toMatchObject({
          status: 200,
          body: '{"acknowledged":"status"}',
        });
      }
      expect(desk.reports).toEqual([delivered]);
    },
  );

  it('is answered as the desk says, and a repeated delivery gets the same answer', async () => {
    const { port, desk } = await startServer({ carrier });
    desk.reportAnswer = { type: 'stream', url: 'wss://x/1', parameters: {} };
    const report = { type: 'transfer', result: 'no-answer', carrierCallId: 'CC1', callId: null };
    const first = await post(port, { ...report, deliveryId: 'd1' });
    desk.reportAnswer = { type: 'hang-up' };
    expect(JSON.parse(first.body)).toMatchObject({ type: 'stream', url: 'wss://x/1' });
    expect((await post(port, { ...report, deliveryId: 'd1' })).body).toBe(first.body);
    expect(JSON.parse((await post(port, { ...report, deliveryId: 'd2' })).body)).toEqual({ type: 'hang-up' });
  });

  it('without a delivery id is left to the desk each time', async () => {
    const { port, desk } = await startServer({ carrier });
    const { deliveryId: _, ...unnamed } = key;
    await post(port, unnamed);
    await post(port, unnamed);
    expect(desk.reports).toHaveLength(2);
  });

  it('of another call, kind or route is not the same delivery', async () => {
    const { port, desk } = await startServer({ carrier });
    await post(port, key);
    await post(port, { ...key, carrierCallId: 'CC2' });
    await post(port, {
      type: 'stream-failed',
      streamId: null,
      carrierCallId: 'CC1',
      callId: null,
      deliveryId: 'd2',
    });
    await post(port, key, 'status');
    expect(desk.reports).toHaveLength(4);
  });

  it('that says something else is not the same delivery, whatever the carrier calls it', async () => {
    const { port, desk } = await startServer({ carrier });
    const status = { type: 'status', outcome: null, carrierCallId: 'CC1', callId: null, deliveryId: 'd1' };
    const reports = [
      { ...status, status: 'ringing', sequence: 1 },
      { ...status, status: 'completed', outcome: 'answered', sequence: 2 },
      key,
      { ...key, digit: '6' },
    ];
    for (const report of [...reports, ...reports]) await post(port, report);
    expect(desk.reports).toEqual(reports);
  });

  it('counts as seen only when it was handled', async () => {
    const { port, desk, lines } = await startServer({ carrier });
    desk.reportError = new Error('secret detail');
    expect(await post(port, key)).toMatchObject({ status: 200 });
    desk.reportError = undefined;
    await post(port, key);
    await post(port, key);
    expect(desk.reports).toEqual([key]);
    expect(JSON.stringify(lines)).not.toContain('secret detail');
  });

  it('is remembered for ten minutes', async () => {
    const { port, desk, clock } = await startServer({ carrier });
    await post(port, key);
    clock.advance(599_000);
    await post(port, key);
    expect(desk.reports).toHaveLength(1);
    clock.advance(1000);
    await post(port, key);
    expect(desk.reports).toHaveLength(2);
  });

  it('acts once in a call that is up, though a whole card number was typed since', async () => {
    const { port, desk } = await startServer({ carrier });
    desk.live.add('CC1');
    for (let event = 0; event < 100; event += 1) await post(port, { ...key, deliveryId: `d${event}` });
    await post(port, { ...key, deliveryId: 'd0' });
    expect(desk.reports).toHaveLength(100);
  });

  it('is one of the last thirty-two of a call that is not up', async () => {
    const { port, desk } = await startServer({ carrier });
    for (let event = 0; event < 33; event += 1) await post(port, { ...key, deliveryId: `d${event}` });
    await post(port, { ...key, deliveryId: 'd1' });
    expect(desk.reports).toHaveLength(33);
    await post(port, { ...key, deliveryId: 'd0' });
    expect(desk.reports).toHaveLength(34);
  });

  it('that says nothing is acknowledged', async () => {
    const { port, desk } = await startServer({ carrier });
    expect(await post(port, { type: 'acknowledged' })).toMatchObject({ status: 200 });
    expect(desk.reports).toEqual([]);
  });
});

describe('a call that rings', () => {
  it('costs nothing more for those that rang before it, where calls are not limited', async () => {
    const { port, desk } = await startServer({ carrier });
    await post(port, bell);
    const [first] = desk.rung;
    const asked = vi.spyOn(desk, 'isLive');
    await post(port, { ...bell, carrierCallId: 'CC2' });
    expect(desk.rung).toHaveLength(2);
    expect(asked).not.toHaveBeenCalledWith(first?.callId);
  });

  it('is rung once per delivery, with the host it came by', async () => {
    const { port, desk } = await startServer({ carrier, publicHost: () => undefined });
    const first = await post(port, bell, 'voice', { Host: 'tunnel.example' });
    expect((await post(port, bell, 'voice', { Host: 'tunnel.example' })).body).toBe(first.body);
    expect(desk.rung).toEqual([
      {
        callId: expect.stringMatching(/^c[\w-]{22}$/),
        carrierCallId: 'CC1',
        caller: '+15005550020',
        callee: '+15005550010',
        direction: 'inbound',
        host: 'tunnel.example',
      },
    ]);
  });

  it('does not choose its own id when it is inbound', async () => {
    const { port, desk } = await startServer({ carrier });
    desk.live.add('victim');
    await post(port, { ...bell, callId: 'victim' });
    expect(desk.rung[0]?.callId).not.toBe('victim');
  });

  it('is tried again when the desk failed, and turned away meanwhile', async () => {
    const { port, desk, lines } = await startServer({ carrier });
    desk.ringError = new Error('secret detail');
    expect((await post(port, bell)).body).toBe('{"type":"reject"}');
    expect((await post(port, { ...bell, direction: 'outbound' })).body).toBe('{"type":"hang-up"}');
    desk.ringError = undefined;
    expect(JSON.parse((await post(port, bell)).body)).toMatchObject({ type: 'stream' });
    expect(JSON.stringify(lines)).not.toContain('secret detail');
  });

  it('that is up already is not turned away when the house is full', async () => {
    const { port, desk } = await startServer({ carrier, maxCalls: 1 });
    await post(port, bell);
    desk.live.add(desk.rung[0]?.callId ?? '');
    desk.liveCount = 1;
    await post(port, { ...bell, deliveryId: 'another' });
    expect(desk.rung).toHaveLength(2);
    expect(JSON.parse((await post(port, { ...bell, carrierCallId: 'CC2' })).body)).toEqual({ type: 'busy' });
    expect(desk.refused.map(({ carrierCallId }) => carrierCallId)).toEqual(['CC2']);
  });

  it('of a carrier that is steered by commands holds its place with its session', async () => {
    const { port, desk } = await startServer({ carrier, maxCalls: 2 });
    await post(port, bell);
    desk.live.add(desk.rung[0]?.callId ?? '');
    desk.liveCount = 1;
    expect(JSON.parse((await post(port, { ...bell, carrierCallId: 'CC2' })).body)).toMatchObject({
      type: 'stream',
    });
  });
});

describe('an outbound call that was answered', () => {
  const answered = { ...bell, direction: 'outbound', callId: 'ours' };
  const placed = async (): Promise<Harness> => {
    const harness = await startServer({ carrier, maxCalls: 1 });
    harness.desk.live.add('ours');
    harness.desk.liveCount = 1;
    return harness;
  };

  it('is rung under our id, also when the house is full: it holds its place already', async () => {
    const { port, desk } = await placed();
    expect(JSON.parse((await post(port, answered)).body)).toMatchObject({ type: 'stream' });
    expect(desk.rung).toMatchObject([{ callId: 'ours', carrierCallId: 'CC1', direction: 'outbound' }]);
    expect(desk.refused).toEqual([]);
  });

  it('and that the desk does not take for ours is hung up, and nothing else', async () => {
    const { port, desk } = await placed();
    desk.ringAnswer = { type: 'hang-up' };
    expect((await post(port, { ...answered, carrierCallId: 'CC9' })).body).toBe('{"type":"hang-up"}');
    expect(desk.reports).toEqual([]);
  });

  it('but was never placed here, or is over, is hung up without a record', async () => {
    const { port, desk } = await startServer({ carrier });
    expect((await post(port, { ...answered, callId: 'unheard-of' })).body).toBe('{"type":"hang-up"}');
    desk.ended.add('ours');
    expect((await post(port, answered)).body).toBe('{"type":"hang-up"}');
    expect(desk.rung).toEqual([]);
    expect(desk.refused).toEqual([]);
  });

  it('and that somebody else placed to our number is a call like any other', async () => {
    const { port, desk } = await startServer({ carrier });
    await post(port, { ...answered, callId: null });
    expect(desk.rung).toMatchObject([
      { callId: expect.stringMatching(/^c[\w-]{22}$/), direction: 'outbound' },
    ]);
  });
});

describe('a webhook that breaks its reader', () => {
  it('is 400 when it was signed, whatever the reader throws', async () => {
    const { port, lines } = await startServer({
      carrier: createPlainCarrier({
        onParse: () => {
          throw new TypeError('secret detail');
        },
      }),
    });
    const answer = await post(port, bell);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'REQUEST_INVALID' } });
    expect(JSON.stringify(lines) + answer.body).not.toContain('secret detail');
  });

  it('is 403 when the check itself breaks', async () => {
    const broken = { ...carrier, verify: () => void JSON.parse('{') };
    const { port, desk } = await startServer({ carrier: broken });
    expect(await post(port, bell)).toMatchObject({ status: 403 });
    expect(desk.rung).toEqual([]);
  });
});

describe('refused webhooks', () => {
  it('without a signature are told from those with a wrong one', async () => {
    const door = new CarrierA({ authToken: 'secret' });
    const { port, lines } = await startServer({ carrier: door });
    const body = 'CallSid=CA1&From=%2B15005550020&To=%2B15005550010';
    const path = '/webhooks/carrier-a/voice';
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const more of [{}, { 'X-CarrierA-Signature': Buffer.alloc(20).toString('base64') }]) {
      await send(port, { method: 'POST', path, body, headers: { ...headers, ...more } });
    }
    const refusals = lines.filter(({ sentence }) => sentence.startsWith('webhook refused'));
    expect(refusals.map(({ fields, sentence }) => [fields.code, sentence.slice(0, 48)])).toEqual([
      ['SIGNATURE_MISSING', 'webhook refused: it carries no signature. It is '],
      ['SIGNATURE_MISMATCH', 'webhook refused: its signature is not right. Wit'],
    ]);
  });

  it('are loud in the log, once a minute per carrier, with their number and the setting', async () => {
    const { port, clock, lines } = await startServer({
      carrier: createPlainCarrier({ key: new Uint8Array([1]) }),
    });
    const refusals = () => lines.filter(({ sentence }) => sentence.startsWith('webhook refused'));
    for (let time = 0; time < 3; time += 1) expect(await post(port, bell)).toMatchObject({ status: 403 });
    expect(refusals()).toMatchObject([
      {
        level: 'error',
        fields: { carrier: 'carrier-b', code: 'SIGNATURE_MISMATCH', setting: 'PLAIN_SECRET', sinceLast: 1 },
      },
    ]);
    clock.advance(60_000);
    await post(port, bell);
    expect(refusals()[1]).toMatchObject({ fields: { sinceLast: 3 } });
    expect(await post(port, bell, 'voice', { 'x-signature': 'right' })).toMatchObject({ status: 200 });
  });
});

it.each([
  ['up', true, 512],
  ['over', false, 32],
])('of a call that is %s the last deliveries are remembered', (_, isLive, most) => {
  const replies = new Map<string, KeptReply>();
  const desk = { repliesTo: () => replies, isLive: () => isLive } as unknown as CallDesk;
  const deliveries = new Deliveries(new FakeClock(), desk);
  const keyOf = (index: number) => ({ ...key, deliveryId: `key ${index}` });
  for (let index = 0; index <= most; index += 1)
    deliveries.keep('voice', keyOf(index), { reply: { status: 200 } as WebhookReply, answer: undefined });
  const isKnown = (index: number) => deliveries.find('voice', keyOf(index)) !== undefined;
  expect([0, 1, most].map(isKnown)).toEqual([false, true, true]);
});
