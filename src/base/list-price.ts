// Finds a model in a table of prices.
import type { ModelPrice, ModelPrices } from '../contract/price.js';

/** The shipped price of a model; undefined for one that is not in the table, whatever it is called. */
export function listPrice(prices: ModelPrices, model: string): ModelPrice | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}
