import { expect, it } from 'vitest';
import { departureOf } from '../../../src/client/cluster/departure.js';
import type { Coordinator } from '../../../src/cluster/coordinator.js';

const ADDRESS = 'http://10.0.0.2:8000';

function cluster({ hasLeft = false, nodes = [{ nodeId: 'here', address: 'http://10.0.0.1:8000' }] } = {}) {
  const gone = { nodeId: 'gone', address: ADDRESS, hasLeft };
  return {
    nodes: () => nodes,
    find: (id: string) => (id === 'gone' ? gone : undefined),
  } as unknown as Coordinator;
}

const again = [{ nodeId: 'new', address: ADDRESS }];

it.each([
  ['has said goodbye', cluster({ hasLeft: true, nodes: again }), 'it has left in order'],
  ['was started anew', cluster({ nodes: again }), 'another process has its address now'],
  ['is gone', cluster(), 'it does not answer'],
  ['is listed still', cluster({ nodes: [{ nodeId: 'gone', address: ADDRESS }] }), 'it does not answer'],
])('says of a server that %s', (_, coordinator, because) => {
  expect(departureOf(coordinator, 'gone', 'it does not answer')).toEqual({ address: ADDRESS, because });
});

it('says of one that was never known what counts', () => {
  expect(departureOf(cluster(), 'nobody', 'it does not answer')).toEqual({
    address: undefined,
    because: 'it does not answer',
  });
});
