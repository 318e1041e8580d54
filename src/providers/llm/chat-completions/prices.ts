// What the services of the Chat Completions dialect charge.
import { listPrice } from '../../../base/list-price.js';
import { FREE, type ModelPrice, type ModelPrices } from '../../../contract/price.js';
import type { ChatService } from './services.js';

const OPENAI = { asOf: '2026-11', source: "the vendor's price page" };
const GROQ = { asOf: '2026-05', source: "the vendor's price page" };

/** By service and model. A service that is not here, and not on the operator's own machines, has no prices that we know. */
export const CHAT_PRICES = {
  openai: {
    'gpt-6-luna': {
      inputPerMillionTokens: 0.1,
      cachedInputPerMillionTokens: 0.01,
      cacheWritePerMillionTokens: 0.125,
      outputPerMillionTokens: 0.5,
      ...OPENAI,
    },
    'gpt-6-sol': { inputPerMillionTokens: 2, outputPerMillionTokens: 10, ...OPENAI },
  },
  groq: {
    'openai/gpt-oss-20b': { inputPerMillionTokens: 0.075, outputPerMillionTokens: 0.3, ...GROQ },
    'openai/gpt-oss-120b': { inputPerMillionTokens: 0.15, outputPerMillionTokens: 0.6, ...GROQ },
  },
} as const satisfies Partial<Readonly<Record<ChatService, ModelPrices>>>;

/** Servers that run on the operator's own machines. */
export const FREE_CHAT_SERVICES: readonly ChatService[] = ['ollama', 'vllm', 'lmstudio', 'llamacpp'];

/** Undefined for what we do not know. */
export function chatPrice(service: ChatService, model: string): ModelPrice | undefined {
  if (FREE_CHAT_SERVICES.includes(service)) return FREE;
  const prices: Partial<Readonly<Record<ChatService, ModelPrices>>> = CHAT_PRICES;
  const known = prices[service];
  return known && listPrice(known, model);
}

/** The models of a service whose price is known. */
export function chatPricedModels(service: ChatService): readonly string[] {
  const prices: Partial<Readonly<Record<ChatService, ModelPrices>>> = CHAT_PRICES;
  return Object.keys(prices[service] ?? {});
}
