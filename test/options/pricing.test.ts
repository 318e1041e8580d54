import { describe, expect, it } from 'vitest';
import { MODEL_PRICES } from '../../src/options/price-list.js';
import { checkPricing, stageNames } from '../../src/options/pricing.js';
import { refusal } from './refusal.js';

const check = (value: unknown, providers: string[] = []) => checkPricing(value, providers);

describe('pricing', () => {
  it.each<[unknown]>([
    [{}],
    [{ openai: {} }],
    [{ openai: { 'gpt-6-luna': { outputPerMillionTokens: 0 } } }],
    [{ openai: { 'gpt-7': { inputPerMillionTokens: 1 }, 'gpt-hears': { perAudioMinute: 0.1 } } }],
    [{ openai: { 'gpt-6-sol': { cachedInputPerMillionTokens: 0.2 } } }],
    [{ deepgram: { '*': { perAudioMinute: 0.004 } } }],
    [{ cerebras: { 'any/model': { inputPerMillionTokens: 1, outputPerMillionTokens: 2 } } }],
    [{ 'carrier-a': { inbound: { perMinute: 0.01, stepSeconds: 1 }, stream: { perMinute: 0 } } }],
    [{ 'carrier-b': { outbound: { stepSeconds: 6 } } }],
  ])('takes %j', (value) => {
    expect(check(value)).toEqual(value);
  });

  it('knows the vendors of providers that an agent brings', () => {
    const providers = stageNames({ stt: { name: 'acme/ears' }, llm: undefined, tts: { name: 7 } });
    expect(providers).toEqual(['acme/ears']);
    const prices = { acme: { ears: { perAudioMinute: 1 }, mouth: { perThousandCharacters: 1 } } };
    expect(check(prices, providers)).toEqual(prices);
  });

  it('is nothing when it is not set, and leaves out what is not set in it', () => {
    expect(check(undefined)).toBeUndefined();
    const price = { inputPerMillionTokens: 1, outputPerMillionTokens: undefined };
    expect(check({ openai: { x: price, y: undefined }, groq: undefined })).toEqual({
      openai: { x: { inputPerMillionTokens: 1 } },
    });
  });

  it.each<[unknown, string]>([
    ['cheap', 'pricing must be an object of prices by vendor or carrier'],
    [[], 'pricing must be'],
    [null, 'pricing must be'],
    [{ openai: 3 }, 'pricing.openai must be an object of prices by model'],
    [{ openai: { 'gpt-6-luna': 3 } }, 'pricing.openai["gpt-6-luna"] must be an object of prices'],
    [{ openai: { 'gpt-6-luna': {} } }, 'pricing.openai["gpt-6-luna"] must be'],
    [{ opnai: {} }, 'pricing.opnai is not known. Did you mean openai?'],
    [
      { acmecorp: {} },
      'It takes: carrier-a, carrier-b, openai, groq, anthropic, google, deepgram, elevenlabs',
    ],
    [{ acmecorp: {} }, 'as `price`'],
    [
      { openai: { x: { output: 1 } } },
      'pricing.openai.x.output is not known. It takes: inputPerMillionTokens',
    ],
    [
      { openai: { x: { outputPerMillionToken: 1 } } },
      'pricing.openai.x.outputPerMillionToken is not known. Did you mean outputPerMillionTokens?',
    ],
    [{ openai: { x: { perMinute: 1 } } }, 'pricing.openai.x.perMinute is not known'],
    [
      { openai: { 'gpt-6-luna': { perAudioMinute: 1 } } },
      'pricing.openai["gpt-6-luna"].perAudioMinute is not a unit of this model. Use one of: inputPer',
    ],
    [
      { elevenlabs: { new_model: { perAudioMinute: 1 } } },
      'is not a unit of this model. Use one of: perThousandCharacters.',
    ],
    [
      { 'carrier-a': { incoming: { perMinute: 1 } } },
      'pricing["carrier-a"].incoming is not known. It takes: inbound',
    ],
    [
      { 'carrier-a': { inbound: { perMinutes: 1 } } },
      'inbound.perMinutes is not known. Did you mean perMinute?',
    ],
    [{ 'carrier-a': { inbound: 0.01 } }, 'pricing["carrier-a"].inbound must be an object of prices'],
    [{ 'carrier-a': { inbound: { stepSeconds: 0 } } }, 'stepSeconds must be a number from 1 to 3600'],
    [{ 'carrier-a': { inbound: { perAudioMinute: 1 } } }, 'inbound.perAudioMinute is not known'],
  ])('refuses %j', (value, sentence) => {
    const { code, message } = refusal(() => check(value));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(sentence);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 10_001])('refuses the price %s', (price) => {
    for (const value of [
      { openai: { x: { inputPerMillionTokens: price } } },
      { 'carrier-b': { inbound: { perMinute: price } } },
    ])
      expect(refusal(() => check(value)).message).toMatch(/^pricing.*must be a number from 0 to 10000\.$/);
  });

  it('is no way to anything that objects inherit', () => {
    const value = JSON.parse('{ "__proto__": { "x": { "perAudioMinute": 1 } } }');
    expect(refusal(() => check(value)).message).toContain('pricing.__proto__ is not known');
    expect(refusal(() => check({ constructor: {} })).message).toContain('pricing.constructor is not known');
    expect(check({ openai: { toString: { perAudioMinute: 1 } } })).toEqual({
      openai: { toString: { perAudioMinute: 1 } },
    });
  });
});

it('every shipped price is a number with a unit, a month and a source', () => {
  const prices = Object.values(MODEL_PRICES).flatMap((models) => Object.values(models));
  for (const { asOf, source, ...units } of prices) {
    expect(asOf).toMatch(/^20\d\d-(0\d|1[0-2])$/);
    expect(source).not.toBe('');
    expect(Object.keys(units).length).toBeGreaterThan(0);
    for (const amount of Object.values(units)) expect(amount).toBeGreaterThan(0);
  }
});
