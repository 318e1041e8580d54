import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import type { TransferResult } from '../../src/carriers/carrier.js';
import { setPhrasesFor } from '../../src/engines/languages/set-phrases.js';
import { KINDS, Scene, type SceneKind } from './scene.js';

const { notConnected: NEWS } = setPhrasesFor(undefined);

const TO = '+15550123';
const replied: SceneKind = { steering: 'replies', direction: 'inbound' };
const commanded: SceneKind = { steering: 'commands', direction: 'inbound' };

/** The result, from the other leg where there is one. */
function result(scene: Scene, value: TransferResult) {
  const carrierCallId = scene.kind.steering === 'commands' ? 'carrier-other-leg' : scene.carrierCallId;
  return scene.report({ type: 'transfer', result: value, carrierCallId });
}

describe('a transfer whose answer was lost', () => {
  const LOST = new CarrierError('no answer', { status: null, retryable: false });

  /** What became of the promise. */
  async function inDoubt(kind: SceneKind) {
    const scene = new Scene(kind);
    await scene.up();
    const { bench } = scene;
    bench.rest.failures.transfer = LOST;
    const told: unknown[] = [];
    bench.desk.transfer(scene.callId, TO).then(
      () => told.push('taken'),
      (error: unknown) => told.push(error),
    );
    return { scene, told };
  }

  it.each(KINDS)('holds the agent ($direction, $steering)', async (kind) => {
    const { scene, told } = await inDoubt(kind);
    await scene.bench.pass(4999);
    expect(scene.bench.engine.heard.at(-1)).toBe('hold');
    expect(told).toEqual([]);
    expect(scene.record.transfer).toBeNull();
  });

  it.each(KINDS)('has failed when nothing shows it ($direction, $steering)', async (kind) => {
    const { scene, told } = await inDoubt(kind);
    await scene.bench.pass(5000);
    expect(told).toEqual([LOST]);
    expect(scene.bench.engine.heard.at(-1)).toBe(`resume ${NEWS.failed}`);
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
    scene.stop();
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup', transfer: null });
  });

  it.each(KINDS)('was taken when a result comes ($direction, $steering)', async (kind) => {
    const { scene, told } = await inDoubt(kind);
    await scene.bench.pass(1000);
    expect(result(scene, 'connected')).toEqual({ type: 'hang-up' });
    await scene.bench.pass();
    expect(told).toEqual(['taken']);
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'transferred',
      transfer: { to: TO, result: 'connected' },
    });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });

  it.each([
    ['before', 0],
    ['after', 1000],
  ])('was taken when its instructions end the stream, %s the answer is missed', async (_, delayMs) => {
    const { scene, told } = await inDoubt(replied);
    if (delayMs > 0) await scene.bench.pass(delayMs);
    scene.stop();
    await scene.bench.pass(20_000);
    expect(told).toEqual(['taken']);
    expect(scene.isLive).toBe(true);
    expect(result(scene, 'busy')).toMatchObject({ type: 'stream' });
    scene.stream();
    expect(scene.bench.engine.heard.at(-1)).toBe(`resume ${NEWS.busy}`);
    expect(scene.record.transfer).toMatchObject({ to: TO, result: 'busy' });
  });

  it('and whose caller leaves is no transfer', async () => {
    const { scene } = await inDoubt(replied);
    await scene.bench.pass();
    scene.stop();
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'caller-hangup',
      transfer: { result: null },
    });
  });

  it.each([5000, 44_999])('may connect after %d ms all the same', async (delayMs) => {
    const { scene } = await inDoubt(commanded);
    await scene.bench.pass(delayMs);
    result(scene, 'connected');
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'transferred',
      transfer: { result: 'connected' },
    });
    expect(scene.bench.rest.of('stopStream')).toHaveLength(1);
  });

  it('does not disturb the agent when it fails later, and is forgotten in the end', async () => {
    const { scene } = await inDoubt(commanded);
    await scene.bench.pass(6000);
    const heard = scene.bench.engine.heard.length;
    result(scene, 'busy');
    expect(scene.bench.engine.heard).toHaveLength(heard);
    expect(scene.bench.ofType('transfer.updated', scene.callId)).toMatchObject([
      { to: TO, result: null },
      { to: TO, result: 'busy' },
    ]);
    const other = await inDoubt(commanded);
    await other.scene.bench.pass(45_000);
    result(other.scene, 'connected');
    expect(other.scene.isLive).toBe(true);
  });

  it('lets another one be ordered when it has failed', async () => {
    const { scene } = await inDoubt(commanded);
    await scene.bench.pass(5000);
    delete scene.bench.rest.failures.transfer;
    await scene.bench.desk.transfer(scene.callId, '+15550124');
    await scene.bench.pass(44_000);
    expect(scene.record.transfer).toMatchObject({ to: '+15550124', result: null });
  });

  it('is told of as failed when the call ends meanwhile', async () => {
    const { scene, told } = await inDoubt(commanded);
    await scene.bench.pass(1000);
    await scene.bench.desk.hangUp(scene.callId);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'operator-hangup' });
    expect(told).toEqual([LOST]);
  });
});
