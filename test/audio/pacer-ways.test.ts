import { describe, expect, it, vi } from 'vitest';
import { createOutboundConverter } from '../../src/audio/converter.js';
import { MULAW_8K, PCM_16K } from '../../src/audio/format.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import type { FakeClock } from '../support/fake-clock.js';
import { backend, createMeters, ms, PER_MS, setUp } from './pacer-rig.js';

describe('a pacer that changes its way', () => {
  const another = (clock: FakeClock) => {
    const player = new CarrierPlayer({ clock, bytesPerMs: PER_MS * 2 });
    return { player, way: { converter: createOutboundConverter(PCM_16K, backend), sink: player } };
  };

  it('counts what was not heard as not heard, and says nothing to the carrier that is gone', () => {
    const { clock, player, pacer, echoed } = setUp({ delayMs: 10 });
    pacer.push(ms(1000));
    pacer.mark('end');
    clock.advance(300);
    pacer.detach();
    expect(pacer.playedMs).toBeCloseTo(300, 0);
    expect(pacer.pushedMs).toBe(pacer.playedMs);
    const sent = player.sent.length;
    clock.advance(2000);
    expect(player.sent).toHaveLength(sent);
    expect(player.clears).toBe(0);
    expect(echoed).toEqual([]);
    expect(pacer.clear()).toBe(pacer.playedMs);
    expect(clock.pending).toBe(0);
  });

  it('holds back what is pushed meanwhile and sends it over the new way, with its marks', () => {
    const { clock, pacer } = setUp();
    pacer.push(ms(100));
    clock.advance(40);
    pacer.detach();
    pacer.detach();
    const played = pacer.playedMs;
    pacer.push(ms(60));
    pacer.mark('new');
    clock.advance(500);
    expect(pacer.playedMs).toBe(played);
    const { player, way } = another(clock);
    pacer.attach(way);
    clock.advance(500);
    expect(player.heard()).toHaveLength(60 * PER_MS * 2);
    expect(player.marksSent).toEqual(['new']);
    expect(pacer.playedMs).toBeCloseTo(played + 60, 0);
  });

  it('knows no mark of the old way any more', () => {
    const { clock, pacer } = setUp({ marks: false });
    pacer.push(ms(20));
    pacer.mark('old');
    pacer.detach();
    pacer.attach(another(clock).way);
    expect(pacer.markEchoed('old')).toBe(false);
  });

  it('speaks another format from then on', () => {
    const { clock, pacer } = setUp();
    const player = new CarrierPlayer({ clock, bytesPerMs: 8 });
    pacer.push(ms(20));
    pacer.attach({ converter: createOutboundConverter(MULAW_8K, backend), sink: player });
    pacer.push(ms(40));
    clock.advance(100);
    expect(player.sent.map(({ bytes }) => bytes.length)).toEqual([160, 160]);
  });

  it('closed, it takes no way, and frees the one it is offered', () => {
    const { clock, pacer } = setUp();
    pacer.close();
    const { player, way } = another(clock);
    const close = vi.spyOn(way.converter, 'close');
    pacer.attach(way);
    pacer.detach();
    pacer.push(ms(20));
    clock.advance(100);
    expect(close).toHaveBeenCalledTimes(1);
    expect(player.sent).toEqual([]);
  });
});

describe('meters of a pacer', () => {
  function measured() {
    const { meters, late, queuedMs } = createMeters();
    return { ...setUp({ meters }), late, queuedMs };
  }

  it('hear that frames in time are not late, and what waits', () => {
    const { clock, pacer, late, queuedMs } = measured();
    pacer.push(ms(1000));
    expect(queuedMs()).toBe(800);
    clock.advance(2000);
    expect(late).toEqual(Array.from({ length: 50 }, () => 0));
    expect(queuedMs()).toBe(0);
  });

  it('hear of each frame behind a stall how late it was', () => {
    const { clock, pacer, late } = measured();
    pacer.push(ms(400));
    clock.advance(20);
    late.length = 0;
    clock.stall(65);
    clock.advance(0);
    expect(late).toEqual([45, 25, 5]);
    clock.advance(1000);
    expect(late.slice(3)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('do not take a pause of the agent for lateness', () => {
    const { clock, pacer, late } = measured();
    pacer.push(ms(300));
    clock.advance(5000);
    pacer.push(ms(300));
    clock.advance(5000);
    expect(Math.max(...late)).toBe(0);
  });

  it.each(['clear', 'detach', 'close'] as const)('hear that %s leaves nothing waiting', (end) => {
    const { pacer, queuedMs } = measured();
    pacer.push(ms(1000));
    pacer[end]();
    expect(queuedMs()).toBe(0);
  });
});
