import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import type { CallLookup } from '../../src/carriers/carrier.js';
import { text } from '../support/call-bench.js';
import { KINDS, Scene, type SceneKind } from './scene.js';

const RECORDING = { url: 'https://example.com/r', durationMs: 5000, status: 'completed' } as const;
const ABSENT = { url: null, durationMs: null, status: 'absent' } as const;
/** Nothing but what the carrier charges is paid for by the character. */
const PAYEES = {
  tts: { name: 'fake/tts', price: { perThousandCharacters: 10 } },
};
const replied: SceneKind = { steering: 'replies', direction: 'inbound' };

async function ended(scene: Scene): Promise<void> {
  await scene.up();
  scene.stop();
  scene.over('answered');
  await scene.bench.pass();
  scene.bench.rest.requests.length = 0;
}

describe('a recording', () => {
  it.each(KINDS)('of an $direction call, $steering, is asked for once', async (kind) => {
    const scene = new Scene(kind, { recording: true });
    await scene.ring();
    await scene.answer();
    scene.stream();
    scene.cut();
    if (kind.steering === 'commands') scene.stream();
    const { direction } = kind;
    const expected = direction === 'inbound' ? ['startRecording carrier-call-1'] : [];
    expect(scene.bench.rest.of('startRecording')).toEqual(expected);
    if (direction === 'outbound') expect(scene.bench.rest.dials[0]?.recording).toBe(true);
  });

  it('is not asked for where the carrier has none, nor unless it is wanted', async () => {
    for (const options of [{ recording: true, supports: { recording: false } }, {}]) {
      const scene = new Scene(replied, options);
      await scene.up();
      expect(scene.bench.rest.requests).toEqual([]);
      const outbound = new Scene({ ...replied, direction: 'outbound' }, options);
      await outbound.ring();
      expect(outbound.bench.rest.dials[0]?.recording).toBe(false);
    }
  });

  it('that cannot be started is noted, and the call goes on', async () => {
    const scene = new Scene(replied, { recording: true });
    scene.bench.rest.failures.startRecording = new CarrierError('no', { status: 400, retryable: false });
    await scene.up();
    await scene.bench.pass();
    expect(scene.record.incidents).toMatchObject([{ code: 'CARRIER_FAILED' }]);
    expect(scene.isLive).toBe(true);
  });

  it.each(['before', 'after'])('is told once, %s the end', async (when) => {
    const scene = new Scene(replied);
    if (when === 'after') await ended(scene);
    else await scene.up();
    scene.report({ type: 'recording', recording: RECORDING });
    scene.report({ type: 'recording', recording: RECORDING });
    scene.report({ type: 'recording', recording: ABSENT });
    expect(scene.record.recording).toEqual(RECORDING);
    expect(scene.bench.ofType('recording.completed')).toHaveLength(1);
  });

  it('that is said to be absent may turn up after all', async () => {
    const scene = new Scene(replied);
    await ended(scene);
    scene.report({ type: 'recording', recording: ABSENT });
    expect(scene.record.recording?.status).toBe('absent');
    scene.report({ type: 'recording', recording: RECORDING });
    expect(scene.record.recording).toEqual(RECORDING);
  });
});

describe('what the carrier charges', () => {
  it('takes its place in the cost that the agent has stated, before and after the end', async () => {
    const scene = new Scene(replied, { payees: PAYEES });
    await scene.up();
    const speak = (characters: number) =>
      scene.bench.engine.context.fact({
        type: 'usage.measured',
        stage: 'tts',
        turnIndex: null,
        quantities: { characters },
        isGuess: false,
      });
    speak(6);
    scene.report({ type: 'cost', costUsd: 0.004 });
    expect(scene.record).toMatchObject({
      cost: { stt: 0, llm: 0, tts: 0.06, telephony: 0.004, total: 0.064, estimated: false },
      usage: { ttsCharacters: 6 },
    });
    speak(3);
    await scene.bench.pass(5000);
    expect(scene.record.cost).toMatchObject({ tts: 0.09, telephony: 0.004, total: 0.094 });
    scene.stop();
    scene.report({ type: 'cost', costUsd: 0.005 });
    scene.report({ type: 'cost', costUsd: 0.005 });
    expect(scene.record.cost).toMatchObject({ telephony: 0.005, total: 0.095 });
    // Three, and before them the one that says who is paid.
    expect(scene.bench.ofType('cost.updated')).toHaveLength(4);
  });

  it('is an estimate while the agent has stated nothing', async () => {
    const scene = new Scene(replied);
    await ended(scene);
    scene.report({ type: 'cost', costUsd: 0.0123456789 });
    expect(scene.record.cost).toMatchObject({
      stt: null,
      telephony: 0.012346,
      total: 0.012346,
      estimated: true,
    });
    expect(scene.record.usage).toBeNull();
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e99, 1000.01])('is not %d', async (costUsd) => {
    const scene = new Scene(replied);
    await ended(scene);
    scene.report({ type: 'cost', costUsd });
    expect(scene.bench.ofType('cost.updated')).toEqual([]);
  });

  it('is asked for after the end with growing pauses, until it is known', async () => {
    const scene = new Scene(replied, { supports: { callCost: true } });
    const { rest } = scene.bench;
    await ended(scene);
    const asked: number[] = [];
    for (const at of [4999, 5000, 29_999, 30_000, 119_999, 120_000]) {
      await scene.bench.pass(at - scene.bench.clock.now());
      asked.push(rest.of('lookUp').length);
    }
    expect(asked).toEqual([0, 1, 1, 2, 2, 3]);
    rest.costUsd = 0.02;
    await scene.bench.pass(480_000);
    expect(scene.record.cost.telephony).toBe(0.02);
    expect(rest.of('lookUp')).toHaveLength(4);
    expect(scene.bench.clock.pending).toBe(0);
  });

  it('is not asked for once a report has told it, where the carrier cannot tell, or when the server stops', async () => {
    const told = new Scene(replied, { supports: { callCost: true } });
    await ended(told);
    told.report({ type: 'cost', costUsd: 0.02 });
    await told.bench.pass(700_000);
    expect(told.bench.rest.requests).toEqual([]);
    const unable = new Scene(replied);
    await ended(unable);
    expect(unable.bench.clock.pending).toBe(0);
    const stopping = new Scene(replied, { supports: { callCost: true } });
    await ended(stopping);
    await stopping.bench.desk.shutDown(1000);
    expect(stopping.bench.clock.pending).toBe(0);
  });

  it('that cannot be asked for is asked for again', async () => {
    const scene = new Scene(replied, { supports: { callCost: true } });
    await ended(scene);
    scene.bench.rest.failures.lookUp = new CarrierError('no', { status: 500, retryable: true });
    await scene.bench.pass(5000);
    delete scene.bench.rest.failures.lookUp;
    scene.bench.rest.costUsd = 0;
    await scene.bench.pass(25_000);
    expect(scene.record.cost.telephony).toBe(0);
  });
});

describe('a call that was deleted', () => {
  it('is asked about no more, and nothing is told of it that was on its way', async () => {
    const scene = new Scene(replied, { supports: { callCost: true } });
    const { bench } = scene;
    await ended(scene);
    let resolve: (found: CallLookup) => void = () => {};
    bench.rest.lookUp = () =>
      new Promise((found) => {
        resolve = found;
      });
    await bench.pass(5000);
    const [count, callId] = [bench.events.length, scene.record.callId];
    bench.desk.forgetEnded(callId);
    resolve({ isOver: true, outcome: null, costUsd: 0.02 });
    scene.report({ type: 'recording', recording: RECORDING });
    await bench.pass(700_000);
    expect([bench.events.length, bench.clock.pending, bench.desk.hasEnded(callId)]).toEqual([count, 0, true]);
  });
});

describe('a call that is over', () => {
  it('is not woken by anything', async () => {
    const scene = new Scene(replied);
    await ended(scene);
    const count = scene.bench.events.length;
    scene.status('ringing');
    scene.status('active');
    scene.over('failed');
    scene.report({ type: 'dtmf', digit: '1' });
    scene.report({ type: 'machine-detection', verdict: 'fax' });
    scene.report({ type: 'speech-ended' });
    scene.report({ type: 'stream-failed', streamId: null });
    scene.receiver.receiveText(text({ type: 'dtmf', digit: '1' }));
    expect(scene.asks()).toEqual({ type: 'hang-up' });
    expect(scene.bench.events).toHaveLength(count);
    expect(scene.bench.rest.requests).toEqual([]);
  });
});
