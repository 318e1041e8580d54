import { describe, expect, it } from 'vitest';
import { Pricing, pricePath, splitName } from '../../../src/calls/money/pricing.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const LIST = { inputPerMillionTokens: 1, outputPerMillionTokens: 4 };

function pricing(overrides?: ConstructorParameters<typeof Pricing>[0]['overrides']) {
  const logger = new RecordedLogger();
  return { logger, prices: new Pricing({ overrides, logger }) };
}

describe('the price of a model', () => {
  it('is what its provider says', () => {
    expect(pricing().prices.model({ name: 'acme/x', price: LIST })).toEqual(LIST);
  });

  it('is overlaid number by number', () => {
    const { prices } = pricing({ acme: { x: { outputPerMillionTokens: 2 } } });
    expect(prices.model({ name: 'acme/x', price: LIST })).toEqual({ ...LIST, outputPerMillionTokens: 2 });
    expect(prices.model({ name: 'acme/y', price: LIST })).toEqual(LIST);
  });

  it('may be named for every model of a vendor, and outranked by the model', () => {
    const { prices } = pricing({
      acme: { '*': { outputPerMillionTokens: 2 }, 'a/b': { outputPerMillionTokens: 3 } },
    });
    expect(prices.model({ name: 'acme/x' })).toEqual({ outputPerMillionTokens: 2 });
    expect(prices.model({ name: 'acme/a/b' })).toEqual({ outputPerMillionTokens: 3 });
    expect(prices.model({ name: 'acme' })).toEqual({ outputPerMillionTokens: 2 });
  });

  it('is no property that every object has', () => {
    const { prices } = pricing({ acme: { x: LIST } });
    for (const name of [
      'constructor/name',
      'constructor/prototype',
      '__proto__/toString',
      'acme/toString',
      'acme/constructor',
    ])
      expect(prices.model({ name })).toBeUndefined();
    for (const id of ['constructor', '__proto__']) expect(prices.call({ id }, 'inbound')).toBeUndefined();
  });

  it('is unknown where nobody names it, which is said once per model', () => {
    const { prices, logger } = pricing({ acme: { x: LIST } });
    for (const name of ['acme/y-1', 'acme/y-1', 'other', 'constructor/toString', '__proto__/x'])
      expect(prices.model({ name })).toBeUndefined();
    expect(logger.lines.map(({ level, fields }) => [level, fields.setting])).toEqual([
      ['warn', 'pricing.acme["y-1"]'],
      ['warn', 'pricing.other["*"]'],
      ['warn', 'pricing.constructor.toString'],
      ['warn', 'pricing.__proto__.x'],
    ]);
  });
});

describe('a model that is not in the list of its vendor', () => {
  const misspelt = { name: 'acme/small-modle', pricedModels: ['large-model', 'small-model'] };

  it('is warned of before a call, once, with what was probably meant', () => {
    const { prices, logger } = pricing();
    prices.foresee(misspelt);
    prices.model(misspelt);
    expect(logger.lines.map(({ fields }) => fields)).toEqual([
      { setting: 'pricing.acme["small-modle"]', didYouMean: 'small-model' },
    ]);
  });

  it('is the application’s own affair where it names the price, or its provider does, or there is not a list', () => {
    const { prices, logger } = pricing({ acme: { 'small-modle': LIST } });
    prices.foresee(misspelt);
    prices.foresee({ ...misspelt, name: 'other/x', price: LIST });
    prices.foresee({ name: 'own/x' });
    expect(logger.lines).toEqual([]);
  });
});

describe('the price of a call', () => {
  const carrier = {
    id: 'carrier-x',
    prices: { inbound: { perMinute: 0.01, asOf: '2026-01', source: 'test' } },
  };

  it('is the carrier’s for the direction, in whole minutes unless it says otherwise', () => {
    const { prices } = pricing({
      'carrier-x': { inbound: { stepSeconds: 6 }, outbound: { perMinute: 0.02 } },
    });
    expect(pricing().prices.call(carrier, 'inbound')).toEqual({ perMinute: 0.01, stepSeconds: 60 });
    expect(prices.call(carrier, 'inbound')).toEqual({ perMinute: 0.01, stepSeconds: 6 });
    expect(prices.call(carrier, 'outbound')).toEqual({ perMinute: 0.02, stepSeconds: 60 });
  });

  it('is unknown without one, which is said once; a stream without one costs nothing', () => {
    const { prices, logger } = pricing();
    for (const item of ['outbound', 'outbound', 'stream'] as const)
      expect(prices.call(carrier, item)).toBeUndefined();
    expect(logger.lines.map(({ fields }) => fields)).toEqual([
      { setting: 'pricing["carrier-x"].outbound.perMinute' },
    ]);
  });
});

it('names are of a vendor and a model, which may have a slash itself', () => {
  expect(splitName('groq/openai/gpt')).toEqual(['groq', 'openai/gpt']);
  expect(splitName('scripted')).toEqual(['scripted', '*']);
  expect(pricePath('pricing', 'a b', 'c')).toBe('pricing["a b"].c');
});
