// Money in whole nano-dollars, so that sums do not depend on their order; rounded to six decimals where it leaves.
import type { ModelPrice, PriceUnit } from '../../contract/price.js';
import type { UsageQuantities } from '../../engines/engine.js';

const NANOS = 1e9;
const NANOS_PER_MICRO = 1000;
const MICROS = 1e6;

interface Billing {
  readonly units: readonly PriceUnit[];
  /** Quantity that one price is for. */
  readonly per: number;
}

const MILLION = 1e6;

/** What each quantity is billed by: the first of the units that has a price. */
const BILLING: Readonly<Record<keyof UsageQuantities, Billing>> = {
  inputTokens: { units: ['inputPerMillionTokens'], per: MILLION },
  cachedInputTokens: { units: ['cachedInputPerMillionTokens', 'inputPerMillionTokens'], per: MILLION },
  cacheWrittenTokens: { units: ['cacheWritePerMillionTokens', 'inputPerMillionTokens'], per: MILLION },
  outputTokens: { units: ['outputPerMillionTokens'], per: MILLION },
  audioInputTokens: { units: ['audioInputPerMillionTokens'], per: MILLION },
  cachedAudioInputTokens: {
    units: ['cachedAudioInputPerMillionTokens', 'audioInputPerMillionTokens'],
    per: MILLION,
  },
  audioOutputTokens: { units: ['audioOutputPerMillionTokens'], per: MILLION },
  audioSeconds: { units: ['perAudioMinute'], per: 60 },
  characters: { units: ['perThousandCharacters'], per: 1000 },
};

const QUANTITIES = Object.keys(BILLING) as (keyof UsageQuantities)[];

/** What `quantities` cost, in nano-dollars, and the units that they would need a price for and have none. */
export function charge(
  quantities: UsageQuantities,
  price: ModelPrice,
): { nanos: number; missing: readonly PriceUnit[] } {
  const missing: PriceUnit[] = [];
  let nanos = 0;
  for (const quantity of QUANTITIES) {
    const amount = quantities[quantity] ?? 0;
    if (amount === 0) continue;
    const { units, per } = BILLING[quantity];
    const unit = units.find((each) => price[each] !== undefined);
    if (unit === undefined) missing.push(...units.slice(-1));
    else nanos += toNanos((amount / per) * (price[unit] ?? 0));
  }
  return { nanos, missing };
}

/** Sums stay whole: more than nine million dollars is as much. */
export function addNanos(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

export function toNanos(dollars: number): number {
  return Math.min(Math.round(dollars * NANOS), Number.MAX_SAFE_INTEGER);
}

/** More than a day of the dearest lines: what a carrier states beyond it is no price but a mistake. */
const MAX_CHARGE_USD = 1000;

/** True for what a carrier may charge for a call, in US dollars. */
export function isCharge(costUsd: number): boolean {
  return costUsd >= 0 && costUsd <= MAX_CHARGE_USD;
}

/** Rounds to whole micro-dollars. */
export function toMicros(nanos: number): number {
  return Math.round(nanos / NANOS_PER_MICRO);
}

/** US dollars with six decimals. */
export function toDollars(micros: number): number {
  return micros / MICROS;
}
