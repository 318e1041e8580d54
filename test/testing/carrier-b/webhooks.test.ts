import { describe, expect, it } from 'vitest';
import {
  loadEd25519Verifier,
  parsePublicKey,
  verifyWebhook,
} from '../../../src/carriers/carrier-b/signature.js';
import type { CallerStep } from '../../../src/testing/caller-script.js';
import type {
  CarrierBDisturbances,
  CarrierBSimulatorOptions,
} from '../../../src/testing/carrier-b/options.js';
import { FakeClock } from '../../support/fake-clock.js';
import {
  answerCalls,
  moveBy,
  moveUntil,
  moveWhile,
  startScene,
  type FakePhone,
  type PhoneOptions,
  type ReceivedEvent,
} from './fake-phone.js';

const SHORT: CallerStep[] = [{ type: 'pause', durationMs: 200 }, { type: 'hang-up' }];

/** A whole call under these disturbances. */
async function disturbed(
  disturbances: CarrierBDisturbances,
  options: Partial<CarrierBSimulatorOptions> = {},
) {
  const started = await startScene({ onEvent: once(answerCalls) }, { disturbances, ...options });
  const report = await moveWhile(started.clock, started.simulator.call({ script: SHORT }));
  await moveWhile(started.clock, started.simulator.settled());
  return { ...started, report };
}

/** Acts on the first delivery of an event of the second version. */
function once(act: NonNullable<PhoneOptions['onEvent']>): NonNullable<PhoneOptions['onEvent']> {
  const seen = new Set<string>();
  return (event, phone) => {
    if (event.id === undefined || seen.has(event.id)) return;
    seen.add(event.id);
    act(event, phone);
  };
}

async function verifierOf(phone: FakePhone) {
  const key = { verify: await loadEd25519Verifier(), publicKey: parsePublicKey(phone.simulator.publicKey) };
  return ({ headers, rawBody }: ReceivedEvent, nowMs: number) => {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    verifyWebhook({ headers: texts, rawBody: Buffer.from(rawBody) }, key, nowMs);
  };
}

describe('webhooks', () => {
  it('are signed over timestamp and body, by the clock of the carrier', async () => {
    const { clock, phone } = await disturbed({ clockSkewSeconds: 200 });
    const verify = await verifierOf(phone);
    for (const event of phone.events) {
      expect(() => verify(event, clock.wallNow())).not.toThrow();
      expect(() => verify({ ...event, rawBody: `${event.rawBody} ` }, clock.wallNow())).toThrow();
      expect(() => verify(event, clock.wallNow() - 150_000)).toThrow(/five minutes/);
      expect(event.headers['content-type']).toBe('application/json');
      expect(event.headers['user-agent']).toBe('telnyx-webhooks');
    }
    const [bell] = phone.events;
    const occurredAt = JSON.parse(bell?.rawBody ?? '').data.occurred_at;
    expect(occurredAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(occurredAt)).toBeGreaterThanOrEqual(new FakeClock().wallNow() + 200_000);
  });

  it.each([408, 429, 500, 503, 302, 0])(
    'are repeated after %i, with the same id and one more attempt',
    async (status) => {
      let refusals = 2;
      const { clock, phone, simulator } = await startScene({
        statusFor() {
          refusals -= 1;
          return refusals >= 0 ? status : 200;
        },
        onEvent: once(answerCalls),
      });
      const report = await moveWhile(clock, simulator.call({ script: SHORT }));
      expect(report.ok).toBe(true);
      const bells = phone.events.filter(({ type }) => type === 'call.initiated');
      expect(bells.map(({ meta }) => meta?.attempt)).toEqual([1, 2, 3]);
      expect(new Set(bells.map(({ id }) => id)).size).toBe(1);
      const sent = simulator.webhooks.filter(({ eventType }) => eventType === 'call.initiated');
      expect(sent.map((webhook) => webhook.status)).toEqual([status || null, status || null, 200]);
    },
  );

  it.each([400, 403, 404, 410])('are lost after %i', async (status) => {
    const { clock, phone, simulator } = await startScene({ statusFor: () => status });
    await moveWhile(clock, simulator.call({ script: SHORT }));
    expect(phone.events.map(({ meta }) => meta?.attempt)).toEqual([1, 1]);
  });

  it('are given up after the last repetition, with growing pauses', async () => {
    const times: number[] = [];
    const { clock, simulator } = await startScene(
      {
        statusFor({ type }) {
          if (type === 'call.initiated') times.push(clock.now());
          return 500;
        },
      },
      { webhookRetryDelaysMs: [100, 300] },
    );
    const report = await moveWhile(clock, simulator.call({ script: SHORT }));
    expect(report.answer).toMatchObject({ outcome: 'failed', status: 500 });
    expect(times).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(100);
    expect(third - second).toBeGreaterThanOrEqual(300);
  });

  it('leave in order, one call beside the other', async () => {
    // The first event of the first call is never answered: the second call does not wait for it.
    let first: unknown;
    const { clock, phone, simulator } = await startScene({
      statusFor({ payload }) {
        first ??= payload.call_session_id;
        return payload.call_session_id === first ? 0 : 200;
      },
    });
    const slow = simulator.call({ script: SHORT, maxDurationMs: 1000 });
    await moveUntil(clock, () => phone.events.length === 1);
    const quick = simulator.call({ script: SHORT, maxDurationMs: 1000 });
    await moveWhile(clock, quick);
    const types = phone.events
      .filter(({ payload }) => payload.call_session_id !== first)
      .map(({ type }) => type);
    expect(types).toEqual(['call.initiated', 'call.hangup']);
    expect(phone.events.filter(({ payload }) => payload.call_session_id === first)).toHaveLength(1);
    await moveWhile(clock, slow);
  });
});

describe('disturbances of the webhooks', () => {
  it('deliver each one several times', async () => {
    const { phone, report } = await disturbed({ duplicates: 2 });
    expect(report.ok).toBe(true);
    const counts = new Map<string, number>();
    for (const { id = '' } of phone.events) counts.set(id, (counts.get(id) ?? 0) + 1);
    expect([...counts.values()]).toEqual([3, 3, 3, 3, 3]);
  });

  it('change their order, the same way for the same seed', async () => {
    const orders = new Set<string>();
    for (const shuffle of [1, 2, 3, 4]) {
      const { phone } = await disturbed({ shuffle });
      expect(phone.eventTypes().toSorted()).toEqual([
        'call.answered',
        'call.hangup',
        'call.initiated',
        'streaming.started',
        'streaming.stopped',
      ]);
      orders.add(phone.eventTypes().join());
    }
    expect(orders.size).toBeGreaterThan(1);
  });

  it('hold them back', async () => {
    const { clock, phone, simulator } = await startScene({}, { disturbances: { webhookDelayMs: 3000 } });
    const running = simulator.call({ script: SHORT, maxDurationMs: 5000 });
    await moveBy(clock, 2500);
    expect(phone.events).toHaveLength(0);
    await moveUntil(clock, () => phone.events.length === 1);
    await moveWhile(clock, running);
  });

  it('add events that nobody knows, and recordings that nobody asked for', async () => {
    const { phone, report } = await disturbed({ unknownEvents: true, unaskedRecordings: true });
    expect(report.ok).toBe(true);
    expect(phone.eventTypes().filter((type) => type === 'call.novelty.noticed')).toHaveLength(6);
    expect(phone.find('call.recording.saved')).toBeDefined();
  });

  it('leave fields out, or empty', async () => {
    const missing = await disturbed({ optionalFields: 'missing' });
    const bell = missing.phone.find('call.initiated');
    expect(Object.keys(bell?.payload ?? {}).toSorted()).toEqual([
      'call_control_id',
      'client_state',
      'direction',
      'from',
      'to',
    ]);
    expect(bell?.meta).toBeUndefined();
    const empty = await disturbed({ optionalFields: 'null' });
    expect(empty.phone.find('call.hangup')?.payload).toMatchObject({
      hangup_cause: 'normal_clearing',
      call_leg_id: null,
      from: null,
    });
  });

  it('send flat envelopes before, or only', async () => {
    const both = await disturbed({ flatEnvelopes: true });
    expect(both.phone.eventTypes().slice(0, 2)).toEqual(['call_initiated', 'call.initiated']);
    expect(both.phone.events.find(({ type }) => type === 'call_hangup')?.id).toBeUndefined();
    const only = await startScene({}, { application: { webhook_api_version: '1' } });
    await moveWhile(only.clock, only.simulator.call({ script: SHORT, maxDurationMs: 1000 }));
    expect(only.phone.eventTypes()).toEqual(['call_initiated', 'call_hangup']);
  });

  it('name stream events as samples do', async () => {
    const { phone } = await disturbed({ prefixedStreamEvents: true });
    expect(phone.eventTypes()).toContain('call.streaming.started');
    expect(phone.find('streaming.started')).toBeUndefined();
  });

  it('can be changed while a call is up, and any event can be sent', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: once(answerCalls) });
    const running = simulator.call({ script: [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }] });
    await moveUntil(clock, () => phone.find('streaming.started') !== undefined);
    simulator.disturb({ duplicates: 1 });
    const [leg] = simulator.legs;
    const told = leg?.emit('call.recording.error', { reason: 'none' });
    expect(await moveWhile(clock, told ?? Promise.reject(new Error('no leg')))).toMatchObject({
      outcome: 'taken',
    });
    expect(phone.eventTypes().filter((type) => type === 'call.recording.error')).toHaveLength(2);
    leg?.hangUp();
    await moveWhile(clock, running);
  });
});

describe('the end of the simulator', () => {
  it('cuts what is up, tells nobody, and may come twice', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: once(answerCalls) });
    const running = simulator.call({ script: [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }] });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 3);
    const known = phone.events.length;
    await Promise.all([simulator.close(), simulator.close()]);
    expect(await running).toMatchObject({ ok: false, end: { how: 'aborted' } });
    expect(simulator.legs[0]?.isOver).toBe(true);
    await simulator.settled();
    await moveBy(clock, 5000);
    expect(phone.events).toHaveLength(known);
    expect(clock.pending).toBe(0);
    await expect(fetch(simulator.url)).rejects.toThrow();
  });
});
