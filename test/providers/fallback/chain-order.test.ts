import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/log.js';
import { ConfigError } from '../../../src/base/errors.js';
import { Circuits } from '../../../src/providers/circuits.js';
import { ChainOrder } from '../../../src/providers/fallback/chain-order.js';
import type { Replacement } from '../../../src/providers/remedy.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const [one, two, three] = [
  { name: 'v/one', price: { perAudioMinute: 1 } },
  { name: 'v/two' },
  { name: 'v/three' },
];
type Member = typeof one | typeof two;

function setUp(circuits = new Circuits(new FakeClock()), logger = silentLogger) {
  const told: Replacement[] = [];
  const replaced = (replacement: Replacement) => void told.push(replacement);
  const order = new ChainOrder<Member>({ members: [one, two, three], circuits, logger, replaced });
  return { order, told, circuits };
}

const failure = { error: new Error('secret'), gapMs: 5 };

describe('ChainOrder', () => {
  it('asks one after the other, says so, and ends with the last', () => {
    const { order, told } = setUp();
    expect(order.current).toBe(one);
    expect(order.failed(one, failure)).toBe(two);
    expect(order.failed(two, { error: new ConfigError('CONFIG_MISSING', 'No key.'), gapMs: 7 })).toBe(three);
    expect(order.hasNext).toBe(false);
    expect(order.failed(three, failure)).toBeUndefined();
    expect(told).toEqual([
      { from: 'v/one', to: 'v/two', code: 'PROVIDER_FAILED', gapMs: 5 },
      { from: 'v/two', to: 'v/three', code: 'CONFIG_MISSING', gapMs: 7 },
    ]);
  });

  it('counts one failure once, whoever has seen it', () => {
    const { order, told } = setUp();
    order.failed(one, failure);
    expect(order.failed(one, failure)).toBe(two);
    expect(told).toHaveLength(1);
  });

  it('goes back to the first when a later one fails that had worked', () => {
    const { order } = setUp();
    order.failed(one, failure);
    order.worked(two);
    order.failed(two, failure);
    expect(order.current).toBe(three);
    expect(order.failed(three, failure)).toBe(one);
  });

  it('begins with the first that does not fail in other calls, and says so', () => {
    const { circuits } = setUp();
    for (let call = 0; call < 5; call += 1) setUp(circuits).order.failed(one, failure);
    const { order, told } = setUp(circuits);
    order.begin();
    expect(order.current).toBe(two);
    expect(told).toEqual([{ from: 'v/one', to: 'v/two', code: 'PROVIDER_FAILED', gapMs: 0 }]);
    // The one that fails everywhere comes behind the others.
    expect(order.failed(two, failure)).toBe(three);
    expect(order.failed(three, failure)).toBe(one);
    order.worked(one);
    expect(circuits.isOpen(one)).toBe(false);
  });

  it('says nothing of a call that begins with the first', () => {
    const { order, told } = setUp();
    order.begin();
    expect(told).toEqual([]);
  });

  it('logs who failed, not what a foreign error says', () => {
    const logger = new RecordedLogger();
    const { order } = setUp(undefined, logger);
    order.failed(one, failure);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { provider: 'v/one', next: 'v/two' } }]);
    expect(logger.text).not.toContain('secret');
  });

  it('logs of the last of a chain that there is no other one', () => {
    const logger = new RecordedLogger();
    const { order } = setUp(undefined, logger);
    for (const member of [one, two, three]) order.failed(member, failure);
    expect(logger.lines.at(-1)?.fields).not.toHaveProperty('next');
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'warn',
      fields: { provider: 'v/three', error: 'Error' },
      sentence: 'a provider failed, and no fallback is left',
    });
  });
});
