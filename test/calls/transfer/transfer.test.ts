import { describe, expect, it, vi } from 'vitest';
import { CarrierError, ConfigError } from '../../../src/base/errors.js';
import type { TransferResult } from '../../../src/carriers/carrier.js';
import { text } from '../../support/call-bench.js';
import { setPhrasesFor } from '../../../src/engines/languages/set-phrases.js';
import { NOBODY_WAITS } from '../../../src/conversation/wait.js';
import { KINDS, Scene, type SceneKind } from '../scene.js';

const { notConnected: NEWS } = setPhrasesFor(undefined);

const TO = '+15550123';
const FAILED = ['busy', 'no-answer', 'failed'] as const;
const replied: SceneKind = { steering: 'replies', direction: 'inbound' };
const commanded: SceneKind = { steering: 'commands', direction: 'inbound' };

/** A call whose caller is being handed over; where instructions take the place of the stream, that is gone. */
async function handingOver(kind: SceneKind): Promise<Scene> {
  const scene = new Scene(kind);
  await scene.up();
  scene.agentSpeaks();
  await scene.bench.desk.transfer(scene.callId, TO);
  if (kind.steering === 'replies') scene.stop();
  scene.bench.rest.requests.length = 0;
  return scene;
}

/** The result, from the other leg where there is one. */
function result(scene: Scene, value: TransferResult) {
  const carrierCallId = scene.kind.steering === 'commands' ? 'carrier-other-leg' : scene.carrierCallId;
  return scene.report({ type: 'transfer', result: value, carrierCallId });
}

describe('a transfer that cannot be ordered', () => {
  const refused = (scene: Scene, why: string) =>
    expect(scene.bench.desk.transfer(scene.callId, TO)).rejects.toMatchObject({
      code: 'REQUEST_CONFLICT',
      message: `The call cannot be transferred now. ${why}`,
    });

  it('says that the call is not connected yet', async () => {
    const scene = new Scene({ steering: 'replies', direction: 'outbound' });
    await scene.ring();
    await refused(scene, 'It is not connected yet: wait for onCallStart.');
  });

  it('says that another one is under way', async () => {
    await refused(await handingOver(commanded), 'It is being handed over already.');
  });
});

describe.each(KINDS)('a transfer of an $direction call, $steering', (kind) => {
  it('silences the agent as soon as the carrier has taken the order', async () => {
    const scene = await handingOver(kind);
    expect(scene.bench.engine.heard).toContain('hold');
    expect(scene.record.transfer).toMatchObject({ to: TO, result: null });
    const sent = scene.socket.sent.length;
    await scene.bench.pass(2000);
    expect(scene.socket.sent).toHaveLength(sent);
    expect(scene.isLive).toBe(true);
  });

  it('that connects ends the call, and the caller is left alone', async () => {
    const scene = await handingOver(kind);
    expect(result(scene, 'connected')).toEqual({ type: 'hang-up' });
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'transferred',
      outcome: 'answered',
      transfer: { result: 'connected' },
    });
    expect(scene.bench.rest.requests).toEqual(
      kind.steering === 'commands' ? [`stopStream ${scene.carrierCallId}`] : [],
    );
  });

  it.each(FAILED)('that fails (%s) brings the caller back to the agent, who says so', async (value) => {
    const scene = await handingOver(kind);
    const { bench } = scene;
    const answer = result(scene, value);
    if (kind.steering === 'replies') {
      expect(answer).toMatchObject({
        type: 'stream',
        url: expect.stringContaining(`/ws/stream/${scene.callId}`),
      });
      scene.stream();
    }
    expect(bench.engine.heard.slice(-2)).toEqual(['hold', `resume ${NEWS[value]}`]);
    expect(bench.engines).toHaveLength(1);
    expect(scene.record).toMatchObject({ status: 'active', transfer: { to: TO, result: value } });
    expect(bench.rest.requests).toEqual([]);
    await bench.pass(60_000);
    await bench.desk.transfer(scene.callId, '+15550124');
    expect(scene.record.transfer).toMatchObject({ to: '+15550124', result: null });
  });

  it('that fails twice is told as what it is each time', async () => {
    const scene = await handingOver(kind);
    result(scene, 'busy');
    if (kind.steering === 'replies') scene.stream();
    await scene.bench.desk.transfer(scene.callId, TO);
    if (kind.steering === 'replies') scene.stop();
    result(scene, 'no-answer');
    if (kind.steering === 'replies') scene.stream();
    expect(scene.bench.engine.heard.filter((heard) => heard.startsWith('resume'))).toEqual([
      `resume ${NEWS.busy}`,
      `resume ${NEWS['no-answer']}`,
    ]);
  });

  it('that has failed says nothing of the next one, of which the carrier has said nothing yet', async () => {
    const scene = await handingOver(kind);
    const { bench } = scene;
    result(scene, 'busy');
    if (kind.steering === 'replies') scene.stream();
    await bench.pass(30_000);
    bench.rest.answers.transfer = new Promise(() => {});
    void bench.desk.transfer(scene.callId, '+15550124');
    // The first would have been over by now.
    await bench.pass(20_000);
    expect(scene.record.transfer).toMatchObject({ to: TO, result: 'busy' });
    expect(scene.isLive).toBe(true);
  });

  it.each(['connected', ...FAILED] as const)(
    'that the agent orders tells it the result: %s',
    async (value) => {
      const scene = new Scene(kind);
      await scene.up();
      const { controls } = scene.bench.engine.context;
      const outcome = vi.fn();
      void controls.transfer(TO).then(outcome);
      await scene.bench.pass(0);
      expect(scene.bench.engine.heard).toContain('hold');
      expect(outcome).not.toHaveBeenCalled();
      if (kind.steering === 'replies') scene.stop();
      result(scene, value);
      await scene.bench.pass(0);
      expect(outcome.mock.calls).toEqual([[value]]);
      if (value === 'connected') return;
      if (kind.steering === 'replies') scene.stream();
      expect(scene.bench.engine.heard.at(-1)).toBe('resume listen');
    },
  );

  it('that the agent orders when it is not possible is refused, and the call goes on', async () => {
    const scene = await handingOver(kind);
    const { controls } = scene.bench.engine.context;
    await expect(controls.transfer(TO)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    await expect(controls.transfer('nobody')).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    await expect(controls.sendDigits('1#')).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    expect(scene.isLive).toBe(true);
  });

  it('of which nothing is heard has reached the number', async () => {
    const scene = await handingOver(kind);
    await scene.bench.pass(44_999);
    expect(scene.isLive).toBe(true);
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'transferred',
      transfer: { result: 'connected' },
    });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
    expect(scene.report({ type: 'transfer', result: 'connected' })).toEqual({ type: 'hang-up' });
  });

  it('that is known to have failed when we have let go of the caller leaves nobody on the line', async () => {
    const scene = await handingOver(kind);
    await scene.bench.desk.shutDown(1000);
    expect(scene.record.endReason).toBe('transferred');
    expect(result(scene, 'busy')).toEqual({ type: 'hang-up' });
    await scene.bench.pass();
    const { carrierCallId } = scene;
    expect(scene.bench.rest.requests).toEqual(
      kind.steering === 'commands' ? [`lookUp ${carrierCallId}`, `hangUp ${carrierCallId}`] : [],
    );
  });

  it.each([
    ['connected', 'connected'],
    ['busy', 'busy'],
    ['no-answer', 'no answer'],
    ['failed', 'failed'],
  ] as const)('is in the transcript with its result: %s', async (value, words) => {
    const scene = await handingOver(kind);
    expect(scene.record.transcript).toEqual([]);
    result(scene, value);
    await scene.bench.pass(0);
    expect(scene.record.transcript).toMatchObject([
      { id: 'transfer-1', role: 'system', text: `Transfer to …0123: ${words}`, final: true },
    ]);
    expect(scene.record.transfer).toMatchObject({ to: TO, result: value });
  });

  it('that is refused after the agent has said goodbye keeps nobody on the line', async () => {
    const scene = new Scene(kind);
    await scene.up();
    const { bench } = scene;
    let answer = () => {};
    bench.rest.answers.transfer = new Promise((resolve) => (answer = resolve));
    bench.rest.failures.transfer = new CarrierError('no', { status: 422, retryable: false });
    const ordered = bench.desk.transfer(scene.callId, TO);
    bench.engine.context.endCall('agent-hangup');
    await bench.pass(5000);
    expect(scene.isLive).toBe(true);
    answer();
    await expect(ordered).rejects.toThrow(CarrierError);
    expect(scene.isLive).toBe(false);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'agent-hangup', transfer: null });
    expect(bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('that is refused after the agent has lost its voice ends in an apology', async () => {
    const scene = new Scene(kind);
    await scene.up();
    const { bench } = scene;
    let answer = () => {};
    bench.rest.answers.transfer = new Promise((resolve) => (answer = resolve));
    bench.rest.failures.transfer = new CarrierError('no', { status: 422, retryable: false });
    const ordered = bench.desk.transfer(scene.callId, TO);
    bench.engine.context.endCall('provider-failed', { code: 'X', message: 'x', wait: NOBODY_WAITS });
    await bench.pass(5000);
    answer();
    await expect(ordered).rejects.toThrow(CarrierError);
    expect(bench.rest.of('speak')).toHaveLength(1);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
  });

  it('whose caller leaves meanwhile is no transfer', async () => {
    const scene = await handingOver(kind);
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'caller-hangup',
      outcome: 'answered',
      transfer: { result: null },
    });
    expect(scene.bench.rest.requests).toEqual([]);
  });

  it.each([
    ['connected', 'transferred'],
    ['no-answer', 'caller-hangup'],
  ] as const)('may be told of after the end of the call: %s', async (value, endReason) => {
    const scene = await handingOver(kind);
    scene.over('answered');
    expect(result(scene, value)).toEqual({ type: 'hang-up' });
    expect(await scene.expectEnd()).toMatchObject({ endReason, transfer: { result: value } });
  });

  it('may be told of before the carrier has answered the order', async () => {
    const scene = new Scene(kind);
    await scene.up();
    let taken = () => {};
    scene.bench.rest.answers.transfer = new Promise((resolve) => (taken = resolve));
    const ordered = scene.bench.desk.transfer(scene.callId, TO);
    result(scene, 'busy');
    taken();
    await ordered;
    expect(scene.record.transfer).toMatchObject({ to: TO, result: 'busy' });
    expect(scene.bench.engine.heard.filter((line) => line === 'hold').length).toBe(1);
  });

  it('acts once on a result that is told twice, and not on one of a transfer that never was', async () => {
    const scene = await handingOver(kind);
    result(scene, 'busy');
    if (kind.steering === 'replies') scene.stream();
    for (const value of ['busy', 'no-answer'] as const)
      expect(result(scene, value)).toMatchObject({ type: 'stream' });
    expect(scene.bench.logger.sentences('error')).toEqual([]);
    expect(scene.bench.ofType('transfer.updated', scene.callId)).toHaveLength(2);
    expect(scene.isLive).toBe(true);
  });

  it('does not let the agent hang up on the caller, but for one who comes back', async () => {
    const scene = await handingOver(kind);
    scene.bench.engine.context.endCall('provider-failed', { code: 'PROVIDER_FAILED', message: 'x' });
    await scene.bench.pass(5000);
    expect(scene.isLive).toBe(true);
    result(scene, 'busy');
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('that fails after the agent has lost its voice ends in an apology where one can be spoken', async () => {
    const scene = await handingOver(kind);
    scene.bench.engine.context.endCall('provider-failed', { code: 'X', message: 'x', wait: NOBODY_WAITS });
    await scene.bench.pass(5000);
    const answer = result(scene, 'busy');
    expect(scene.bench.rest.of('speak')).toHaveLength(kind.steering === 'commands' ? 1 : 0);
    if (kind.steering === 'commands') scene.report({ type: 'speech-ended' });
    else expect(answer).toEqual({ type: 'hang-up' });
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('can be cut short by an operator', async () => {
    const scene = await handingOver(kind);
    await scene.bench.desk.hangUp(scene.callId);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'operator-hangup' });
    expect(scene.bench.rest.requests).toEqual([`hangUp ${scene.carrierCallId}`]);
  });
});

describe('a transfer', () => {
  it('makes the agent deaf where the stream stays open', async () => {
    const scene = await handingOver(commanded);
    scene.receiver.receiveText(text({ type: 'audio', samples: 320 }));
    expect(scene.bench.engine.heard).not.toContain('audio 320');
    result(scene, 'busy');
    scene.receiver.receiveText(text({ type: 'audio', samples: 320 }));
    expect(scene.bench.engine.heard.at(-1)).toBe('audio 320');
  });

  it('that is refused long after a stream was lost and replaced leaves the call alone', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    scene.cut();
    scene.stream();
    scene.bench.rest.failures.transfer = new CarrierError('no', { status: 400, retryable: false });
    await expect(scene.bench.desk.transfer(scene.callId, TO)).rejects.toBeInstanceOf(CarrierError);
    expect(scene.bench.rest.of('startStream')).toHaveLength(1);
    expect(scene.bench.engine.heard.at(-1)).toBe('resume continue');
  });

  it('asks for another stream when the one it left open has gone', async () => {
    const scene = await handingOver(commanded);
    scene.cut();
    await scene.bench.pass(3000);
    expect(scene.bench.rest.requests).toEqual([]);
    result(scene, 'busy');
    expect(scene.bench.rest.requests).toEqual(['startStream carrier-call-1 preferred']);
    scene.stream();
    expect(scene.bench.engine.heard.at(-1)).toBe(`resume ${NEWS.busy}`);
  });

  it('that fails needs the stream back in time', async () => {
    const scene = await handingOver(replied);
    result(scene, 'failed');
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost' });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('shows our number, or the one of the installation when the call does not name it', async () => {
    const scene = new Scene({ steering: 'replies', direction: 'outbound' });
    await scene.up();
    await scene.bench.desk.transfer(scene.callId, TO);
    expect(scene.bench.rest.requests).toEqual([`transfer ${scene.carrierCallId} ${TO} +15550100`]);
    const sip = new Scene(commanded);
    sip.bench.ring('call-1', { callee: 'sip:desk@example.com' });
    await sip.answer();
    sip.stream();
    await sip.bench.desk.transfer('call-1', TO);
    expect(sip.bench.rest.requests.at(-1)).toBe(`transfer carrier-call-1 ${TO} +15550199`);
  });

  it('goes to the host that a webhook of the call came to, when no other is known', async () => {
    const told = new Scene(replied, { publicHost: undefined });
    await told.up();
    await told.bench.desk.transfer(told.callId, TO);
    expect(result(told, 'busy')).toMatchObject({ url: expect.stringContaining('wss://webhook.example/') });
    const untold = new Scene(replied, { publicHost: undefined });
    untold.stream();
    await expect(untold.bench.desk.transfer('call-1', TO)).rejects.toBeInstanceOf(ConfigError);
    expect(untold.isLive).toBe(true);
  });

  it('that is refused while the stream is lost lets it be asked for again', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    scene.bench.rest.failures.transfer = new CarrierError('no', { status: 400, retryable: false });
    const ordered = scene.bench.desk.transfer(scene.callId, TO);
    scene.cut();
    await expect(ordered).rejects.toBeInstanceOf(CarrierError);
    expect(scene.bench.rest.requests.at(-1)).toBe('startStream carrier-call-1 preferred');
    scene.stream();
    expect(scene.bench.engine.heard.at(-1)).toBe('resume continue');
  });
});
