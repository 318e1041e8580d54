import { describe, expect, it } from 'vitest';
import { SessionRenewal } from '../../../src/providers/wire/session-renewal.js';
import { FakeClock } from '../../support/fake-clock.js';

function plan() {
  const clock = new FakeClock();
  const scene = { clock, isQuiet: true, renewals: 0 };
  const renewal = new SessionRenewal({
    clock,
    isQuiet: () => scene.isQuiet,
    renew: () => {
      scene.renewals += 1;
    },
  });
  return Object.assign(scene, { renewal });
}

describe('the renewal of a session', () => {
  it('takes the first silence after a time, and looks for it every half second', () => {
    const scene = plan();
    scene.isQuiet = false;
    scene.renewal.plan(1000);
    scene.clock.advance(1400);
    scene.isQuiet = true;
    expect(scene.renewals).toBe(0);
    scene.clock.advance(100);
    expect(scene.renewals).toBe(1);
    scene.clock.advance(10_000);
    expect(scene.renewals).toBe(1);
  });

  it('comes at nine tenths of a session whose end is known', () => {
    const scene = plan();
    scene.renewal.planBefore(scene.clock.wallNow() / 1000 + 100);
    scene.clock.advance(89_999);
    expect(scene.renewals).toBe(0);
    scene.clock.advance(1);
    expect(scene.renewals).toBe(1);
  });

  it('is not planned for an end that is not known, or is past', () => {
    const scene = plan();
    scene.renewal.planBefore(undefined);
    scene.renewal.planBefore(1);
    expect(scene.clock.pending).toBe(0);
  });

  it('is given up', () => {
    const scene = plan();
    scene.renewal.plan(0);
    scene.renewal.close();
    scene.clock.advance(1000);
    expect(scene.renewals).toBe(0);
  });
});
