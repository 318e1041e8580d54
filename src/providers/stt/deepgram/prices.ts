// What Deepgram charges, pay as you go.
import type { ModelPrices } from '../../../contract/price.js';

const READ = { asOf: '2026-08', source: "the vendor's price page, read by a third party" };

/** By model. The one for speech that changes its language goes by a name of its own. */
export const DEEPGRAM_PRICES: ModelPrices = {
  'nova-3': { perAudioMinute: 0.0048, ...READ },
  'nova-3 (multi)': { perAudioMinute: 0.0058, ...READ },
};
