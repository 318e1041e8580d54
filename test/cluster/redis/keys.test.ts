import { describe, expect, it } from 'vitest';
import { RedisKeys } from '../../../src/cluster/redis/keys.js';
import { ClusterSeal } from '../../../src/cluster/seal.js';

const SECRET = 'a secret of thirty-two bytes, or more';

/** CRC-16/XMODEM. Source: Redis Cluster specification, appendix A. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1;
  }
  return crc;
}

/** Of what stands in the first braces, unless that is nothing. Source: Redis Cluster specification, hash tags. */
function slotOf(key: string): number {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? [];
  return crc16(tag ?? key) % 16_384;
}

function keysOf(name: string, secret = SECRET): string[] {
  const keys = new RedisKeys(name, new ClusterSeal(secret));
  const ofCalls = ['call-1', 'call-2', '{other}', '}{', 'nodes', 'facts', 'pool x'].flatMap((callId) => [
    keys.ownerOf(callId),
    keys.stateOf(callId),
  ]);
  return [keys.leases, keys.cards, keys.facts, keys.factsEpoch, keys.pool('x'), keys.pool('y'), ...ofCalls];
}

const slotsOf = (name: string, secret?: string) => new Set(keysOf(name, secret).map(slotOf));

describe('RedisKeys', () => {
  it('are in one slot of a Redis Cluster, whatever the ID of a call has in it', () => {
    // As the specification has it.
    expect(crc16('123456789')).toBe(0x31c3);
    expect(slotsOf('phones').size).toBe(1);
  });

  it('of clusters with other names, or other secrets, are in slots of their own', () => {
    const slots = ['phones', 'phones-2', 'phones_3'].flatMap((name) => [...slotsOf(name)]);
    expect(new Set([...slots, ...slotsOf('phones', 'y'.repeat(32))]).size).toBe(4);
  });

  it('begin with the name, by which a user is given them, and are all different', () => {
    const keys = keysOf('phones');
    for (const key of keys) expect(key).toMatch(/^offhook:phones:\{[\w-]{16}\}:/);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
