// What Anthropic charges. Prompts longer than 100,000 tokens cost more, which no telephone call comes near.
import type { ModelPrices } from '../../../contract/price.js';

const READ = { asOf: '2026-10', source: "the vendor's price page" };

export const ANTHROPIC_PRICES: ModelPrices = {
  'claude-haiku-5-5': {
    inputPerMillionTokens: 0.1,
    cacheWritePerMillionTokens: 0.125,
    outputPerMillionTokens: 0.5,
    ...READ,
  },
};
