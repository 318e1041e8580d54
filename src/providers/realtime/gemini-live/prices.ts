// What Google charges for models that hear and speak.
import type { ModelPrices } from '../../../contract/price.js';

export const GEMINI_LIVE_PRICES = {
  // Of audio no figure is confirmed: what a call costs is not known unless the application says it.
  'gemini-3.8-live': {
    inputPerMillionTokens: 0.75,
    outputPerMillionTokens: 4.5,
    asOf: '2026-11',
    source: "a reseller's price page",
  },
} as const satisfies ModelPrices;

/** Of the agent's speech. Source: Google, Live API. */
export const AUDIO_TOKENS_PER_SECOND = 25;
