import { describe, expect, it } from 'vitest';
import type { NodeStanding } from '../../../src/client/cluster/requests.js';
import { RoomFinder } from '../../../src/client/cluster/room-finder.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const TAKES: NodeStanding = { isDraining: false, want: null, calls: 0, streamHost: null };

/** Node `here`, and others that say this of themselves and take so many calls; undefined for one that does not answer. */
async function setUp(others: Readonly<Record<string, (NodeStanding & { room: number }) | undefined>>) {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const asked: string[] = [];
  const coordinator = cluster.node({ nodeId: 'here', address: 'http://here.test' });
  await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
  for (const [nodeId, standing] of Object.entries(others)) {
    let room = standing?.room ?? 0;
    const answer = async ({ type, callId }: { type: string; callId: string | null }) => {
      asked.push(type === 'standing' ? `${nodeId}?` : `${nodeId}: ${callId}`);
      if (standing === undefined) return new Promise<string>(() => {});
      if (type === 'standing') return JSON.stringify(standing);
      room -= 1;
      return JSON.stringify({ isTaken: room >= 0 });
    };
    await cluster
      .node({ nodeId, address: `http://${nodeId}.test` })
      .join({ answer, outranked() {}, emptied() {} });
  }
  const rooms = new RoomFinder({ coordinator, clock, logger: new RecordedLogger() });
  const find = async (callId: string) => {
    const found = rooms.find(callId);
    await clock.advanceAsync(100);
    return found;
  };
  return { clock, asked, find };
}

describe('room for a call at another node', () => {
  it('is where it can be named to the carrier, and there are fewer calls', async () => {
    const { asked, find } = await setUp({
      a: { ...TAKES, calls: 0, room: 9 },
      b: { ...TAKES, calls: 6, streamHost: 'b.test', room: 9 },
      c: { ...TAKES, calls: 5, streamHost: 'c.test', room: 9 },
    });
    const found = [await find('1'), await find('2'), await find('3')];
    // Each was one more call there.
    expect(found.map((room) => room?.streamHost)).toEqual(['c.test', 'b.test', 'c.test']);
    expect(asked.filter((each) => each.endsWith('?'))).toEqual(['a?', 'b?', 'c?']);
  });

  it('is anywhere that takes the call where none has a host', async () => {
    const { find } = await setUp({ a: { ...TAKES, room: 1 } });
    expect(await find('1')).toEqual({ streamHost: undefined });
  });

  it('is at the next one where one has filled up meanwhile, which is not asked again before a second has passed', async () => {
    const { clock, asked, find } = await setUp({
      a: { ...TAKES, calls: 1, streamHost: 'a.test', room: 0 },
      b: { ...TAKES, calls: 2, streamHost: 'b.test', room: 2 },
    });
    expect(await find('1')).toEqual({ streamHost: 'b.test' });
    expect(await find('2')).toEqual({ streamHost: 'b.test' });
    expect(asked.slice(2)).toEqual(['a: 1', 'b: 1', 'b: 2']);
    expect(await find('3')).toBeUndefined();
    clock.advance(1000);
    expect(await find('4')).toBeUndefined();
    expect(asked.slice(-4)).toEqual(['a?', 'b?', 'a: 4', 'b: 4']);
  });

  it('is nowhere where nobody takes calls, or answers in time', async () => {
    const { asked, find } = await setUp({
      a: { ...TAKES, want: 'overloaded', room: 1 },
      b: { ...TAKES, isDraining: true, want: 'draining', room: 1 },
      c: undefined,
    });
    expect(await find('1')).toBeUndefined();
    expect(asked).toEqual(['a?', 'b?', 'c?']);
  });
});
