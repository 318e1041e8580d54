// What things cost: the prices that providers and carrier state, under those that the application names. Says once of each that has none.
import type { Logger } from '../../base/log.js';
import { nearestName } from '../../base/nearest-name.js';
import type { CallItem, CallPrice, CallPrices, ModelPrice, PriceUnit } from '../../contract/price.js';
import type { Payee } from '../../providers/remedy.js';

/** Prices by vendor and model, or by carrier and item. `*` stands for every model that is not named. */
export type PriceOverrides = Readonly<Record<string, Readonly<Record<string, ModelPrice & CallPrice>>>>;

/** A provider whose vendor has a list of prices. */
export interface ListedPayee extends Payee {
  /** The models in that list. */
  readonly pricedModels?: readonly string[] | undefined;
}

/** Name of every model of a vendor, in a map of prices. */
export const ANY_MODEL = '*';

const MINUTE_S = 60;

export class Pricing {
  readonly #overrides: PriceOverrides;
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  /** `overrides`: checked, and laid over what providers and carrier state, number by number. */
  constructor(options: { overrides?: PriceOverrides | undefined; logger: Logger }) {
    this.#overrides = options.overrides ?? {};
    this.#logger = options.logger;
  }

  /** Undefined, with a warning, when nobody names a price. */
  model(payee: Payee): ModelPrice | undefined {
    const [vendor, model] = splitName(payee.name);
    const own = this.#own(vendor, model);
    if (payee.price !== undefined || own !== undefined) return { ...payee.price, ...own };
    this.#complain(vendor, model, undefined);
    return undefined;
  }

  /** Warns before any call of a model that its vendor's list does not have, with the one that was probably meant. */
  foresee(payee: ListedPayee): void {
    const { name, pricedModels = [] } = payee;
    const [vendor, model] = splitName(name);
    const isKnown = (payee.price ?? this.#own(vendor, model)) !== undefined;
    if (isKnown || pricedModels.length === 0) return;
    this.#complain(vendor, model, undefined, nearestName(model, pricedModels));
  }

  /** A model was used in a way that has no price. */
  lacks(payee: Payee, unit: PriceUnit): void {
    this.#complain(...splitName(payee.name), unit);
  }

  /** Undefined, with a warning for a direction, when nobody names a price. */
  call(carrier: { readonly id: string; readonly prices?: CallPrices | undefined }, item: CallItem) {
    const price = { ...carrier.prices?.[item], ...this.#override(carrier.id, item) };
    const { perMinute, stepSeconds = MINUTE_S } = price;
    if (perMinute !== undefined) return { perMinute, stepSeconds };
    if (item !== 'stream') this.#complain(carrier.id, item, 'perMinute');
    return undefined;
  }

  #own(vendor: string, model: string): ModelPrice | undefined {
    return this.#override(vendor, model) ?? this.#override(vendor, ANY_MODEL);
  }

  #override(vendor: string, model: string): (ModelPrice & CallPrice) | undefined {
    const models = Object.hasOwn(this.#overrides, vendor) ? this.#overrides[vendor] : undefined;
    return models !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
  }

  #complain(vendor: string, model: string, unit: PriceUnit | 'perMinute' | undefined, meant?: string): void {
    const setting = pricePath('pricing', vendor, model, ...(unit === undefined ? [] : [unit]));
    if (this.#told.has(setting)) return;
    this.#told.add(setting);
    this.#logger.warn(
      meant === undefined ? { setting } : { setting, didYouMean: meant },
      'no price is known, so costs are incomplete: add this entry to pricing in serve()',
    );
  }
}

/** Where a price stands, as code would say it: `pricing.vendor["model-1"]`. */
export function pricePath(option: string, ...names: readonly string[]): string {
  return names.reduce(
    (path, name) => (/^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`),
    option,
  );
}

/** Vendor and model of `vendor/model`; a provider without models is all of a vendor. */
export function splitName(name: string): [vendor: string, model: string] {
  const slash = name.indexOf('/');
  return slash === -1 ? [name, ANY_MODEL] : [name.slice(0, slash), name.slice(slash + 1)];
}
