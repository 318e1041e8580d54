import { describe, expect, it } from 'vitest';
import { KnownNodes } from '../../../src/cluster/redis/known-nodes.js';
import { FakeClock } from '../../support/fake-clock.js';

const [one, two, three] = ['one', 'two', 'three'].map((nodeId) => ({
  nodeId,
  address: `http://${nodeId}.test`,
}));
const said = (
  nodes: (typeof one)[],
  { version = '1', epoch = 'first', left = [] }: { version?: string; epoch?: string; left?: string[] } = {},
) => ({
  version,
  epoch,
  left,
  nodes: nodes.filter((node) => node !== undefined),
});

/** Three that are there. */
function open() {
  const clock = new FakeClock();
  const nodes = new KnownNodes(clock, said([one]).nodes);
  nodes.learn(said([one, two, three]), { isDoubtful: true });
  clock.advance(10_000);
  const ids = () => nodes.all().map(({ nodeId }) => nodeId);
  return { clock, nodes, ids };
}

describe('the nodes that one knows', () => {
  it('are those that the broker names', () => {
    const { nodes, ids } = open();
    expect(ids()).toEqual(['one', 'two', 'three']);
    expect(nodes.learn(undefined, { isDoubtful: false })).toBe(false);
    expect(nodes.learn(said([one, three], { version: '2' }), { isDoubtful: false })).toBe(false);
    expect(ids()).toEqual(['one', 'three']);
    expect(nodes.version).toBe('2');
    expect(nodes.isToldAgain).toBe(true);
  });

  it.each([
    ['has lost what it knew', said([one], { version: '7', epoch: 'second' }), false],
    ['was away', said([one], { version: '2' }), true],
  ])('are those of before for a while, where the broker %s', (_, known, isDoubtful) => {
    const { clock, nodes, ids } = open();
    expect(nodes.learn(known, { isDoubtful })).toBe(known.epoch === 'second');
    expect(ids()).toEqual(['one', 'two', 'three']);
    expect(nodes.isToldAgain).toBe(known.epoch !== 'second');
    // Those that are still there say so, and stand once.
    clock.advance(1000);
    nodes.learn({ ...known, version: '8', nodes: said([one, two]).nodes }, { isDoubtful: false });
    expect(ids()).toEqual(['one', 'two', 'three']);
    clock.advance(1999);
    expect(ids()).toHaveLength(3);
    clock.advance(1);
    expect(ids()).toEqual(['one', 'two']);
    expect(nodes.isToldAgain).toBe(true);
  });

  it('are remembered when they are gone, and whether they have said goodbye', () => {
    const { nodes } = open();
    nodes.learn(said([one], { version: '2', left: ['two'] }), { isDoubtful: false });
    const hasLeft = () => ['one', 'two', 'three', 'four'].map((nodeId) => nodes.find(nodeId)?.hasLeft);
    expect(hasLeft()).toEqual([false, true, false, undefined]);
    // The broker keeps some, or nothing.
    nodes.learn(said([one], { version: '3' }), { isDoubtful: false });
    expect(hasLeft()).toEqual([false, true, false, undefined]);
    nodes.learn(said([one, two], { version: '4', left: ['two'] }), { isDoubtful: false });
    expect(hasLeft()).toEqual([false, false, false, undefined]);
    nodes.learn(said([one], { version: '5', left: ['two', 'two'] }), { isDoubtful: true });
    expect(nodes.find('two')).toEqual({ nodeId: 'two', address: 'http://two.test', hasLeft: true });
  });

  it('are asked as others are when their lease is over, until they have not answered for five seconds', () => {
    const { clock, nodes } = open();
    const silent = () => nodes.silent().map(({ nodeId }) => nodeId);
    const asked = (nodeId: string, isAnswered: boolean) => nodes.asked(nodeId, { isAnswered });
    nodes.learn(said([one], { version: '2' }), { isDoubtful: false });
    expect(silent()).toEqual(['two', 'three']);
    // A burst of questions says no more than one.
    for (const nodeId of ['two', 'three', 'three', 'three', 'three']) asked(nodeId, false);
    clock.advance(4999);
    expect(silent()).toEqual(['two', 'three']);
    asked('two', true);
    clock.advance(1);
    expect(silent()).toEqual(['two']);
    // Back, and gone again.
    nodes.learn(said([one, three], { version: '3' }), { isDoubtful: false });
    expect(silent()).toEqual(['two']);
    nodes.learn(said([one], { version: '4' }), { isDoubtful: false });
    expect(silent()).toEqual(['two', 'three']);
    clock.advance(9 * 60_000);
    asked('two', true);
    clock.advance(9 * 60_000);
    expect(silent()).toEqual(['two']);
  });

  it('that count as there are not among those that may be', () => {
    const { clock, nodes } = open();
    nodes.learn(said([one], { version: '2' }), { isDoubtful: true });
    expect(nodes.silent()).toEqual([]);
    clock.advance(3000);
    expect(nodes.silent()).toEqual([two, three]);
  });

  it('are found once more when they have gone', () => {
    const { nodes } = open();
    nodes.learn(said([one], { version: '2' }), { isDoubtful: false });
    expect(nodes.find('two')).toEqual({ ...two, hasLeft: false });
    expect(nodes.find('four')).toBeUndefined();
  });
});
