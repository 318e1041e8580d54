// What AssemblyAI charges: for the time that a session is open, by the hour.
import type { ModelPrices } from '../../../contract/price.js';

const READ = { asOf: '2026-10', source: "the vendor's price page, read by a third party" };

export const ASSEMBLYAI_PRICES: ModelPrices = {
  'universal-3-6-pro': { perAudioMinute: 0.0075, ...READ },
  'universal-streaming-english': { perAudioMinute: 0.0025, ...READ },
  'universal-streaming-multilingual': { perAudioMinute: 0.0025, ...READ },
};
