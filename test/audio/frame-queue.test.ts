import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Audio } from '../../src/audio/format.js';
import { FrameQueue } from '../../src/audio/frame-queue.js';
import { runs } from '../support/depth.js';

const SILENT_BYTE = 0xff;

/** Audio that is nowhere silent, and nowhere the same. */
const samples = (length: number) => Int16Array.from({ length }, (_, index) => index + 1);
const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => (index % 250) + 1);

function takeAll(queue: FrameQueue): { audio: number[]; contentMs: number }[] {
  const frames: { audio: number[]; contentMs: number }[] = [];
  for (let frame = queue.take(SILENT_BYTE); frame !== undefined; frame = queue.take(SILENT_BYTE))
    frames.push({ audio: [...frame.audio], contentMs: frame.contentMs });
  return frames;
}

function filled(audio: Audio, length: number, silence: number): number[] {
  return Array.from({ length }, (_, index) => audio[index] ?? silence);
}

describe('FrameQueue', () => {
  it('has nothing to give at first', () => {
    const queue = new FrameQueue();
    expect([queue.queuedMs, queue.hasWhole, queue.take()]).toEqual([0, false, undefined]);
  });

  it.each([
    ['samples', samples, 16, 0],
    ['bytes', bytes, 8, SILENT_BYTE],
  ] as const)('gives %s in frames of 20 ms, whatever pieces they came in', (_, make, perMs, silence) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        const queue = new FrameQueue();
        const all = make(sizes.reduce((sum, size) => sum + size, 0));
        let at = 0;
        for (const size of sizes) {
          expect(queue.push(all.subarray(at, at + size))).toBe(size / perMs);
          at += size;
        }
        expect(queue.queuedMs).toBe(all.length / perMs);
        const frames = takeAll(queue);
        const length = frames.length * 20 * perMs;
        expect(frames.flatMap(({ audio }) => audio)).toEqual(filled(all, length, silence));
        expect(length - all.length).toBeLessThan(20 * perMs);
        expect(frames.reduce((sum, { contentMs }) => sum + contentMs, 0)).toBe(all.length / perMs);
        expect(queue.queuedMs).toBe(0);
      }),
      { numRuns: runs(30, 100) },
    );
  });

  it('has no frame of both kinds: what comes before the other kind is filled up', () => {
    const queue = new FrameQueue();
    queue.push(samples(100));
    expect(queue.hasWhole).toBe(false);
    queue.push(bytes(40));
    expect(queue.hasWhole).toBe(true);
    queue.push(bytes(170).subarray(40));
    queue.push(samples(320));
    expect(takeAll(queue)).toEqual([
      { audio: filled(samples(100), 320, 0), contentMs: 6.25 },
      { audio: [...bytes(160)], contentMs: 20 },
      { audio: filled(bytes(170).subarray(160), 160, SILENT_BYTE), contentMs: 1.25 },
      { audio: [...samples(320)], contentMs: 20 },
    ]);
  });

  it('forgets everything, half a piece too', () => {
    const queue = new FrameQueue();
    queue.push(samples(400));
    queue.take();
    queue.clear();
    expect([queue.queuedMs, queue.hasWhole, queue.take()]).toEqual([0, false, undefined]);
    queue.push(samples(320));
    expect([queue.takeBack(20), queue.queuedMs]).toEqual([0, 20]);
    queue.clear();
    queue.push(samples(320));
    expect(takeAll(queue)).toEqual([{ audio: [...samples(320)], contentMs: 20 }]);
  });

  it('gives once more what was taken back, of both kinds, and in front of what waits', () => {
    const queue = new FrameQueue();
    for (const audio of [samples(640), bytes(240), samples(320)]) queue.push(audio);
    takeAll(queue);
    queue.push(bytes(160));
    queue.keep(60);
    // The last 60 ms: 10 of samples, 30 of bytes, 20 of samples.
    expect([queue.takeBack(100), queue.queuedMs]).toEqual([60, 80]);
    expect(takeAll(queue)).toEqual([
      { audio: filled(samples(640).subarray(480), 320, 0), contentMs: 10 },
      { audio: [...bytes(160)], contentMs: 20 },
      { audio: filled(bytes(240).subarray(160), 160, SILENT_BYTE), contentMs: 10 },
      { audio: [...samples(320)], contentMs: 20 },
      { audio: [...bytes(160)], contentMs: 20 },
    ]);
  });

  it('gives back the memory of a long piece when nothing of it waits any more', () => {
    const queue = new FrameQueue();
    // Frames lie where all that is kept does.
    const memory = () => queue.take()?.audio.buffer.byteLength;
    queue.push(samples(320));
    const ofNew = memory();
    queue.push(samples(16 * 60_000));
    expect(memory()).toBeGreaterThanOrEqual(2 * 16 * 60_000);
    queue.push(samples(320));
    expect(memory()).toBeGreaterThanOrEqual(2 * 16 * 60_000);
    takeAll(queue);
    queue.keep(0);
    queue.push(samples(320));
    expect(memory()).toBe(ofNew);
  });

  it('gives back memory while a long piece is played', () => {
    const queue = new FrameQueue();
    const memory = () => queue.take()?.audio.buffer.byteLength ?? Number.NaN;
    queue.push(samples(16 * 60_000));
    const ofAll = memory();
    while (queue.queuedMs > 1000) {
      queue.take();
      queue.keep(400);
    }
    expect(memory()).toBeLessThanOrEqual(ofAll / 16);
  });

  it('has the same to give however much is kept meanwhile, and however its memory has grown', () => {
    const step = fc.record({
      push: fc.integer({ min: 0, max: 9000 }),
      take: fc.integer({ min: 0, max: 40 }),
      keepMs: fc.integer({ min: 0, max: 900 }),
      back: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 30 }), (ofPcm, steps) => {
        const queue = new FrameQueue();
        const [frame, perMs] = ofPcm ? [320, 16] : [160, 8];
        const unit = (index: number) => (index % 241) + 1;
        let [pushed, taken, kept] = [0, 0, 0];
        for (const { push, take, keepMs, back } of steps) {
          const units = Array.from({ length: push }, (_, index) => unit(pushed + index));
          queue.push(ofPcm ? Int16Array.from(units) : Uint8Array.from(units));
          pushed += push;
          for (let count = 0; count < take && taken < pushed; count += 1) {
            const length = Math.min(frame, pushed - taken);
            const expected = Array.from({ length }, (_, index) => unit(taken + index));
            expect([...(queue.take()?.audio ?? [])].slice(0, length)).toEqual(expected);
            taken += length;
          }
          kept = Math.max(kept, taken - keepMs * perMs);
          queue.keep(keepMs);
          if (back) {
            expect(queue.takeBack(1e9)).toBeCloseTo((taken - kept) / perMs, 6);
            taken = kept;
          }
          expect(queue.queuedMs).toBeCloseTo((pushed - taken) / perMs, 6);
        }
      }),
      { numRuns: runs(30, 100) },
    );
  });
});
