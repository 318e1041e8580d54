// All prices that are shipped, and all names that a price can be given to. Each price stands beside its provider or carrier.
import type { ModelPrices } from '../contract/price.js';
import { ANTHROPIC_PRICES } from '../providers/llm/anthropic/prices.js';
import { CHAT_PRICES } from '../providers/llm/chat-completions/prices.js';
import { CHAT_SERVICES } from '../providers/llm/chat-completions/services.js';
import { GEMINI_LIVE_PRICES } from '../providers/realtime/gemini-live/prices.js';
import { OPENAI_REALTIME_PRICES } from '../providers/realtime/openai-realtime/prices.js';
import { ASSEMBLYAI_PRICES } from '../providers/stt/assemblyai/prices.js';
import { DEEPGRAM_PRICES } from '../providers/stt/deepgram/prices.js';
import { CARTESIA_PRICES } from '../providers/tts/cartesia/prices.js';
import { AURA_PRICES } from '../providers/tts/deepgram-aura/prices.js';
import { ELEVENLABS_PRICES } from '../providers/tts/elevenlabs/prices.js';

/** By vendor and model. */
export const MODEL_PRICES: Readonly<Record<string, ModelPrices>> = {
  ...CHAT_PRICES,
  openai: { ...CHAT_PRICES.openai, ...OPENAI_REALTIME_PRICES },
  anthropic: ANTHROPIC_PRICES,
  google: GEMINI_LIVE_PRICES,
  deepgram: { ...DEEPGRAM_PRICES, ...AURA_PRICES },
  elevenlabs: ELEVENLABS_PRICES,
  cartesia: CARTESIA_PRICES,
  assemblyai: ASSEMBLYAI_PRICES,
};

/** Vendors whose models this package supports, the local stack included. */
export const MODEL_VENDORS: readonly string[] = [
  ...new Set([...Object.keys(MODEL_PRICES), ...Object.keys(CHAT_SERVICES), 'scripted', 'simulated', 'flite']),
];
