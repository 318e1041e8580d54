import { describe, expect, it } from 'vitest';
import { BrokerAddresses, movedTo, nodesIn } from '../../../src/cluster/redis/broker-addresses.js';

const NAMED = 'redis://broker.internal:6379';
const [ONE, TWO, THREE] = [
  'redis://10.0.0.1:6379',
  'redis://10.0.0.2:6379',
  'redis://10.0.0.3:6379',
] as const;

describe('BrokerAddresses', () => {
  it('have one for a single Redis, whatever becomes of it', () => {
    const addresses = new BrokerAddresses(NAMED);
    addresses.reached(NAMED, []);
    addresses.failed(NAMED);
    expect(addresses.all()).toEqual([NAMED]);
  });

  it('name a node as others do that say its port', () => {
    expect(new BrokerAddresses('redis://broker.internal').all()).toEqual([NAMED]);
  });

  it('begin with the node that was reached, and go on with the one in cluster.url and the others', () => {
    const addresses = new BrokerAddresses(NAMED);
    addresses.reached(TWO, [ONE, TWO, THREE]);
    expect(addresses.all()).toEqual([TWO, NAMED, ONE, THREE]);
  });

  it('end with what has failed, until it is reached', () => {
    const addresses = new BrokerAddresses(NAMED);
    addresses.reached(ONE, [ONE, TWO, THREE]);
    addresses.failed(ONE);
    addresses.failed(NAMED);
    expect(addresses.all()).toEqual([TWO, THREE, ONE, NAMED]);
    addresses.reached(THREE, [ONE, TWO, THREE]);
    expect(addresses.all()).toEqual([THREE, TWO, ONE, NAMED]);
  });

  it('forget a node that is none any more, and never the one in cluster.url', () => {
    const addresses = new BrokerAddresses(NAMED);
    addresses.reached(ONE, [ONE, TWO]);
    addresses.failed('redis://10.0.0.9:6379');
    addresses.reached(THREE, [THREE, TWO]);
    expect(addresses.all()).toEqual([THREE, NAMED, TWO]);
  });
});

describe('movedTo', () => {
  it.each([
    ['a host', 'MOVED 3999 10.0.0.2:6380', 'redis://10.0.0.2:6380'],
    ['a host name', 'MOVED 3999 node-2.internal:6380', 'redis://node-2.internal:6380'],
    ['an IPv6 address', 'MOVED 3999 fd00::2:6380', 'redis://[fd00::2]:6380'],
    ['no host: the one that was asked', 'MOVED 3999 :6380', 'redis://broker.internal:6380'],
    ['a host that nobody knows', 'MOVED 3999 ?:6380', undefined],
    ['what may still be at this node', 'ASK 3999 10.0.0.2:6380', undefined],
    ['nothing of that', 'CLUSTERDOWN Hash slot not served', undefined],
  ])('follows %s', (_, refusal, url) => {
    expect(movedTo(refusal, NAMED)).toBe(url);
  });

  it('keeps user, password and TLS', () => {
    expect(movedTo('MOVED 1 10.0.0.2:6380', 'rediss://offhook:p%40ss@broker.internal')).toBe(
      'rediss://offhook:p%40ss@10.0.0.2:6380',
    );
  });
});

describe('nodesIn', () => {
  it('has every node once, also those whose host is that of the one that was asked, and none that nobody knows', () => {
    const meta = (...node: [string | null, number]) =>
      [...node, 'an-id', ['hostname', 'x']] as unknown as typeof node;
    const one = meta('10.0.0.1', 6379);
    expect(
      nodesIn(
        [
          [0, 99, one, meta('', 6380)],
          [100, 199, meta('?', 6379)],
          [200, 299, one, meta(null, 6381)],
        ],
        NAMED,
      ),
    ).toEqual([ONE, 'redis://broker.internal:6380', 'redis://broker.internal:6381']);
  });
});
