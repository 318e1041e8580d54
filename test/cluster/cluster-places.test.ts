import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterPlaces, PLACE_MS, type PlacePool } from '../../src/cluster/cluster-places.js';
import { MemoryCluster } from '../../src/cluster/memory-cluster.js';
import { AwayCoordinator } from '../support/away-coordinator.js';
import { FakeClock } from '../support/fake-clock.js';

interface Node {
  readonly coordinator: AwayCoordinator;
  readonly places: ClusterPlaces;
  readonly pool: PlacePool;
  /** Calls that need their place no more here. */
  readonly left: Set<string>;
}

const NAMES = ['a', 'b', 'c'];

describe('ClusterPlaces', () => {
  let clock: FakeClock;
  let cluster: MemoryCluster;
  let nodes: Node[];

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new MemoryCluster(clock);
    nodes = [];
  });
  afterEach(() => {
    for (const { places } of nodes) places.close();
  });

  async function open(limit: number, names = NAMES): Promise<Node[]> {
    for (const nodeId of names) {
      const coordinator = new AwayCoordinator(cluster.node({ nodeId, address: `http://${nodeId}.test` }));
      await coordinator.join({ answer: async () => '', outranked() {}, emptied() {} });
      const places = new ClusterPlaces({ coordinator, clock });
      const left = new Set<string>();
      const pool = places.pool({ name: 'calls', limit, isWatched: true, holds: (id) => !left.has(id) });
      nodes.push({ coordinator, places, pool, left });
    }
    return nodes;
  }

  const taken = () => cluster.placesOf('calls').size;
  const away = (isAway: boolean) => {
    for (const { coordinator } of nodes) coordinator.isAway = isAway;
  };
  /** How many calls each node takes until it refuses one. */
  const takeAll = async (prefix: string) => {
    const counts = nodes.map(() => 0);
    for (const [index, { pool }] of nodes.entries())
      while (counts[index]! < 100 && (await pool.take(`${prefix}-${index}-${counts[index]}`)))
        counts[index]! += 1;
    return counts;
  };

  it('forgets a pool with its last place, also while the broker is away, unless it had said that some were taken', async () => {
    const [one] = await open(4, ['a']);
    const { places, coordinator } = one!;
    const [known, unknown] = ['known', 'unknown'].map((name) => () => places.pool({ name, limit: 4 }));
    expect(await known!().take('call')).toBe(true);
    away(true);
    for (const pool of [known!(), unknown!()]) {
      expect(await pool.take('other')).toBe(true);
      pool.giveBack('other');
    }
    const before = known!();
    before.giveBack('call');
    expect([known!(), coordinator.isThere]).toEqual([before, false]);
    const first = unknown!();
    expect(await first.take('call')).toBe(true);
    expect(unknown!()).toBe(first);
    first.giveBack('call');
    expect(unknown!()).not.toBe(first);
  });

  it('renews all places at the same moments, so that they leave the node together', async () => {
    const [one] = await open(4, ['a']);
    const { coordinator, pool } = one!;
    for (const id of ['one', 'other']) {
      await pool.take(id);
      await clock.advanceAsync(1300);
    }
    coordinator.asked.length = 0;
    const renewed: [number, number][] = [];
    while (clock.now() < 11_000) {
      await clock.advanceAsync(100);
      const count = coordinator.asked.splice(0).filter((asked) => asked.startsWith('take calls')).length;
      if (count > 0) renewed.push([clock.now(), count]);
    }
    expect(renewed).toEqual([
      [5000, 2],
      [10_000, 2],
    ]);
  });

  it('asks for a place in what is left of the time of its webhook, and anew where other nodes have taken that', async () => {
    const [one] = await open(4, ['a']);
    clock.advance(10_000);
    const since = clock.now();
    clock.advance(60);
    expect(await one?.pool.take('x', { since })).toBe(true);
    clock.advance(40);
    expect(await one?.pool.take('y', { since })).toBe(true);
    expect(await one?.pool.take('z')).toBe(true);
    expect(one?.coordinator.deadlines).toEqual([since + 100, undefined, undefined]);
  });

  it('lets three nodes at once take no more than the limit, and all of it', async () => {
    await open(4);
    const tries = nodes.flatMap(({ pool }, node) =>
      Array.from({ length: 4 }, (_, index) => pool.take(`call-${node}-${index}`)),
    );
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(4);
    expect(taken()).toBe(4);
  });

  it('has a place for the next call as soon as one is given back, and once', async () => {
    const [one, two] = await open(2);
    await one!.pool.take('x');
    await one!.pool.take('y');
    expect(await two!.pool.take('z')).toBe(false);
    one!.pool.giveBack('x');
    one!.pool.giveBack('x');
    expect(await two!.pool.take('z')).toBe(true);
    expect(await two!.pool.take('another')).toBe(false);
  });

  it('gives back nothing that it does not have', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    two!.pool.giveBack('x');
    expect(await two!.pool.take('y')).toBe(false);
  });

  it('a call that asks again has the place that it has, on every node', async () => {
    const [one, two] = await open(1);
    expect(await one!.pool.take('x')).toBe(true);
    expect(await one!.pool.take('x')).toBe(true);
    expect(await two!.pool.take('x')).toBe(true);
    expect(taken()).toBe(1);
  });

  it('keeps a place for as long as the call is up', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    await clock.advanceAsync(10 * PLACE_MS);
    expect(await two!.pool.take('y')).toBe(false);
  });

  it('frees the places of a node that dies, and not before their time', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    // It stops where it is.
    one!.coordinator.isAway = true;
    await clock.advanceAsync(PLACE_MS - 1);
    expect(await two!.pool.take('y')).toBe(false);
    await clock.advanceAsync(1);
    expect(await two!.pool.take('y')).toBe(true);
  });

  it('a call that moves keeps its one place, whichever node closes', async () => {
    const [one, two, three] = await open(1);
    await one!.pool.take('x');
    two!.pool.keep('x');
    one!.left.add('x');
    await clock.advanceAsync(PLACE_MS);
    expect(taken()).toBe(1);
    one!.places.close();
    await one!.coordinator.close();
    expect(await three!.pool.take('y')).toBe(false);
    two!.pool.giveBack('x');
    expect(await three!.pool.take('y')).toBe(true);
  });

  it('a call that moves as its node closes keeps its place', async () => {
    const [one, two, three] = await open(1);
    await one!.pool.take('x');
    two!.pool.keep('x');
    one!.left.add('x');
    one!.places.close();
    await one!.coordinator.close();
    expect(await three!.pool.take('y')).toBe(false);
  });

  it('an invitation that nobody follows lapses', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    one!.left.add('x');
    await clock.advanceAsync(PLACE_MS + 1000);
    expect(await two!.pool.take('y')).toBe(true);
  });

  it('a place that is given back before the broker has answered is free', async () => {
    const [one, two] = await open(1);
    one!.coordinator.hold();
    const asking = one!.pool.take('x');
    one!.pool.giveBack('x');
    one!.coordinator.answer();
    await asking;
    await clock.advanceAsync(0);
    expect(await two!.pool.take('y')).toBe(true);
  });

  it('a place that is given back while it is renewed is free', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    one!.coordinator.hold();
    await clock.advanceAsync(5000);
    one!.pool.giveBack('x');
    one!.coordinator.answer();
    await clock.advanceAsync(PLACE_MS);
    expect(await two!.pool.take('y')).toBe(true);
    expect(taken()).toBe(1);
  });

  it('a place that is handed on while it is renewed stays the one of the node that has it', async () => {
    const [one, two] = await open(1);
    await one!.pool.take('x');
    one!.coordinator.hold();
    await clock.advanceAsync(5000);
    two!.pool.keep('x');
    one!.pool.handOn('x');
    one!.coordinator.answer();
    await clock.advanceAsync(0);
    expect(taken()).toBe(1);
    await one!.coordinator.close();
    expect(taken()).toBe(1);
  });

  it('a broker that has lost everything knows the places again within five seconds', async () => {
    const [one, two] = await open(2);
    await one!.pool.take('x');
    await two!.pool.take('y');
    cluster.placesOf('calls').clear();
    await clock.advanceAsync(5000);
    expect(taken()).toBe(2);
    expect(await two!.pool.take('z')).toBe(false);
  });

  it('knows that all places are taken, also by others', async () => {
    const [one, two] = await open(1);
    expect(two!.pool.isFull).toBe(false);
    await one!.pool.take('x');
    expect(one!.pool.isFull).toBe(true);
    await clock.advanceAsync(1000);
    expect(two!.pool.isFull).toBe(true);
    one!.pool.giveBack('x');
    expect(one!.pool.isFull).toBe(false);
    await clock.advanceAsync(1000);
    expect(two!.pool.isFull).toBe(false);
  });

  describe('while the broker is away', () => {
    it.each([10, 9, 4, 1])(
      'nodes without a call share a limit of %i, and exceed it by less than one call each',
      async (limit) => {
        await open(limit);
        await clock.advanceAsync(1000);
        away(true);
        const counts = await takeAll('call');
        const total = counts.reduce((sum, count) => sum + count, 0);
        expect(total).toBeGreaterThanOrEqual(limit);
        expect(total).toBeLessThan(limit + nodes.length);
        expect(nodes.map(({ pool }) => pool.isFull)).toEqual([true, true, true]);
      },
    );

    it('what was free before it lost everything is shared, whatever it said before that was found', async () => {
      const [one, two, three] = await open(6);
      for (const call of ['v', 'w']) await one!.pool.take(call);
      for (const call of ['x', 'y']) await two!.pool.take(call);
      await three!.pool.take('z');
      await clock.advanceAsync(1000);
      cluster.placesOf('calls').clear();
      await clock.advanceAsync(1000);
      for (const { places } of nodes) places.tellAgain();
      away(true);
      expect(await takeAll('late')).toEqual([1, 1, 1]);
    });

    it('a node keeps what it has, and the rest is shared', async () => {
      const [one, two] = await open(10);
      for (let call = 0; call < 6; call += 1) await one!.pool.take(`early-${call}`);
      await two!.pool.take('another');
      await clock.advanceAsync(1000);
      away(true);
      expect(await takeAll('late')).toEqual([1, 1, 1]);
    });

    it('a full cluster takes no call but in place of one that ends, on the same node', async () => {
      const [one, two, three] = await open(2);
      await one!.pool.take('x');
      await two!.pool.take('y');
      await clock.advanceAsync(1000);
      away(true);
      expect(await takeAll('late')).toEqual([0, 0, 0]);
      one!.pool.giveBack('x');
      one!.pool.giveBack('x');
      expect(await three!.pool.take('z')).toBe(false);
      expect(await one!.pool.take('z')).toBe(true);
      expect(await one!.pool.take('another')).toBe(false);
    });

    it('calls that ask at once have no more places than those that ask one after another', async () => {
      const [one] = await open(3);
      await clock.advanceAsync(1000);
      one!.coordinator.hold();
      const tries = ['x', 'y', 'z'].map((id) => one!.pool.take(id));
      away(true);
      one!.coordinator.answer();
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    });

    it('a call that moves takes its part of the share along', async () => {
      const [one, two] = await open(2);
      await one!.pool.take('x');
      await one!.pool.take('y');
      await clock.advanceAsync(1000);
      away(true);
      two!.pool.keep('x');
      one!.left.add('x');
      await clock.advanceAsync(1000);
      expect(await takeAll('late')).toEqual([0, 0, 0]);
      two!.pool.giveBack('x');
      expect(await takeAll('late')).toEqual([0, 1, 0]);
    });

    it('a call that moves takes the share along that it has used up', async () => {
      const [one, two] = await open(3);
      await clock.advanceAsync(1000);
      away(true);
      expect(await one!.pool.take('x')).toBe(true);
      two!.pool.keep('x');
      one!.left.add('x');
      await clock.advanceAsync(1000);
      expect(await takeAll('late')).toEqual([0, 1, 1]);
    });

    it('a node that stood still has only what it has, until the broker answers it', async () => {
      const [one, two] = (await open(6, ['a', 'b'])) as [Node, Node];
      expect(await one.pool.take('x')).toBe(true);
      await clock.advanceAsync(1000);
      one.places.stoodStill();
      one.coordinator.isAway = true;
      expect(await takeAll('call')).toEqual([0, 5]);
      one.coordinator.isAway = false;
      two.pool.giveBack('call-1-0');
      await clock.advanceAsync(5000);
      expect(await one.pool.take('z')).toBe(true);
    });

    it('a node that stood still goes by its share where the broker was away before', async () => {
      const [one] = await open(6, ['a', 'b']);
      await clock.advanceAsync(1000);
      away(true);
      one!.places.stoodStill();
      expect(await takeAll('call')).toEqual([3, 3]);
    });

    it('a node that knows no other goes by the whole limit', async () => {
      await open(3, ['alone']);
      away(true);
      expect(await takeAll('call')).toEqual([3]);
    });
  });

  describe('once the broker is back', () => {
    it('it hears of every place at once, and there is room again when the limit has it', async () => {
      const [one, two] = await open(4);
      await clock.advanceAsync(1000);
      away(true);
      expect(await takeAll('call')).toEqual([2, 2, 2]);
      await clock.advanceAsync(10 * PLACE_MS);
      expect(taken()).toBe(0);
      away(false);
      await clock.advanceAsync(5000);
      // More than the limit, and so no further one.
      expect(taken()).toBe(6);
      expect(await one!.pool.take('z')).toBe(false);
      one!.pool.giveBack('call-0-0');
      one!.pool.giveBack('call-0-1');
      expect(await one!.pool.take('z')).toBe(false);
      two!.pool.giveBack('call-1-0');
      expect(await one!.pool.take('z')).toBe(true);
    });

    it.each(['away', 'emptied'])(
      'and empty, it is not believed before it was told every place: %s',
      async (how) => {
        const [one, two, three] = await open(2);
        await one!.pool.take('x');
        await two!.pool.take('y');
        await clock.advanceAsync(1000);
        if (how === 'away') {
          away(true);
          await clock.advanceAsync(2000);
          away(false);
        } else for (const { places } of nodes) places.tellAgain();
        cluster.placesOf('calls').clear();
        // It alone has found out.
        one!.coordinator.hold();
        two!.coordinator.hold();
        await clock.advanceAsync(1000);
        expect(taken()).toBe(0);
        expect(await three!.pool.take('z')).toBe(false);
        expect(three!.pool.isFull).toBe(true);
        one!.coordinator.answer();
        two!.coordinator.answer();
        await clock.advanceAsync(5000);
        expect(taken()).toBe(2);
        expect(await three!.pool.take('z')).toBe(false);
        one!.pool.giveBack('x');
        await clock.advanceAsync(1000);
        expect(await three!.pool.take('z')).toBe(true);
      },
    );

    it('what was given back meanwhile is free, and stays it', async () => {
      const [one, two] = await open(1);
      await one!.pool.take('x');
      away(true);
      one!.pool.giveBack('x');
      await clock.advanceAsync(1000);
      away(false);
      await clock.advanceAsync(PLACE_MS);
      expect(await two!.pool.take('y')).toBe(true);
    });

    it('twice', async () => {
      await open(3);
      await clock.advanceAsync(1000);
      for (const round of [1, 2]) {
        away(true);
        const counts = await takeAll(`round-${round}`);
        expect(counts, `round ${round}`).toEqual([1, 1, 1]);
        away(false);
        await clock.advanceAsync(5000);
        expect(taken()).toBe(3);
        for (const [index, { pool }] of nodes.entries()) pool.giveBack(`round-${round}-${index}-0`);
        await clock.advanceAsync(1000);
        expect(taken()).toBe(0);
      }
    });
  });

  it('a pool that is not watched is forgotten with its last place, and not while it is asked for one', async () => {
    const [one] = await open(1);
    const options = { name: 'streams 203.0.113.7', limit: 2 };
    const pool = one!.places.pool(options);
    await pool.take('x');
    one!.coordinator.hold();
    const asking = pool.take('y');
    pool.giveBack('x');
    one!.coordinator.answer();
    await asking;
    expect(one!.places.pool(options)).toBe(pool);
    await clock.advanceAsync(10 * PLACE_MS);
    expect(await one!.coordinator.taken(options)).toBe(1);
    pool.giveBack('y');
    expect(one!.places.pool(options)).not.toBe(pool);
  });

  it('asks nothing any more once it is closed', async () => {
    const [one] = await open(1);
    await one!.pool.take('x');
    one!.places.close();
    const asked = one!.coordinator.asked.length;
    await clock.advanceAsync(10 * PLACE_MS);
    expect(one!.coordinator.asked).toHaveLength(asked);
  });
});
