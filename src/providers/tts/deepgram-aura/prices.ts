// What Deepgram charges for its voices, pay as you go.
import type { ModelPrices } from '../../../contract/price.js';

/** By family: a model is a voice of it, and all voices cost the same. */
export const AURA_PRICES: ModelPrices = {
  'aura-2 (all voices)': { perThousandCharacters: 0.03, asOf: '2026-05', source: "the vendor's price page" },
};
