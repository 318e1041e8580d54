import { describe, expect, it } from 'vitest';
import { OverriddenEnds } from '../../../src/client/cluster/overridden-ends.js';
import type { CallPlace } from '../../../src/client/cluster/requests.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { FakeClock } from '../../support/fake-clock.js';

const fact = (term: number, type: CallEvent['type'] = 'turn.started', nodeId = 'there') =>
  ({ callId: 'call', nodeId, term, seq: 12, type }) as CallEvent;

/** The other node has the call as `places` tells; null: it does not answer. */
function open(places: { now: CallPlace['state'] | 'nowhere' | null; at?: string }, hasEnded = true) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const inTouch = { is: true };
  const restated: number[] = [];
  const ends = new OverriddenEnds({
    clock,
    whoHas: async ([callId = '']) => {
      asked.push(clock.now());
      const { now } = places;
      const others = ['there', 'third', 'fourth'].filter(
        (nodeId) => nodeId !== (now === null ? 'there' : ''),
      );
      return others.map((nodeId) => {
        const isThere = nodeId === (places.at ?? 'there') && now !== null && now !== 'nowhere';
        return [nodeId, isThere ? [{ callId, state: now, term: 3 }] : []] as const;
      });
    },
    isInTouch: () => inTouch.is,
    hasEnded: () => hasEnded,
    restate: (_, term) => restated.push(term),
  });
  return { clock, ends, asked, restated, inTouch };
}

describe('the end of a call that facts of another node undo', () => {
  it.each(['nowhere', 'ended'] as const)(
    'is told again in a higher term, once it is %s there',
    async (now) => {
      const { clock, ends, restated } = open({ now });
      ends.heard(fact(5));
      await clock.advanceAsync(500);
      expect(restated).toEqual([]);
      await clock.advanceAsync(1000);
      expect(restated).toEqual([5]);
      await clock.advanceAsync(120_000);
      expect(restated).toEqual([5]);
      expect(clock.pending).toBe(0);
    },
  );

  it('is left to the node that goes on with the call, until it lets it go', async () => {
    const places: Parameters<typeof open>[0] = { now: 'live' };
    const { clock, ends, restated } = open(places);
    ends.heard(fact(3));
    await clock.advanceAsync(20_000);
    places.now = null;
    await clock.advanceAsync(10_000);
    expect(restated).toEqual([]);
    ends.heard(fact(7));
    places.now = 'nowhere';
    await clock.advanceAsync(3000);
    expect(restated).toEqual([7]);
  });

  it('is not told again where another one is heard', async () => {
    const { clock, ends, restated } = open({ now: 'ended' });
    ends.heard(fact(3));
    await clock.advanceAsync(500);
    ends.heard(fact(3, 'call.ended'));
    await clock.advanceAsync(60_000);
    expect(restated).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('is asked anew where yet another node has stated something', async () => {
    const { clock, ends, restated } = open({ now: 'nowhere' });
    ends.heard(fact(3));
    await clock.advanceAsync(500);
    ends.heard(fact(4, 'turn.started', 'third'));
    await clock.advanceAsync(1000);
    expect(restated).toEqual([]);
    await clock.advanceAsync(1000);
    expect(restated).toEqual([4]);
  });

  it('is left to a node that has the call by now and has not said so', async () => {
    const { clock, ends, restated } = open({ now: 'live', at: 'fourth' });
    ends.heard(fact(3));
    await clock.advanceAsync(30_000);
    expect(restated).toEqual([]);
  });

  it('is not told again before it can be heard whether the other one has told its own', async () => {
    const { clock, ends, restated, inTouch } = open({ now: 'ended' });
    inTouch.is = false;
    ends.heard(fact(3));
    await clock.advanceAsync(20_000);
    expect(restated).toEqual([]);
    inTouch.is = true;
    await clock.advanceAsync(3000);
    expect(restated).toEqual([3]);
  });

  it('stands beside what may come after an end, and where the call has not ended here', async () => {
    const known = open({ now: 'nowhere' });
    known.ends.heard(fact(3, 'cost.updated'));
    const unknown = open({ now: 'nowhere' }, false);
    unknown.ends.heard(fact(3));
    await known.clock.advanceAsync(60_000);
    await unknown.clock.advanceAsync(60_000);
    expect([known.asked, unknown.asked]).toEqual([[], []]);
  });

  it('is given up after a minute in which nobody tells, and once this node is closed', async () => {
    const { clock, ends, asked, restated } = open({ now: null });
    ends.heard(fact(3));
    await clock.advanceAsync(61_000);
    const { length } = asked;
    await clock.advanceAsync(60_000);
    expect([asked.length, restated.length, clock.pending]).toEqual([length, 0, 0]);
    const closed = open({ now: 'nowhere' });
    closed.ends.heard(fact(3));
    closed.ends.close();
    await closed.clock.advanceAsync(5000);
    expect(closed.restated).toEqual([]);
  });
});
