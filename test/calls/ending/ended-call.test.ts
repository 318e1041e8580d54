import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { collectGarbage } from '../../support/garbage.js';
import { KINDS, Scene } from '../scene.js';

describe.each(KINDS)('a call that is over ($steering, $direction)', (kind) => {
  it.each([
    ['an operator', (scene: Scene) => scene.bench.desk.hangUp(scene.callId)],
    ['a lost stream', (scene: Scene) => scene.cut()],
    ['a stop', (scene: Scene) => scene.stop()],
  ])('and was ended by %s is remembered without its agent and its streams', async (_, end) => {
    const scene = new Scene(kind);
    await scene.up();
    const engine = new WeakRef(scene.bench.engine);
    const receiver = new WeakRef(scene.receiver);
    await end(scene);
    await scene.expectEnd();
    scene.bench.engines.length = 0;
    Object.assign(scene, { receiver: undefined, socket: undefined });
    await collectGarbage();
    expect(scene.bench.desk.hasEnded(scene.callId)).toBe(true);
    expect([engine.deref(), receiver.deref()].filter((left) => left !== undefined).length).toBe(0);
  });

  it('is hung up when the carrier reports its end, also where the hang-up was refused', async () => {
    const scene = new Scene(kind);
    const { bench } = scene;
    await scene.up();
    bench.rest.failures.hangUp = new CarrierError('No.', { status: 401, retryable: false });
    expect(await bench.desk.hangUp(scene.callId)).toBe('failed');
    expect(scene.record.hangUp).toBe('failed');
    scene.over('answered');
    scene.over('answered');
    expect(scene.record.hangUp).toBe('done');
    expect(bench.ofType('hangup.updated', scene.callId).map(({ state }) => state)).toEqual([
      'failed',
      'done',
    ]);
  });
});
