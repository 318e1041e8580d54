import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../src/audio/format.js';
import { createMeters, ms, PER_MS, ramp, setUp } from './pacer-rig.js';
import { runs } from '../support/depth.js';

function samples(bytes: Uint8Array): number[] {
  return [...new Int16Array(Uint8Array.from(bytes).buffer)];
}

describe('a pause', () => {
  it('is heard at once, loses nothing, repeats nothing and moves no position, wherever it comes', () => {
    const step = fc.record({
      push: fc.integer({ min: 0, max: 4000 }),
      playMs: fc.integer({ min: 0, max: 700 }),
      pauseMs: fc.option(fc.integer({ min: 40, max: 900 }), { nil: undefined }),
      pushInPause: fc.integer({ min: 0, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const { clock, player, pacer } = setUp();
        const all = ramp(steps.reduce((sum, each) => sum + each.push + each.pushInPause, 0));
        let at = 0;
        const push = (length: number) => {
          pacer.push(all.subarray(at, at + length));
          at += length;
        };
        for (const each of steps) {
          push(each.push);
          clock.advance(each.playMs);
          if (each.pauseMs === undefined) {
            push(each.pushInPause);
            continue;
          }
          const { pushedMs } = pacer;
          pacer.pause();
          pacer.pause();
          expect(player.aheadMs).toBe(0);
          expect(pacer.pushedMs).toBeCloseTo(pushedMs, 3);
          const { playedMs } = pacer;
          push(each.pushInPause);
          clock.advance(each.pauseMs);
          expect(pacer.playedMs).toBe(playedMs);
          pacer.resume();
        }
        clock.advance(all.length / PER_MS + 2000);
        // A tail shorter than a frame is filled up with silence, which a ramp has once.
        expect(samples(player.heard()).filter((sample) => sample !== 0)).toEqual(
          [...all].filter((sample) => sample !== 0),
        );
        expect(pacer.playedMs).toBeCloseTo(pacer.pushedMs, 3);
      }),
      { numRuns: runs(30, 100) },
    );
  });

  it('loses no part of a sample, wherever in one it comes behind a mark that was late', () => {
    const times = fc.record({
      startMs: fc.double({ min: 0, max: 1, noNaN: true }),
      echoMs: fc.double({ min: 100, max: 160, noNaN: true }),
      pauseMs: fc.double({ min: 0, max: 60, noNaN: true }),
    });
    fc.assert(
      fc.property(times, ({ startMs, echoMs, pauseMs }) => {
        const { clock, pacer } = setUp({ marks: false });
        clock.advance(startMs);
        pacer.push(ms(20));
        pacer.mark('first');
        pacer.push(ms(2000));
        clock.advance(echoMs);
        pacer.markEchoed('first');
        clock.advance(pauseMs);
        pacer.pause();
        clock.advance(150);
        pacer.resume();
        clock.advance(5000);
        expect(pacer.playedMs).toBeCloseTo(2020, 3);
      }),
      { numRuns: runs(100, 300) },
    );
  });

  it('is kept where it comes from whoever hears that a frame was sent', () => {
    const { clock, player, pacer } = setUp();
    pacer.onNextFrameSent(() => pacer.pause());
    pacer.push(ms(1000));
    clock.advance(500);
    expect(player.sent).toHaveLength(1);
    pacer.resume();
    clock.advance(2000);
    expect(pacer.playedMs).toBe(1000);
  });

  it('keeps the marks that were not heard, which come back when they are', () => {
    const { clock, player, pacer, echoed } = setUp();
    pacer.push(ms(100));
    pacer.mark('first');
    pacer.push(ms(300));
    pacer.mark('second');
    clock.advance(50);
    pacer.pause();
    clock.advance(1000);
    expect(echoed).toEqual([]);
    pacer.resume();
    clock.advance(1000);
    expect(echoed).toEqual(['first', 'second']);
    expect(player.clears).toBe(1);
  });

  it('is over sooner than the echoes of the marks that it took back have come, which tell of no playing', () => {
    const { clock, pacer, echoed } = setUp({ leadMs: 400, delayMs: 100 });
    pacer.push(ms(300));
    pacer.mark('end');
    clock.advance(50);
    for (const _ of [1, 2]) {
      pacer.pause();
      clock.advance(20);
      pacer.resume();
    }
    clock.advance(200);
    expect(echoed).toEqual([]);
    expect(pacer.playedMs).toBeLessThan(300);
    clock.advance(200);
    expect(echoed).toEqual(['end']);
  });

  it('ends with a clear, which drops what waited and needs no second word to the carrier', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(1000));
    clock.advance(300);
    pacer.pause();
    expect(pacer.clear()).toBe(300);
    pacer.resume();
    clock.advance(1000);
    expect(player.clears).toBe(1);
    expect(pacer.pushedMs).toBe(300);
    pacer.push(ms(100));
    clock.advance(200);
    expect(pacer.playedMs).toBe(400);
  });

  it('ends with the way to the carrier', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(ms(1000));
    clock.advance(300);
    pacer.pause();
    pacer.detach();
    pacer.resume();
    clock.advance(500);
    expect(player.aheadMs).toBe(0);
    expect(pacer.pushedMs).toBe(300);
    pacer.close();
    pacer.pause();
    expect(clock.pending).toBe(0);
  });

  it('is none where there is no way to the carrier', () => {
    const { clock, pacer } = setUp();
    pacer.detach();
    pacer.pause();
    const way = setUp();
    pacer.attach({ sink: way.player, converter: way.converter });
    pacer.push(ms(100));
    clock.advance(100);
    expect(pacer.playedMs).toBe(100);
  });

  it('has the meters hear of what waits again', () => {
    const { meters, queuedMs } = createMeters();
    const { clock, pacer } = setUp({ meters });
    pacer.push(ms(300));
    clock.advance(60);
    pacer.pause();
    expect(queuedMs()).toBe(240);
    pacer.resume();
    clock.advance(300);
    expect(queuedMs()).toBe(0);
  });

  it('says nothing to the carrier once it is closed', () => {
    const { player, pacer } = setUp();
    pacer.push(ms(100));
    pacer.close();
    pacer.pause();
    expect(player.clears).toBe(0);
  });

  it('takes back one echo of a mark: the next one counts, also when it comes a little early', () => {
    const { clock, pacer } = setUp({ marks: false });
    pacer.push(ms(100));
    pacer.mark('end');
    clock.advance(20);
    pacer.pause();
    expect(pacer.markEchoed('end')).toBe(false);
    pacer.resume();
    clock.advance(75);
    expect(pacer.markEchoed('end')).toBe(true);
  });

  it('is followed by what it took back as if that had never been sent', () => {
    const { player, pacer } = setUp({ format: MULAW_8K });
    pacer.push(new Int16Array(3200).fill(20_000));
    const [first] = player.sent;
    pacer.pause();
    const before = player.sent.length;
    pacer.resume();
    expect(player.sent[before]?.bytes).toEqual(first?.bytes);
  });
});
