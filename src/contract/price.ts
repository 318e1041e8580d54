// Prices, in US dollars. What they are stands beside the provider or carrier that charges them.

/** What a model charges, by what it is billed in. A quantity without a price makes the cost of its stage unknown. */
export interface ModelPrice {
  /** Per million tokens of text that go in. */
  readonly inputPerMillionTokens?: number | undefined;
  /** Per million of those that the vendor has cached. @default as those that it has not */
  readonly cachedInputPerMillionTokens?: number | undefined;
  /** Per million of those that the vendor writes to its cache, for the next request. @default as those that it does not */
  readonly cacheWritePerMillionTokens?: number | undefined;
  /** Per million tokens of text that come out. */
  readonly outputPerMillionTokens?: number | undefined;
  /** Per million tokens of audio that go in. */
  readonly audioInputPerMillionTokens?: number | undefined;
  /** Per million of those that the vendor has cached. @default as those that it has not */
  readonly cachedAudioInputPerMillionTokens?: number | undefined;
  /** Per million tokens of audio that come out. */
  readonly audioOutputPerMillionTokens?: number | undefined;
  /** Per minute of audio that is listened to, silence included; fractions count. */
  readonly perAudioMinute?: number | undefined;
  /** Per thousand characters (Unicode code points) that are spoken. */
  readonly perThousandCharacters?: number | undefined;
}

/** What a carrier charges for the time from the answer to the end. */
export interface CallPrice {
  readonly perMinute?: number | undefined;
  /** A begun step counts whole, in seconds. @default 60 */
  readonly stepSeconds?: number | undefined;
}

/** Where a shipped price is from. */
export interface PriceOrigin {
  /** Month in which it was read, like `2026-11`. */
  readonly asOf: string;
  readonly source: string;
}

/** Shipped prices of one vendor, by model. */
export type ModelPrices = Readonly<Record<string, ModelPrice & PriceOrigin>>;

/** What a call is charged for: the line, by its direction, and the media stream on top of either. */
export const CALL_ITEMS = ['inbound', 'outbound', 'stream'] as const;
export type CallItem = (typeof CALL_ITEMS)[number];

/** Shipped prices of one carrier. An item that is not there costs nothing, but a direction that is not there is unknown. */
export type CallPrices = Readonly<Partial<Record<CallItem, CallPrice & PriceOrigin>>>;

/** Prices that a carrier of the application's own states: it may leave out since when they hold, and where they stand. */
export type StatedCallPrices = Readonly<Partial<Record<CallItem, CallPrice & Partial<PriceOrigin>>>>;

export type PriceUnit = keyof ModelPrice;

/** What runs on this machine and costs nothing, whatever it is used for. */
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
