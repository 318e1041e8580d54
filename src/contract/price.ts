// Prices, in US dollars. What they are stands beside the provider or carrier that charges them.

/** What a model charges, by what it is billed in. A quantity without a price makes the cost of its stage unknown. */
export interface ModelPrice {
  /** Per million input tokens of text. */
  readonly inputPerMillionTokens?: number | undefined;
  /** Per million cached tokens. @default the price of uncached ones */
  readonly cachedInputPerMillionTokens?: number | undefined;
  /** Per million tokens that the vendor writes to its cache. @default the price of other input tokens */
  readonly cacheWritePerMillionTokens?: number | undefined;
  /** Per million output tokens of text. */
  readonly outputPerMillionTokens?: number | undefined;
  /** Per million input tokens of audio. */
  readonly audioInputPerMillionTokens?: number | undefined;
  /** Per million cached tokens. @default the price of uncached ones */
  readonly cachedAudioInputPerMillionTokens?: number | undefined;
  /** Per million output tokens of audio. */
  readonly audioOutputPerMillionTokens?: number | undefined;
  /** Per minute of recognized audio, silence included; fractions count. */
  readonly perAudioMinute?: number | undefined;
  /** Per thousand spoken characters (Unicode code points). */
  readonly perThousandCharacters?: number | undefined;
}

/** What a carrier charges from the answer to the end of a call. */
export interface CallPrice {
  readonly perMinute?: number | undefined;
  /** Billing step in seconds; a started step is billed in full. @default 60 */
  readonly stepSeconds?: number | undefined;
}

/** The source of a shipped price. */
export interface PriceOrigin {
  /** The month in which the price was read, such as `2026-11`. */
  readonly asOf: string;
  readonly source: string;
}

/** Shipped prices of one vendor, by model. */
export type ModelPrices = Readonly<Record<string, ModelPrice & PriceOrigin>>;

/** Prices of a call: the line, by direction, and the media stream on top. */
export const CALL_ITEMS = ['inbound', 'outbound', 'stream'] as const;
export type CallItem = (typeof CALL_ITEMS)[number];

/** Shipped prices of one carrier. A missing item costs nothing; a missing direction has an unknown price. */
export type CallPrices = Readonly<Partial<Record<CallItem, CallPrice & PriceOrigin>>>;

/** Prices of an application's own carrier. Date and source are optional. */
export type StatedCallPrices = Readonly<Partial<Record<CallItem, CallPrice & Partial<PriceOrigin>>>>;

export type PriceUnit = keyof ModelPrice;

/** Price of anything that runs on this machine: nothing. */
export const FREE: Readonly<Record<PriceUnit, number>> = {
  inputPerMillionTokens: 0,
  cachedInputPerMillionTokens: 0,
  cacheWritePerMillionTokens: 0,
  outputPerMillionTokens: 0,
  audioInputPerMillionTokens: 0,
  cachedAudioInputPerMillionTokens: 0,
  audioOutputPerMillionTokens: 0,
  perAudioMinute: 0,
  perThousandCharacters: 0,
};
