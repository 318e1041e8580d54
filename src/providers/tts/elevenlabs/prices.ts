// What ElevenLabs charges, by the API's list.
import type { ModelPrices } from '../../../contract/price.js';

const READ = { asOf: '2026-05', source: "the vendor's price page" };

export const ELEVENLABS_PRICES: ModelPrices = {
  eleven_flash_v2_5: { perThousandCharacters: 0.05, ...READ },
  eleven_multilingual_v2: { perThousandCharacters: 0.1, ...READ },
  eleven_v3: { perThousandCharacters: 0.1, ...READ },
};
