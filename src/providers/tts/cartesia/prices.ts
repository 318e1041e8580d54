// What Cartesia charges for its voices.
import type { ModelPrices } from '../../../contract/price.js';

export const CARTESIA_PRICES: ModelPrices = {
  'sonic-3.5': {
    perThousandCharacters: 0.05,
    asOf: '2026-05',
    source: "the vendor's price page, read by a third party",
  },
};
