// What OpenAI charges for models that write down what they hear, whichever way they are asked.
import type { ModelPrices } from '../../../contract/price.js';

const READ = { asOf: '2026-11', source: "the vendor's price page" };

export const OPENAI_TRANSCRIPTION_PRICES = {
  'gpt-transcribe': { perAudioMinute: 0.0045, ...READ },
  'gpt-live-transcribe': { perAudioMinute: 0.017, ...READ },
  'gpt-realtime-whisper': { perAudioMinute: 0.017, ...READ },
} as const satisfies ModelPrices;
