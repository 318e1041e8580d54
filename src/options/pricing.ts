// The option `pricing` of `serve`: what may be in it, and what is refused.
import { ConfigError } from '../base/errors.js';
import { nearestName } from '../base/nearest-name.js';
import { type PriceOverrides, pricePath, splitName } from '../calls/money/pricing.js';
import { CALL_ITEMS, type CallPrice, FREE, type ModelPrice, type PriceUnit } from '../contract/price.js';
import { CARRIER_PRICES, MODEL_PRICES, MODEL_VENDORS } from './price-list.js';

const PRICE_UNITS = Object.keys(FREE) as PriceUnit[];
const CALL_UNITS = ['perMinute', 'stepSeconds'] as const satisfies readonly (keyof CallPrice)[];

/** More than this for one unit is a mistake, in US dollars. */
const MAX_PRICE = 10_000;
const MAX_STEP_SECONDS = 3600;

type Prices = Readonly<Record<string, unknown>>;
type PricePath = readonly [option: 'pricing', ...names: string[]];

/**
 * The prices that the application names, by vendor and model or by carrier and item. `providers`: names of providers of its own,
 * whose vendors are known because they are there. @throws ConfigError
 */
export function checkPricing(value: unknown, providers: readonly string[]): PriceOverrides | undefined {
  if (value === undefined) return undefined;
  const carriers = Object.keys(CARRIER_PRICES);
  const vendors = [...MODEL_VENDORS, ...providers.map((name) => splitName(name)[0])];
  const overrides = entries(value, ['pricing'], 'prices by vendor or carrier').map(([name, models]) => {
    if (carriers.includes(name)) return [name, checkCarrier(name, models)];
    if (vendors.includes(name)) return [name, checkVendor(name, models)];
    throw unknownName(['pricing', name], [...carriers, ...new Set(vendors)], {
      else: 'A provider of your own is known when the agent of serve() uses it; elsewhere it says what it charges itself, as `price`.',
    });
  });
  return Object.fromEntries(overrides) as PriceOverrides;
}

function checkVendor(vendor: string, value: unknown): Record<string, ModelPrice> {
  const shipped = Object.hasOwn(MODEL_PRICES, vendor) ? (MODEL_PRICES[vendor] ?? {}) : {};
  const unitsOfVendor = new Set(Object.values(shipped).flatMap(unitsOf));
  const models = entries(value, ['pricing', vendor], 'prices by model').map(([model, price]) => {
    const known = Object.hasOwn(shipped, model) ? shipped[model] : undefined;
    const units = known === undefined ? [...unitsOfVendor] : billedUnits(unitsOf(known));
    return [model, checkPrice(['pricing', vendor, model], price, units.length === 0 ? PRICE_UNITS : units)];
  });
  return Object.fromEntries(models);
}

/** A model that is sold by tokens may be sold by other tokens, too, but not by the minute. */
function billedUnits(units: readonly PriceUnit[]): PriceUnit[] {
  const isByTokens = units.some(isTokenUnit);
  return PRICE_UNITS.filter((unit) => units.includes(unit) || (isByTokens && isTokenUnit(unit)));
}

function isTokenUnit(unit: PriceUnit): boolean {
  return unit.endsWith('PerMillionTokens');
}

function unitsOf(price: ModelPrice): PriceUnit[] {
  return PRICE_UNITS.filter((unit) => price[unit] !== undefined);
}

function checkPrice(path: PricePath, value: unknown, units: readonly PriceUnit[]): ModelPrice {
  const prices = entries(value, path, `prices, like ${units[0]}`);
  for (const [unit, amount] of prices) {
    if (!PRICE_UNITS.includes(unit as PriceUnit)) throw unknownName([...path, unit], PRICE_UNITS);
    if (!units.includes(unit as PriceUnit)) {
      throw new ConfigError(
        'CONFIG_INVALID',
        `${pricePath(...path, unit)} is not a unit of this model. Use one of: ${units.join(', ')}.`,
      );
    }
    checkAmount([...path, unit], amount, { min: 0, max: MAX_PRICE });
  }
  return Object.fromEntries(prices);
}

function checkCarrier(carrier: string, value: unknown): Record<string, CallPrice> {
  const items = entries(value, ['pricing', carrier], `prices by ${CALL_ITEMS.join(', ')}`);
  for (const [item, price] of items) {
    const path = ['pricing', carrier, item] as const;
    if (!(CALL_ITEMS as readonly string[]).includes(item)) throw unknownName(path, CALL_ITEMS);
    for (const [unit, amount] of entries(price, path, `prices, like ${CALL_UNITS[0]}`)) {
      if (unit === 'perMinute') checkAmount([...path, unit], amount, { min: 0, max: MAX_PRICE });
      else if (unit === 'stepSeconds')
        checkAmount([...path, unit], amount, { min: 1, max: MAX_STEP_SECONDS });
      else throw unknownName([...path, unit], CALL_UNITS);
    }
  }
  return Object.fromEntries(items.map(([item, price]) => [item, withoutUndefined(price as CallPrice)]));
}

function checkAmount(path: PricePath, value: unknown, { min, max }: { min: number; max: number }): void {
  if (typeof value === 'number' && value >= min && value <= max) return;
  throw new ConfigError('CONFIG_INVALID', `${pricePath(...path)} must be a number from ${min} to ${max}.`);
}

/** The entries of an object that has some, those that are undefined left out. @throws ConfigError */
function entries(value: unknown, path: PricePath, what: string): [string, unknown][] {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
  const found = isPlain ? Object.entries(withoutUndefined(value as Prices)) : [];
  // A map that is empty asks for nothing; a price without numbers was meant to ask for something.
  if (isPlain && (found.length > 0 || path.length < 3)) return found;
  throw new ConfigError('CONFIG_INVALID', `${pricePath(...path)} must be an object of ${what}.`);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}

function unknownName(path: PricePath, known: readonly string[], hint: { else?: string } = {}): ConfigError {
  const near = nearestName(path.at(-1) ?? '', known);
  const names = `It takes: ${known.join(', ')}.`;
  const sentence =
    near === undefined ? [names, hint.else].filter(Boolean).join(' ') : `Did you mean ${near}? ${names}`;
  return new ConfigError('CONFIG_INVALID', `${pricePath(...path)} is not known. ${sentence}`);
}

/** Names of the stages that an agent says itself. */
export function stageNames(
  options: Readonly<Partial<Record<'engine' | 'stt' | 'llm' | 'tts', { name?: unknown } | undefined>>>,
) {
  const { engine, stt, llm, tts } = options;
  return [engine, stt, llm, tts].flatMap((stage) => (typeof stage?.name === 'string' ? [stage.name] : []));
}
