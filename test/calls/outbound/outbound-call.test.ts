import { describe, expect, it } from 'vitest';
import { CarrierError, ConfigError, RequestError } from '../../../src/base/errors.js';
import type { PlacedCall } from '../../../src/calls/call-desk.js';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { MemoryStore } from '../../../src/stores/memory-store.js';
import { FakeEngine } from '../../support/call-fakes.js';
import { OUTBOUND, Scene, type SceneKind } from '../scene.js';

const OUT: readonly SceneKind[] = [
  { steering: 'replies', direction: 'outbound' },
  { steering: 'commands', direction: 'outbound' },
];
const replied = OUT[0] as SceneKind;
const LOST = new CarrierError('No answer.', { status: null, retryable: false });

function placed(scene: Scene): PlacedCall {
  const { dialed } = scene;
  if (typeof dialed !== 'object' || dialed === null || !('ended' in dialed)) throw new Error('not placed');
  return dialed as PlacedCall;
}

describe.each(OUT)('a call that is placed, $steering', (kind) => {
  it('tells the carrier all it needs, and the record how far it is', async () => {
    const scene = new Scene(kind, { recording: true });
    await scene.ring();
    expect(scene.bench.rest.dials).toEqual([
      {
        callId: scene.callId,
        from: '+15550100',
        to: '+15550111',
        webhookBaseUrl: 'https://voice.example/webhooks/carrier-a',
        ringTimeoutSeconds: 25,
        maxCallSeconds: 3660,
        machineDetection: true,
        recording: true,
      },
    ]);
    expect(placed(scene).callId).toBe(scene.callId);
    expect(scene.record).toMatchObject({
      status: 'initiated',
      direction: 'outbound',
      caller: '+15550100',
      callee: '+15550111',
      carrierCallId: 'carrier-out-1',
      answeredAt: null,
    });
    scene.status('ringing');
    expect(scene.record.status).toBe('ringing');
    await scene.bench.pass(3000);
    await scene.answer();
    expect(scene.record).toMatchObject({ status: 'active', mode: null });
    const { answeredAt } = scene.record;
    await scene.bench.pass(500);
    scene.stream();
    expect(scene.record).toMatchObject({ status: 'active', mode: 'pipeline', answeredAt });
    expect(scene.bench.engine.context).toMatchObject({ direction: 'outbound', callee: '+15550111' });
    // Recorded from its answer on: not asked for once more.
    expect(scene.bench.rest.of('startRecording')).toEqual([]);
  });

  it('resolves `ended` with the record once that is stored', async () => {
    const scene = new Scene(kind);
    const store = new MemoryStore();
    scene.bench.bus.subscribeDurable(async (event) => {
      await new Promise((resolve) => setImmediate(resolve));
      await store.append(event);
    });
    await scene.up();
    const { ended } = placed(scene);
    scene.stop();
    scene.over('answered');
    const record = await ended;
    expect(record).toEqual(await store.get(scene.callId));
    expect(record).toMatchObject({ status: 'completed', outcome: 'answered', endReason: 'caller-hangup' });
    record.transcript.push({ id: 'x', turnIndex: 0, role: 'user', text: '', at: 0, final: true });
    expect((await store.get(scene.callId))?.transcript).toEqual([]);
  });

  it('is talked to by its own agent when it brings one', async () => {
    const scene = new Scene(kind);
    const own: FakeEngine[] = [];
    const recipe: EngineRecipe = {
      mode: 'realtime',
      providers: { engine: 'own/model', stt: null, llm: null, tts: null },
      create(context) {
        const engine = new FakeEngine(context, { takesText: false });
        own.push(engine);
        return engine;
      },
    };
    await scene.ring({ recipe: recipe as never });
    await scene.answer();
    scene.stream();
    expect(own[0]?.heard).toEqual(['start']);
    expect(scene.bench.engines).toEqual([]);
    expect(scene.record).toMatchObject({ mode: 'realtime', provider: { engine: 'own/model' } });
  });

  it('may be reported on before the carrier has answered the request', async () => {
    const scene = new Scene(kind);
    let taken = () => {};
    scene.bench.rest.answers.dial = new Promise((resolve) => (taken = resolve));
    await scene.dial();
    scene.status('ringing');
    await scene.answer();
    scene.stream();
    taken();
    await scene.bench.pass();
    expect(placed(scene).callId).toBe(scene.callId);
    expect(scene.record).toMatchObject({ carrierCallId: 'carrier-out-1', mode: 'pipeline' });
    scene.stop();
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup' });
  });

  it('may be over before the carrier has answered the request', async () => {
    const scene = new Scene(kind);
    let taken = () => {};
    scene.bench.rest.answers.dial = new Promise((resolve) => (taken = resolve));
    await scene.dial();
    scene.over('busy');
    taken();
    await scene.bench.pass();
    expect(await placed(scene).ended).toMatchObject({ outcome: 'busy' });
    expect((await scene.expectEnd()).endReason).toBe('busy');
    expect(scene.bench.rest.requests).toEqual([`dial ${OUTBOUND.to}`]);
  });

  it.each([
    [
      new CarrierError('The number is not yours.', { status: 400, retryable: false }),
      CarrierError,
      'CARRIER_FAILED',
    ],
    [new ConfigError('CONFIG_MISSING', 'No credentials.'), ConfigError, 'CONFIG_MISSING'],
    [new CarrierError('Refused.', { status: null, retryable: true }), CarrierError, 'CARRIER_FAILED'],
  ])('that the carrier refuses is recorded, and the caller of `dial` told: %s', async (error, type, code) => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = error;
    await scene.dial();
    expect(scene.dialed).toBeInstanceOf(type);
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'failed',
      outcome: 'failed',
      error: { code, message: error.message },
      incidents: [],
    });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });

  it('whose request has no answer goes on when a report proves it', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = LOST;
    await scene.dial();
    await scene.bench.pass(9000);
    expect(scene.dialed).toBeInstanceOf(Promise);
    scene.status('ringing');
    await scene.bench.pass();
    expect(placed(scene).callId).toBe(scene.callId);
    await scene.answer();
    scene.stream();
    scene.stop();
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({ outcome: 'answered', incidents: [], error: null });
  });

  it('whose request has no answer and no report is a failure that leaves a doubt', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = LOST;
    await scene.dial();
    await scene.bench.pass(10_000);
    expect(scene.dialed).toBe(LOST);
    expect(scene.record).toMatchObject({
      endReason: 'failed',
      error: { code: 'CARRIER_FAILED' },
      incidents: [{ message: 'It is not known whether the carrier has placed the call.' }],
    });
  });

  it('that shows up after it was given up is hung up, once', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = LOST;
    await scene.dial();
    await scene.bench.pass(10_000);
    expect(scene.asks()).toEqual({ type: 'hang-up' });
    scene.status('ringing');
    scene.status('active');
    await scene.bench.pass();
    expect(scene.bench.rest.of('hangUp')).toEqual(['hangUp carrier-out-1']);
    expect(scene.record.incidents).toHaveLength(2);
    scene.over('canceled');
    scene.report({ type: 'cost', costUsd: 0.01 });
    expect((await scene.expectEnd()).cost.telephony).toBe(0.01);
  });

  it.each(['hung up by an operator', 'given up'])(
    'and was %s is known by the carrier’s id alone, too',
    async (how) => {
      const scene = new Scene(kind);
      let answer: (error?: Error) => void = () => {};
      scene.bench.rest.answers.dial = new Promise((resolve, reject) => {
        answer = (error) => (error === undefined ? resolve() : reject(error));
      });
      await scene.dial();
      if (how === 'given up') {
        answer(LOST);
        await scene.bench.pass(10_000);
        scene.status('ringing');
      } else {
        void scene.bench.desk.hangUp(scene.callId);
        answer();
      }
      await scene.bench.pass();
      expect(scene.bench.rest.of('hangUp')).toEqual(['hangUp carrier-out-1']);
      scene.report({ type: 'cost', costUsd: 0.01, callId: null });
      expect(scene.record.cost.telephony).toBe(0.01);
    },
  );

  it('is no failure of `dial` when an operator was faster than the refusal', async () => {
    const scene = new Scene(kind);
    let refuse: (error: Error) => void = () => {};
    scene.bench.rest.answers.dial = new Promise((_, reject) => (refuse = reject));
    await scene.dial();
    const done = scene.bench.desk.hangUp(scene.callId);
    refuse(new CarrierError('no', { status: 400, retryable: false }));
    await done;
    await scene.bench.pass();
    expect(await placed(scene).ended).toMatchObject({ endReason: 'operator-hangup', outcome: 'canceled' });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });

  it('that an operator calls off before the carrier has answered the request is hung up, and that is no trouble', async () => {
    const scene = new Scene(kind);
    const { bench } = scene;
    let answer = () => {};
    bench.rest.answers.dial = new Promise((resolve) => (answer = resolve));
    await scene.dial();
    void bench.desk.hangUp(scene.callId);
    scene.status('ringing');
    await bench.pass();
    expect(bench.rest.of('hangUp')).toEqual(['hangUp carrier-out-1']);
    answer();
    await bench.pass();
    expect(bench.rest.of('hangUp')).toHaveLength(1);
    const record = await scene.expectEnd();
    expect(record).toMatchObject({ endReason: 'operator-hangup', outcome: 'canceled', incidents: [] });
  });

  it('that an operator calls off and whose request has no answer leaves a doubt', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = LOST;
    let answer = () => {};
    scene.bench.rest.answers.dial = new Promise((resolve) => (answer = resolve));
    await scene.dial();
    void scene.bench.desk.hangUp(scene.callId);
    answer();
    const record = await scene.expectEnd();
    expect(record).toMatchObject({ endReason: 'operator-hangup', error: null });
    expect(record.incidents).toMatchObject([{ message: expect.stringContaining('not known') }]);
  });

  it('that was given up and is over as well is left alone', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.failures.dial = LOST;
    await scene.dial();
    await scene.bench.pass(10_000);
    scene.over('no-answer');
    scene.status('ringing');
    await scene.bench.pass();
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });

  it('is not touched by reports of another call under its id', async () => {
    const scene = new Scene(kind);
    await scene.up();
    const foreign = { carrierCallId: 'carrier-other' };
    scene.report({ type: 'status', status: 'completed', outcome: 'busy', sequence: 99, ...foreign });
    scene.report({ type: 'cost', costUsd: 9, ...foreign });
    expect(scene.bench.ring(scene.callId, { ...foreign, direction: 'outbound' })).toEqual({
      type: 'hang-up',
    });
    await scene.bench.pass(5000);
    expect(scene.isLive).toBe(true);
    expect(scene.bench.rest.requests).toEqual([]);
    scene.stop();
    scene.over('answered');
    scene.report({ type: 'cost', costUsd: 9, ...foreign });
    expect((await scene.expectEnd()).cost.telephony).toBeNull();
  });
});

describe('dial', () => {
  it.each([[{ to: '15550111' }], [{ to: '+15550111,99' }], [{ from: 'anonymous' }]])(
    'refuses %j',
    async (request) => {
      const scene = new Scene(replied);
      await scene.dial(request);
      expect(scene.dialed).toMatchObject({ code: 'REQUEST_INVALID' });
      expect(scene.bench.events).toEqual([]);
    },
  );

  it('needs a host, names the setting, and places nothing without one', async () => {
    const scene = new Scene(replied, { publicHost: undefined });
    await scene.dial();
    expect(scene.dialed).toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringContaining('webhookUrl'),
    });
    expect(scene.bench.events).toEqual([]);
  });

  it('places nothing while the server stops', async () => {
    const scene = new Scene(replied);
    await scene.bench.desk.shutDown(1000);
    await scene.dial();
    expect(scene.dialed).toBeInstanceOf(RequestError);
    expect(scene.bench.rest.requests).toEqual([]);
  });

  it('that is waited for when the server stops is hung up, or said to be in doubt', async () => {
    const scene = new Scene(replied);
    scene.bench.rest.answers.dial = new Promise(() => {});
    await scene.dial();
    const done = scene.bench.desk.shutDown(5000);
    await scene.bench.pass(5000);
    await done;
    expect(scene.record).toMatchObject({
      endReason: 'server-shutdown',
      outcome: 'canceled',
      hangUp: 'failed',
      incidents: [{ code: 'hangup-failed' }],
    });
  });
});
