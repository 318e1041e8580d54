import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createOutboundConverter } from '../../src/audio/converter.js';
import { MULAW_8K, PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';
import { backend, ms, PER_MS, ramp, setUp } from './pacer-rig.js';

function samples(bytes: Uint8Array): number[] {
  return [...new Int16Array(Uint8Array.from(bytes).buffer)];
}

describe('Pacer', () => {
  it('sends in the same tick as far as the lead goes, then one frame every 20 ms', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(1000));
    expect(player.sent).toHaveLength(10);
    clock.advance(19);
    expect(player.sent).toHaveLength(10);
    clock.advance(1);
    expect(player.sent).toHaveLength(11);
    clock.advance(980);
    expect(player.sent).toHaveLength(50);
    expect(player.sent.every(({ bytes }) => bytes.length === 640)).toBe(true);
  });

  it('plays any chunking without a gap, without loss and in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const { clock, player, pacer } = setUp();
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const all = ramp(total);
        let at = 0;
        for (const size of sizes) {
          pacer.push(all.subarray(at, at + size));
          at += size;
        }
        clock.advance(total / PER_MS + 1000);
        const heard = samples(player.heard());
        expect(heard.slice(0, total)).toEqual([...all]);
        expect(heard.slice(total).every((sample) => sample === 0)).toBe(true);
        expect(heard.length).toBeLessThan(total + 320);
        expect(pacer.playedMs).toBe(pacer.pushedMs);
      }),
      { numRuns: 60 },
    );
  });

  it('makes a late timer good without ever running further ahead than the lead', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(3000));
    clock.stall(150);
    clock.advance(0);
    expect(player.aheadMs).toBeGreaterThan(180);
    expect(player.aheadMs).toBeLessThanOrEqual(200);
    clock.stall(900);
    clock.advance(0);
    expect(player.aheadMs).toBeLessThanOrEqual(200);
    clock.advance(3000);
    expect(pacer.playedMs).toBe(3000);
    expect(samples(player.heard())).toEqual([...ms(3000)]);
  });

  it('keeps its schedule over a minute of timers that fire late', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(60_000));
    while (clock.now() < 59_000) {
      clock.stall(7);
      clock.advance(6);
    }
    expect(player.sent.length).toBe(Math.floor((clock.now() + 200) / 20));
  });

  it('asks for a mark right behind the audio before it, and at once when nothing waits', () => {
    const { clock, player, pacer, echoed } = setUp();
    pacer.mark('empty');
    expect(player.marksSent).toEqual(['empty']);
    pacer.push(ms(300));
    pacer.mark('sentence');
    pacer.push(ms(300));
    expect(player.marksSent).toEqual(['empty']);
    clock.advance(100);
    expect(player.marksSent).toEqual(['empty', 'sentence']);
    clock.advance(199);
    expect(echoed).toEqual(['empty']);
    clock.advance(1);
    expect(echoed).toEqual(['empty', 'sentence']);
    expect(pacer.playedMs).toBe(300);
  });

  it('pads a tail at a mark at once, and without a mark only when the carrier runs dry', () => {
    const marked = setUp();
    marked.pacer.push(ramp(100));
    expect(marked.player.sent).toHaveLength(0);
    marked.pacer.mark('end');
    expect(marked.player.sent).toHaveLength(1);
    expect(marked.pacer.pushedMs).toBe(100 / PER_MS);

    const slow = setUp();
    slow.pacer.push(ramp(320 * 9 + 100));
    slow.clock.advance(120);
    expect(slow.player.sent).toHaveLength(9);
    slow.pacer.push(ramp(220, 320 * 9 + 100));
    expect(samples(Buffer.concat(slow.player.sent.map(({ bytes }) => bytes)))).toEqual([...ramp(3200)]);
    slow.pacer.push(ramp(50));
    slow.clock.advance(300);
    expect(slow.player.sent).toHaveLength(11);
  });

  it('drops everything at a clear, tells the carrier in the same tick, and forgets its marks', () => {
    const { clock, player, pacer, echoed, converter } = setUp();
    const reset = vi.spyOn(converter, 'reset');
    pacer.push(ms(1000));
    pacer.mark('end');
    clock.advance(500);
    expect(pacer.clear()).toBe(500);
    expect(player.clears).toBe(1);
    expect(reset).toHaveBeenCalledOnce();
    clock.advance(0);
    expect(clock.pending).toBe(0);
    expect([pacer.playedMs, pacer.pushedMs]).toEqual([500, 500]);
    const sent = player.sent.length;
    clock.advance(2000);
    expect(player.sent).toHaveLength(sent);
    expect(echoed).toEqual([]);
    expect(pacer.markEchoed('end')).toBe(false);
    expect(clock.pending).toBe(0);

    pacer.push(ms(100));
    pacer.mark('after');
    clock.advance(100);
    expect(echoed).toEqual(['after']);
    expect(pacer.playedMs).toBe(600);
  });

  it('always clears the carrier while it may hold something of ours, and only then', () => {
    const { clock, player, pacer } = setUp({ delayMs: 80 });
    pacer.clear();
    expect(player.clears).toBe(0);
    pacer.push(ms(100));
    pacer.mark('end');
    // By our clock it was all played; the carrier has not said so.
    clock.advance(150);
    pacer.clear();
    expect(player.clears).toBe(1);
    pacer.push(ms(100));
    pacer.mark('end of another');
    clock.advance(500);
    pacer.clear();
    expect(player.clears).toBe(1);
  });

  it('tells its listener when a mark was heard', () => {
    const markHeard = vi.fn();
    const { clock, pacer } = setUp({
      delayMs: 120,
      listener: { played() {}, passed() {}, markHeard, cut() {}, sent() {} },
    });
    const startedAt = clock.now();
    pacer.push(ms(200));
    pacer.mark('end');
    clock.advance(1000);
    expect(markHeard.mock.calls).toEqual([[startedAt + 320, 120]]);
  });

  it('reads the position of a player that lags behind from the marks it echoes', () => {
    const { clock, pacer } = setUp({ delayMs: 120 });
    pacer.push(ms(200));
    pacer.mark('first');
    pacer.push(ms(2000));
    clock.advance(300);
    const before = pacer.playedMs;
    clock.advance(20);
    expect(pacer.playedMs).toBe(Math.max(before, 200));
    clock.advance(300);
    expect(pacer.playedMs).toBe(500);
    clock.advance(10_000);
    expect(pacer.playedMs).toBe(2200);
  });

  it('never reports a position that goes back or lies beyond what was sent', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ push: fc.integer({ min: 0, max: 400 }), wait: fc.integer({ min: 0, max: 300 }) }),
        ),
        fc.integer({ min: 0, max: 300 }),
        (steps, delayMs) => {
          const { clock, pacer } = setUp({ delayMs });
          let last = 0;
          for (const [index, step] of steps.entries()) {
            pacer.push(ms(step.push));
            if (index % 3 === 0) pacer.mark(`mark-${index}`);
            clock.advance(step.wait);
            const played = pacer.playedMs;
            expect(played).toBeGreaterThanOrEqual(last);
            expect(played).toBeLessThanOrEqual(pacer.pushedMs);
            last = played;
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('counts by its own clock where the carrier echoes nothing', () => {
    const { clock, pacer } = setUp({ marks: false });
    pacer.push(ms(400));
    clock.advance(150);
    expect(pacer.playedMs).toBe(150);
    clock.advance(1000);
    expect(pacer.playedMs).toBe(400);
    pacer.push(ms(100));
    clock.advance(40);
    expect(pacer.playedMs).toBe(440);
  });

  it('waits while the socket holds too much, and goes on afterwards', () => {
    const { clock, player, pacer } = setUp();
    player.bufferedBytes = 40_000;
    pacer.push(ms(500));
    clock.advance(1000);
    expect(player.sent).toHaveLength(0);
    player.bufferedBytes = 0;
    clock.advance(20);
    expect(player.sent.length).toBeGreaterThan(0);
    expect(player.sent.length).toBeLessThanOrEqual(11);
    clock.advance(2000);
    expect(samples(player.heard())).toEqual([...ms(500)]);
  });

  it('tells once when the next frame leaves, and not after a clear', () => {
    const { clock, pacer } = setUp();
    clock.advance(50);
    const listener = vi.fn();
    const dropped = vi.fn();
    pacer.onNextFrameSent(dropped);
    pacer.clear();
    pacer.onNextFrameSent(listener);
    pacer.push(ms(100));
    expect(listener.mock.calls).toEqual([[50]]);
    expect(dropped).not.toHaveBeenCalled();
  });

  it('tells of a frame that was pushed after the question, not of one that waited already', () => {
    const { clock, pacer } = setUp({ leadMs: 20 });
    const listener = vi.fn();
    pacer.push(ms(100));
    pacer.onNextFrameSent(listener);
    clock.advance(60);
    pacer.push(ms(100));
    expect(listener).not.toHaveBeenCalled();
    clock.advance(500);
    expect(listener.mock.calls).toEqual([[100]]);
  });

  it('copies what it is given', () => {
    const { clock, player, pacer } = setUp({ leadMs: 20 });
    const chunk = ms(100);
    pacer.push(chunk);
    chunk.fill(-1);
    clock.advance(500);
    expect(samples(player.heard())).toEqual([...ms(100)]);
  });

  it('is still after close', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(1000));
    const sent = player.sent.length;
    pacer.close();
    pacer.close();
    pacer.push(ms(100));
    pacer.mark('late');
    clock.advance(2000);
    expect(player.sent).toHaveLength(sent);
    expect(player.marksSent).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('begins after a pause without the end of what was said before', () => {
    const clock = new FakeClock();
    const player = new CarrierPlayer({ clock, bytesPerMs: 8, onMark: () => {} });
    const pacer = new Pacer({
      converter: createOutboundConverter(MULAW_8K, backend),
      sink: player,
      clock,
    });
    pacer.push(new Int16Array(3200).fill(20_000));
    clock.advance(1000);
    pacer.push(new Int16Array(320));
    expect(backend.mulawDecode(player.sent[10]?.bytes ?? new Uint8Array())).toEqual(new Int16Array(160));
  });

  it('goes on behind a clear without the end of what was dropped, where nothing of it was heard either', () => {
    const clock = new FakeClock();
    const player = new CarrierPlayer({ clock, bytesPerMs: 8, onMark: () => {} });
    const pacer = new Pacer({ converter: createOutboundConverter(MULAW_8K, backend), sink: player, clock });
    pacer.push(new Int16Array(3200).fill(20_000));
    expect(pacer.clear()).toBe(0);
    const sent = player.sent.length;
    pacer.push(new Int16Array(320));
    expect(backend.mulawDecode(player.sent[sent]?.bytes ?? new Uint8Array())).toEqual(new Int16Array(160));
  });

  it('lets nobody hear an event loop that stalls for 300 ms', () => {
    const clock = new FakeClock();
    const player = new CarrierPlayer({ clock, bytesPerMs: PER_MS * 2, onMark: () => {} });
    const pacer = new Pacer({
      converter: createOutboundConverter(PCM_16K, backend),
      sink: player,
      clock,
    });
    pacer.push(ms(2000));
    clock.advance(500);
    clock.stall(300);
    expect(player.aheadMs).toBeGreaterThan(0);
  });

  it('sends frames of the carrier’s own size', () => {
    const clock = new FakeClock();
    const player = new CarrierPlayer({ clock, bytesPerMs: 8 });
    const converter = createOutboundConverter(MULAW_8K, backend);
    const pacer = new Pacer({ converter, sink: player, clock });
    pacer.push(ms(100));
    expect(player.sent.map(({ bytes }) => bytes.length)).toEqual([160, 160, 160, 160, 160]);
  });
});
