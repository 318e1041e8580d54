import { describe, expect, it } from 'vitest';
import type { AudioEnvelope } from '../../../../src/contract/call-record.js';
import { condense, outlinePath, shapeOf } from '../../../../src/dashboard/ui/state/envelope.js';
import { rowsInSight } from '../../../../src/dashboard/ui/state/row-window.js';

const envelope = (caller: string, agent: string): AudioEnvelope => ({
  startedAt: 0,
  bucketMs: 40,
  caller,
  agent,
  marksMs: [],
  clearsMs: [],
});

describe('the shape of an envelope', () => {
  it('is read from signed bytes, as long as the longer side', () => {
    const bytes = Buffer.from(Int8Array.from([-128, 127, -64, 64]).buffer).toString('base64');
    const shape = shapeOf(envelope(bytes, ''));
    expect(shape).toEqual({
      caller: [
        [-1, 127 / 128],
        [-0.5, 0.5],
      ],
      agent: [],
      lengthMs: 80,
    });
    expect(shapeOf(envelope('not base64!', ''))).toBeNull();
  });

  it('loses no peak when it is made shorter', () => {
    const outline = Array.from(
      { length: 1000 },
      (_, index) => [index === 777 ? -1 : 0, index === 3 ? 1 : 0] as const,
    );
    const short = condense(outline, 100);
    expect(short).toHaveLength(100);
    expect([short[0]?.[1], short[77]?.[0]]).toEqual([1, -1]);
    expect(condense(outline.slice(0, 5), 100)).toHaveLength(5);
  });

  it('is drawn around its middle', () => {
    const path = outlinePath(
      [
        [-1, 1],
        [0, 0],
      ],
      { middle: 10, half: 10, width: 20 },
    );
    expect(path).toBe('M0.0 0.0L10.0 10.0L10.0 10.0L0.0 20.0Z');
    expect(outlinePath([], { middle: 10, half: 10, width: 20 })).toBe('');
  });
});

describe('the rows in sight', () => {
  it.each([
    ['at the top', { top: 300, sight: 800, count: 500 }, { first: 0, end: 22 }],
    ['in the middle', { top: -10_000, sight: 800, count: 500 }, { first: 188, end: 228 }],
    ['at the end', { top: -24_500, sight: 800, count: 500 }, { first: 478, end: 500 }],
    ['below the page', { top: 5000, sight: 800, count: 500 }, { first: 0, end: 12 }],
    ['above the page', { top: -30_000, sight: 800, count: 500 }, { first: 488, end: 500 }],
    ['of an empty list', { top: 0, sight: 800, count: 0 }, { first: 0, end: 0 }],
  ])('%s', (_, place, rows) => {
    expect(rowsInSight({ ...place, height: 50 })).toEqual(rows);
  });
});
