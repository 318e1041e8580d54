import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { KINDS, Scene } from '../scene.js';

describe.each(KINDS)('the carrier of an $direction call ($steering)', (kind) => {
  it('is told once how long a call may last, some time more than here', async () => {
    const scene = new Scene(kind);
    const limits: [string, number][] = [];
    scene.bench.rest.limit = async (...limit) => void limits.push(limit);
    await scene.up();
    scene.cut();
    if (kind.steering === 'commands') scene.stream();
    expect(limits).toEqual(kind.direction === 'inbound' ? [[scene.carrierCallId, 3660]] : []);
    if (kind.direction === 'outbound') expect(scene.bench.rest.dials[0]?.maxCallSeconds).toBe(3660);
  });

  it('may refuse that: the call goes on', async () => {
    const scene = new Scene(kind);
    scene.bench.rest.limit = async () => {
      throw new CarrierError('No.', { status: 400, retryable: false });
    };
    await scene.up();
    await scene.bench.pass();
    expect([scene.isLive, scene.record.incidents]).toEqual([true, []]);
  });
});
