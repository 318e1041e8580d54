// One short exchange with a vendor for money: registered when somebody wants it and has the key, told with what it cost.
import { it } from 'vitest';
import { charge, toDollars, toMicros } from '../../src/calls/money/money.js';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/log.js';
import type { ModelPrice } from '../../src/contract/price.js';
import type { UsageFact } from '../../src/engines/engine.js';
import { UsageMeter } from '../../src/engines/usage-meter.js';

/** More than this is no short exchange: the test fails, so that somebody looks. In US dollars. */
const MOST = 0.02;

export interface Priced {
  readonly name: string;
  readonly price?: ModelPrice | undefined;
}

/** What every session of a test is opened with. */
export const CONTEXT = { clock: systemClock, logger: silentLogger, language: 'en' } as const;

/** The variable that names what only its owner knows, such as the model of an account; a made-up text where the exchange is not held. */
export function named(variable: string): string {
  return process.env[variable] || 'unnamed';
}

/** Why an exchange is not held; undefined when it is. */
function obstacle(needed: readonly string[]): string | undefined {
  if (process.env.OFFHOOK_LIVE !== '1') return 'OFFHOOK_LIVE=1 is not set';
  const missing = needed.find((names) => !names.split(' or ').some((name) => process.env[name]));
  return missing === undefined ? undefined : `${missing} is not set`;
}

/**
 * Holds the exchange when OFFHOOK_LIVE is 1 and the variables that the vendor needs are set, such as `A_KEY` or `A_KEY or B_KEY`; otherwise
 * it is skipped, and its name says why. `exchange` tells the meter what was used.
 */
export function live<T extends Priced>(
  needed: string | readonly string[],
  create: () => T,
  exchange: (provider: T, meter: UsageMeter) => Promise<void>,
): void {
  const missing = obstacle([needed].flat());
  const { name } = create();
  if (missing !== undefined) {
    it.skip(`${name}: ${missing}`, () => {});
    return;
  }
  it(name, async () => {
    const provider = create();
    const used: UsageFact[] = [];
    const meter = new UsageMeter({ fact: (fact) => void used.push(fact) }, () => null);
    try {
      await exchange(provider, meter);
    } finally {
      report(provider, used);
    }
  });
}

function report({ name, price }: Priced, used: readonly UsageFact[]): void {
  const costs = used.map(({ quantities }) => charge(quantities, price ?? {}));
  const dollars = toDollars(toMicros(costs.reduce((sum, { nanos }) => sum + nanos, 0)));
  const isKnown = price !== undefined && costs.every(({ missing }) => missing.length === 0);
  const quantities = used.map(({ quantities: each }) => JSON.stringify(each)).join(' ') || 'nothing';
  console.log(
    `${name}: ${isKnown ? `$${dollars.toFixed(6)}` : 'at a price that is not known'} for ${quantities}`,
  );
  if (dollars > MOST) throw new Error(`${name} has cost $${dollars}, which is more than $${MOST}.`);
}
