import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EnvelopeMeter, type EnvelopePicture } from '../../src/audio/envelope.js';

const FRAME_SAMPLES = 320;

/** A frame that swings between two values. */
function swing(least: number, greatest: number): Int16Array {
  return Int16Array.from({ length: FRAME_SAMPLES }, (_, index) => (index % 2 === 0 ? least : greatest));
}

function buckets(picture: EnvelopePicture, side: 'caller' | 'agent'): [number, number][] {
  const bytes = new Int8Array(Buffer.from(picture[side], 'base64'));
  return Array.from({ length: bytes.length / 2 }, (_, index) => [
    bytes[2 * index] ?? 0,
    bytes[2 * index + 1] ?? 0,
  ]);
}

describe('EnvelopeMeter', () => {
  it('is empty until either side has sounded, and sees a peak that one sample is', () => {
    const [caller, agent] = [new EnvelopeMeter(), new EnvelopeMeter()];
    expect([caller.isEmpty, agent.isEmpty]).toEqual([true, true]);
    caller.hear(Int16Array.of(-3000, 0, 0, 0), 0);
    agent.speak(Int16Array.of(0, 0, 0, 3000), 0);
    expect([caller.isEmpty, agent.isEmpty]).toEqual([false, false]);
    expect(buckets(caller.picture(), 'caller')).toEqual([[-12, 0]]);
    expect(buckets(agent.picture(), 'agent')).toEqual([[0, 11]]);
  });

  it('keeps the least and the greatest sample of each 20 ms, silence between frames included', () => {
    const meter = new EnvelopeMeter();
    meter.speak(swing(-32768, 32767), 0);
    meter.speak(swing(-9000, 9000), 20);
    meter.speak(swing(-256, 512), 30);
    meter.speak(swing(-256, 512), 60);
    const picture = meter.picture();
    expect(picture.bucketMs).toBe(20);
    expect(buckets(picture, 'agent')).toEqual([
      [-128, 127],
      [-36, 35],
      [0, 0],
      [-1, 2],
    ]);
    expect(picture.caller).toBe('');
  });

  it('spreads out what the network delivers in bunches, and believes in a real gap', () => {
    const meter = new EnvelopeMeter();
    for (let frame = 0; frame < 5; frame += 1) meter.hear(swing(-3000, 3000), 100);
    for (let frame = 0; frame < 5; frame += 1) meter.hear(swing(-3000, 3000), 200);
    meter.hear(swing(-6000, 6000), 1000);
    const loud = buckets(meter.picture(), 'caller').flatMap(([least], bucket) => (least < 0 ? [bucket] : []));
    expect(loud).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50]);
  });

  it('forgets what the agent would have said after it was cut off', () => {
    const meter = new EnvelopeMeter();
    for (let at = 0; at < 400; at += 20) meter.speak(swing(-9000, 9000), at);
    meter.markHeard(99.6);
    meter.cut(210);
    expect(buckets(meter.picture(), 'agent')).toHaveLength(11);
    expect(meter.picture()).toMatchObject({ marksMs: [100], clearsMs: [210] });
    meter.speak(swing(-9000, 9000), 300);
    expect(buckets(meter.picture(), 'agent').slice(10)).toEqual([
      [-36, 35],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [-36, 35],
    ]);
  });

  it('has at most 2,000 buckets a side, however long the call, and loses no peak', () => {
    const peak = fc.record({
      atMs: fc.integer({ min: 0, max: 3_600_000 }),
      value: fc.integer({ min: 256, max: 32767 }),
    });
    fc.assert(
      fc.property(fc.array(peak, { minLength: 1, maxLength: 40 }), (peaks) => {
        const meter = new EnvelopeMeter();
        for (const { atMs, value } of peaks) meter.speak(swing(-value, value), atMs);
        const picture = meter.picture();
        const seen = buckets(picture, 'agent');
        expect(seen.length).toBeLessThanOrEqual(2000);
        for (const { atMs, value } of peaks) {
          const [least, greatest] = seen[Math.floor(atMs / picture.bucketMs)] ?? [0, 0];
          expect(least).toBeLessThanOrEqual(-value >> 8);
          expect(greatest).toBeGreaterThanOrEqual(value >> 8);
        }
      }),
    );
  });

  it('has no bucket behind what has sounded when two become one', () => {
    const meter = new EnvelopeMeter();
    meter.speak(swing(-9000, 9000), 2000 * 20 - 20);
    for (const at of [0, 20, 40]) meter.hear(swing(-9000, 9000), at);
    meter.speak(swing(-9000, 9000), 2000 * 20);
    const picture = meter.picture();
    expect(picture.bucketMs).toBe(40);
    expect([buckets(picture, 'agent').length, buckets(picture, 'caller').length]).toEqual([1001, 2]);
  });

  it('bounds its ticks, and takes no time that is none', () => {
    const meter = new EnvelopeMeter();
    for (let index = 0; index < 1000; index += 1) {
      meter.markHeard(index);
      meter.cut(index);
    }
    meter.speak(swing(-9000, 9000), -5);
    meter.speak(swing(-9000, 9000), Number.NaN);
    const picture = meter.picture();
    expect([picture.marksMs.length, picture.clearsMs.length, picture.agent]).toEqual([500, 500, '']);
  });
});
