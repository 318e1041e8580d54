import { describe, expect, it } from 'vitest';
import { Playhead } from '../../../../src/dashboard/ui/state/playhead.js';

function headAt(ms: number | null) {
  const chosen: number[] = [];
  const played: number[] = [];
  const head = new Playhead(ms, (at) => chosen.push(at));
  head.moves((at) => played.push(at));
  return { head, chosen, played };
}

describe('the place in a call', () => {
  it('is brought back from behind the end as soon as that is known', () => {
    const { head, chosen, played } = headAt(99_999_000);
    head.bound(26_400);
    expect([head.ms, chosen, played]).toEqual([26_400, [26_400], [26_400]]);
    head.bound(26_400);
    expect(chosen).toHaveLength(1);
  });

  it('is never behind the end after that', () => {
    const { head, chosen, played } = headAt(null);
    head.bound(26_400);
    expect([head.ms, chosen]).toEqual([null, []]);
    head.jump(99_999_000);
    expect([head.ms, chosen, played]).toEqual([26_400, [26_400], [26_400]]);
    head.move(27_000);
    expect(head.ms).toBe(26_400);
    head.stop(27_000);
    expect(chosen).toEqual([26_400, 26_400]);
  });

  it('is anywhere while nobody knows where the end is', () => {
    const { head } = headAt(5000);
    head.jump(99_000);
    expect(head.ms).toBe(99_000);
    head.jump(-5);
    expect(head.ms).toBe(0);
  });
});
