// What OpenAI charges for models that hear and speak, and for those that write down what they hear.
import type { ModelPrices } from '../../../contract/price.js';
import { OPENAI_TRANSCRIPTION_PRICES } from '../../wire/openai/transcription-prices.js';

const READ = { asOf: '2026-11', source: "the vendor's price page" };

export const OPENAI_REALTIME_PRICES = {
  'gpt-realtime-2.1': {
    inputPerMillionTokens: 4,
    cachedInputPerMillionTokens: 0.4,
    outputPerMillionTokens: 24,
    audioInputPerMillionTokens: 32,
    cachedAudioInputPerMillionTokens: 0.4,
    audioOutputPerMillionTokens: 64,
    ...READ,
  },
  'gpt-realtime-2.1-mini': {
    inputPerMillionTokens: 0.6,
    cachedInputPerMillionTokens: 0.06,
    outputPerMillionTokens: 2.4,
    audioInputPerMillionTokens: 10,
    cachedAudioInputPerMillionTokens: 0.3,
    audioOutputPerMillionTokens: 20,
    ...READ,
  },
  'gpt-realtime-1.5': {
    inputPerMillionTokens: 4,
    cachedInputPerMillionTokens: 0.4,
    outputPerMillionTokens: 16,
    audioInputPerMillionTokens: 32,
    cachedAudioInputPerMillionTokens: 0.4,
    audioOutputPerMillionTokens: 64,
    ...READ,
  },
  ...OPENAI_TRANSCRIPTION_PRICES,
} as const satisfies ModelPrices;
