// Whether nodes reach each other at their addresses, looked at as one joins.
import { describe, expect, it } from 'vitest';
import { ClusterError, NotFoundError } from '../../../src/base/errors.js';
import { AddressCheck } from '../../../src/client/cluster/address-check.js';
import type { ClusterNode, Coordinator, NodeMessage } from '../../../src/cluster/coordinator.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const OWN = 'this server is not reached at its cluster.address: ';
const OTHERS = 'another server is not reached at its cluster.address: ';
const NOBODY = new ClusterError('The other node did not answer.', {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
});

/** `answers`: of each node to each message; what it throws is thrown. */
function open(answers: Record<string, (message: NodeMessage) => object | Error>) {
  const clock = new FakeClock();
  const logger = new RecordedLogger();
  const asked: string[] = [];
  const broker = { isThere: true };
  const listed = new Set(Object.keys(answers));
  const nodes = (): ClusterNode[] =>
    [...listed].map((nodeId) => ({ nodeId, address: `http://${nodeId}.test` }));
  const coordinator: Pick<Coordinator, 'nodeId' | 'isThere' | 'nodes' | 'send'> = {
    nodeId: 'own',
    get isThere() {
      return broker.isThere;
    },
    nodes,
    async send(nodeId, message) {
      asked.push(`${nodeId} ${message.type}`);
      const answer = answers[nodeId]?.(message) ?? NOBODY;
      if (answer instanceof Error) throw answer;
      return JSON.stringify(answer);
    },
  };
  const parts = { address: 'http://own.test', coordinator: () => coordinator as Coordinator, clock, logger };
  const check = new AddressCheck(parts);
  const warnings = () =>
    logger.lines.filter(({ level }) => level === 'warn').map(({ sentence, fields }) => [sentence, fields]);
  return { clock, check, asked, broker, listed, warnings };
}

const reached = () => ({ because: null, places: [] });

describe('the address of a node', () => {
  it('is looked at once, by up to three others, and nothing is said where they reach it', async () => {
    const { clock, check, asked, warnings } = open({
      own: reached,
      a: reached,
      b: reached,
      c: reached,
      d: reached,
    });
    check.start();
    await clock.advanceAsync(60_000);
    expect(asked).toEqual(['a reach', 'b reach', 'c reach']);
    expect(warnings()).toEqual([]);
  });

  it('is wrong where one of them does not reach it: said once, with the fix', async () => {
    const { clock, check, warnings } = open({
      own: reached,
      a: reached,
      b: () => ({ because: 'Another server answers at http://own.test: each needs an address of its own.' }),
    });
    check.start();
    await clock.advanceAsync(60_000);
    const because = 'Another server answers at http://own.test: each needs an address of its own.';
    expect(warnings()).toEqual([
      [expect.stringContaining(OWN), { code: 'CLUSTER_FAILED', address: 'http://own.test', because }],
    ]);
  });

  it.each([
    ['that is alone', {}],
    [
      'among servers of before, which do not know the question',
      { a: () => new NotFoundError('No such message.') },
    ],
  ])('is asked by itself, for one %s', async (_, others) => {
    const { clock, check, asked, warnings } = open({ own: () => NOBODY, ...others });
    check.start();
    await clock.advanceAsync(60_000);
    expect(asked.filter((each) => each === 'own who-has')).toHaveLength(2);
    const because = 'The other node did not answer. (ECONNREFUSED)';
    expect(warnings()).toEqual([
      [expect.stringContaining(OWN), { code: 'CLUSTER_FAILED', address: 'http://own.test', because }],
    ]);
  });

  it('is looked at once the broker has told of the others', async () => {
    const { clock, check, asked, broker } = open({ own: reached, a: reached });
    broker.isThere = false;
    check.start();
    await clock.advanceAsync(60_000);
    expect(asked).toEqual([]);
    broker.isThere = true;
    await clock.advanceAsync(2000);
    expect(asked).toEqual(['a reach']);
  });

  it('is looked at no more by one that leaves', async () => {
    const { clock, check, asked } = open({ own: reached, a: reached });
    check.start();
    check.close();
    await clock.advanceAsync(60_000);
    expect(asked).toEqual([]);
  });

  it('of another one is wrong where that is still listed and does not answer', async () => {
    const { clock, check, warnings } = open({ own: reached, a: () => NOBODY });
    check.start();
    await clock.advanceAsync(60_000);
    const because = 'The other node did not answer. (ECONNREFUSED)';
    expect(warnings()).toEqual([
      [expect.stringContaining(OTHERS), { code: 'CLUSTER_FAILED', address: 'http://a.test', because }],
    ]);
  });

  it('of one that has died is no matter', async () => {
    const { clock, check, listed, warnings } = open({ own: reached, a: () => NOBODY });
    check.start();
    await clock.advanceAsync(3000);
    listed.delete('a');
    await clock.advanceAsync(60_000);
    expect(warnings()).toEqual([]);
  });

  it('is looked at for a node that has just joined, once that is known here', async () => {
    const { clock, check, asked, listed } = open({ own: reached, a: reached });
    listed.delete('a');
    const told = check.complaintOf('a');
    await clock.advanceAsync(1000);
    expect(asked).toEqual([]);
    listed.add('a');
    await clock.advanceAsync(1000);
    expect(await told).toBeUndefined();
    expect(asked).toEqual(['a who-has']);
  });
});
