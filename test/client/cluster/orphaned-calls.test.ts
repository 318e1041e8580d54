import { describe, expect, it } from 'vitest';
import { OrphanedCalls } from '../../../src/client/cluster/orphaned-calls.js';
import { MemoryCluster } from '../../../src/cluster/memory-cluster.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

interface Ended {
  readonly callId: string;
  readonly nodeId: string;
  readonly isPending?: boolean;
}

interface Rig {
  /** Calls that are over. */
  readonly ended?: readonly Ended[];
  readonly active?: readonly { readonly callId: string; readonly nodeId: string }[];
  readonly nodes?: readonly string[];
  /** Calls that this node has. @default all that it should have */
  readonly had?: readonly string[];
}

/** The node `here`, whose store has these calls. */
async function open({ ended = [], active = [], nodes = [], had }: Rig) {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const join = async (nodeId: string) => {
    const node = cluster.node({ nodeId, address: `http://${nodeId}.test` });
    await node.join({ answer: async () => '{"places":[]}', outranked() {}, emptied() {} });
    return node;
  };
  const coordinator = await join('here');
  const asked = new Map<string, number>();
  const send = coordinator.send.bind(coordinator);
  coordinator.send = (nodeId, ...rest) => {
    asked.set(nodeId, (asked.get(nodeId) ?? 0) + 1);
    return send(nodeId, ...rest);
  };
  const others = new Map<string, Awaited<ReturnType<typeof join>>>();
  for (const nodeId of nodes) others.set(nodeId, await join(nodeId));
  const heard = { hasHeardAll: coordinator.hasHeardAll };
  Object.defineProperty(coordinator, 'hasHeardAll', { get: () => heard.hasHeardAll });
  const pending = new Set(ended.filter(({ isPending = true }) => isPending).map(({ callId }) => callId));
  const listed: unknown[] = [];
  const taken: string[][] = [];
  /** Whether their nodes had answered, as far as that was known when they were to be taken, and when. */
  const answered: { readonly at: number; readonly isAlive: boolean | undefined }[] = [];
  /** How much was taken when it was said that a node is gone. */
  const gone: number[] = [];
  const abandoned: string[][] = [];
  const store = {
    active: async () => active,
    list: async (query: unknown) => {
      listed.push(query);
      return { calls: ended as unknown as CallRecord[], total: ended.length };
    },
  };
  const orphaned = new OrphanedCalls({
    nodeId: 'here',
    clock,
    logger: new RecordedLogger(),
    coordinator,
    store: () => store as never,
    hasPending: ({ callId }) => pending.has(callId),
    hasIt: async (callId) => had === undefined || had.includes(callId),
    isCurrent: () => true,
    takeOver: async (records, { isAlive }) => {
      taken.push(records.map(({ callId }) => callId));
      const is = await isAlive(records[0]?.nodeId ?? '');
      answered.push({ at: clock.now(), isAlive: is });
    },
    gone: async () => void gone.push(taken.length),
    abandoned: (records) => abandoned.push(records.map(({ callId }) => callId)),
  });
  const timesAsked = (nodeId: string) => asked.get(nodeId) ?? 0;
  return {
    clock,
    cluster,
    orphaned,
    others,
    heard,
    listed,
    taken,
    answered,
    gone,
    abandoned,
    asked: timesAsked,
  };
}

describe('calls that are up at nodes that are gone', () => {
  const active = ['here', 'there', 'gone'].map((nodeId) => ({ callId: `of ${nodeId}`, nodeId }));

  it('are taken over once that was seen twice', async () => {
    const { clock, orphaned, others, taken, gone } = await open({ active, nodes: ['there', 'gone'] });
    await clock.advanceAsync(3000);
    // Nobody knows which have gone before.
    expect(gone).toEqual([0]);
    await others.get('gone')?.close();
    await clock.advanceAsync(1000);
    expect(taken).toEqual([]);
    await clock.advanceAsync(1000);
    expect(taken).toEqual([['of gone']]);
    await clock.advanceAsync(3000);
    expect(gone).toEqual([0, 1]);
    orphaned.close();
  });

  it.each([
    ['does not answer', false],
    ['answers, and has only lost its lease', true],
  ])('are those of a node of which it is known by then whether it %s', async (_, isAlive) => {
    const { clock, cluster, orphaned, answered } = await open({ active, nodes: ['there', 'gone'] });
    await clock.advanceAsync(3000);
    const cutAt = clock.now();
    cluster.cut('gone', { reachesNodes: isAlive });
    await clock.advanceAsync(8000);
    expect(answered[0]).toEqual({ at: expect.any(Number), isAlive });
    // Its lease, a look, and a second in which it was asked.
    expect((answered[0]?.at ?? Number.NaN) - cutAt).toBeLessThanOrEqual(6500);
    orphaned.close();
  });

  it('have their node asked once, however many they are', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ callId: `call ${index}`, nodeId: 'gone' }));
    const { clock, cluster, orphaned, asked } = await open({ active: many, nodes: ['there', 'gone'] });
    await clock.advanceAsync(3000);
    cluster.cut('gone');
    await clock.advanceAsync(8000);
    // Within a second, a few times.
    expect(asked('gone')).toBeLessThan(20);
    orphaned.close();
  });

  it('are seen twice anew by who has lost touch in between, and their node is asked anew', async () => {
    const { clock, cluster, orphaned, heard, answered } = await open({
      active,
      nodes: ['there', 'gone'],
    });
    await clock.advanceAsync(3000);
    cluster.cut('gone');
    await clock.advanceAsync(5500);
    heard.hasHeardAll = false;
    await clock.advanceAsync(3000);
    // It answers again, without a lease.
    cluster.cut('gone', { reachesNodes: true });
    await clock.advanceAsync(60_000);
    expect(answered).toEqual([]);
    heard.hasHeardAll = true;
    await clock.advanceAsync(8000);
    expect(answered[0]).toMatchObject({ isAlive: true });
    orphaned.close();
  });

  it("are found to be nobody's once this node has not had one for ten seconds that it should have", async () => {
    const { clock, orphaned, abandoned, heard } = await open({ active, nodes: ['there', 'gone'], had: [] });
    await clock.advanceAsync(2000);
    heard.hasHeardAll = false;
    await clock.advanceAsync(20_000);
    heard.hasHeardAll = true;
    await clock.advanceAsync(10_000);
    expect(abandoned).toEqual([]);
    await clock.advanceAsync(2000);
    expect(abandoned).toEqual([['of here']]);
    await clock.advanceAsync(20_000);
    expect(abandoned).toEqual([['of here'], ['of here']]);
    orphaned.close();
  });

  it('may have been given to one that was cut off from the broker, and dies there', async () => {
    const { clock, cluster, orphaned, gone } = await open({ nodes: ['there'] });
    await clock.advanceAsync(3000);
    expect(gone).toHaveLength(1);
    cluster.cut('there', { reachesNodes: true });
    await clock.advanceAsync(8000);
    expect(gone).toHaveLength(2);
    await clock.advanceAsync(5000);
    expect(gone).toHaveLength(2);
    cluster.nodes.delete('there');
    await clock.advanceAsync(2000);
    expect(gone).toHaveLength(3);
    orphaned.close();
  });

  it('are left to the others by a node that hears nothing of them, and by one that is closed', async () => {
    const { clock, cluster, orphaned, taken } = await open({ active, nodes: ['there'] });
    cluster.cut('here');
    await clock.advanceAsync(5000);
    cluster.heal('here');
    orphaned.close();
    await clock.advanceAsync(5000);
    expect(taken).toEqual([]);
  });
});

describe('calls that are over, of nodes that are gone', () => {
  it('are taken on once where nobody has seen their nodes go, and not those of nodes that are there', async () => {
    const { clock, orphaned, listed, taken } = await open({
      nodes: ['there'],
      ended: [
        { callId: 'pending', nodeId: 'before' },
        { callId: 'done', nodeId: 'before', isPending: false },
        { callId: 'other', nodeId: 'there' },
        { callId: 'own', nodeId: 'here' },
      ],
    });
    await clock.advanceAsync(20_000);
    expect(taken).toEqual([['pending']]);
    // No longer looked for.
    expect(listed).toHaveLength(2);
    orphaned.close();
  });

  it('are left alone until everything was heard that the broker keeps', async () => {
    const { clock, orphaned, heard, taken } = await open({
      ended: [{ callId: 'pending', nodeId: 'before' }],
    });
    heard.hasHeardAll = false;
    await clock.advanceAsync(10_000);
    expect(taken).toEqual([]);
    heard.hasHeardAll = true;
    await clock.advanceAsync(3000);
    expect(taken).toEqual([['pending']]);
    orphaned.close();
  });

  it('are taken on when their node goes later', async () => {
    const { clock, orphaned, others, taken } = await open({
      nodes: ['there'],
      ended: [{ callId: 'pending', nodeId: 'there' }],
    });
    await clock.advanceAsync(10_000);
    expect(taken).toEqual([]);
    await others.get('there')?.close();
    await clock.advanceAsync(10_000);
    expect(taken).toEqual([['pending']]);
    orphaned.close();
  });
});
