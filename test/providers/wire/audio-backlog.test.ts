import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioBacklog } from '../../../src/providers/wire/audio-backlog.js';

/** Samples count up, so that each names its position. */
function frame(from: number, length: number): Int16Array {
  return Int16Array.from({ length }, (_, index) => from + index);
}

function takeAll(backlog: AudioBacklog): number[] {
  const samples: number[] = [];
  while (backlog.waiting > 0) samples.push(...backlog.take(50));
  return samples;
}

describe('AudioBacklog', () => {
  it('gives samples once, in order, copied', () => {
    const backlog = new AudioBacklog(10);
    const pcm = frame(0, 60);
    backlog.push(pcm);
    pcm.fill(-1);
    expect([...backlog.take(40)]).toEqual([...frame(0, 40)]);
    backlog.push(frame(60, 40));
    expect(takeAll(backlog)).toEqual([...frame(40, 60)]);
    expect(backlog).toMatchObject({ next: 100, waiting: 0, dropped: 0 });
    expect(backlog.take(10)).toHaveLength(0);
  });

  it('drops the oldest that nobody took, and counts them', () => {
    const backlog = new AudioBacklog(10);
    for (let at = 0; at < 400; at += 40) backlog.push(frame(at, 40));
    expect(backlog).toMatchObject({ waiting: 160, dropped: 240, next: 240 });
    expect(takeAll(backlog)).toEqual([...frame(240, 160)]);
  });

  it('says how many it has dropped since it was asked', () => {
    const backlog = new AudioBacklog(10);
    expect(backlog.takeDropped()).toBe(0);
    for (const dropped of [40, 80]) {
      backlog.push(frame(0, 160 + dropped - backlog.waiting));
      expect([backlog.takeDropped(), backlog.takeDropped()]).toEqual([dropped, 0]);
    }
  });

  it('plays again from a position, or from the oldest that is left', () => {
    const backlog = new AudioBacklog(10);
    for (let at = 0; at < 320; at += 40) backlog.push(frame(at, 40));
    takeAll(backlog);
    backlog.rewindTo(300);
    expect(takeAll(backlog)).toEqual([...frame(300, 20)]);
    backlog.rewindTo(0);
    expect(takeAll(backlog)).toEqual([...frame(160, 160)]);
    backlog.rewindTo(9999);
    expect(backlog.waiting).toBe(0);
  });

  it('keeps the newest only when told to', () => {
    const backlog = new AudioBacklog(10);
    backlog.push(frame(0, 160));
    backlog.keepNewest(5);
    expect(backlog).toMatchObject({ waiting: 80, dropped: 80 });
    expect(backlog.take(1)[0]).toBe(80);
  });

  it('never gives a sample twice or out of order, whatever the sizes', () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 250 }), fc.integer({ min: 0, max: 250 }));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const backlog = new AudioBacklog(10);
        let pushed = 0;
        let last = -1;
        for (const [push, take] of steps) {
          backlog.push(frame(pushed, push));
          pushed += push;
          const taken = [...backlog.take(take)];
          const from = taken[0] ?? last + 1;
          expect(from).toBeGreaterThan(last);
          expect(taken).toEqual([...frame(from, taken.length)]);
          last = taken.at(-1) ?? last;
          expect(backlog.waiting).toBeLessThanOrEqual(160);
          expect(backlog.next + backlog.waiting).toBe(pushed);
        }
      }),
    );
  });
});
