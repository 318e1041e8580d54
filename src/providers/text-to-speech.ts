// Contract of speech synthesis. A provider object is an immutable recipe; every call opens a session of its own.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { ModelPrice } from '../contract/price.js';

/** What a synthesis session tells beside its audio. Who needs none leaves it out. */
export interface TextToSpeechEvents {
  /** Characters (Unicode code points) that were handed over for synthesis and are paid for, heard or not, since the last time. */
  usage?(usage: { readonly characters: number }): void;
  /** The connection was lost and is back after `gapMs`. */
  reconnected?(gap: { readonly gapMs: number }): void;
}

export interface TextToSpeechContext {
  readonly logger: Logger;
  readonly language: string | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
  readonly events?: TextToSpeechEvents | undefined;
}

export interface TextToSpeechSession {
  /**
   * Speaks one sentence: 16 kHz PCM in chunks of any length, each the receiver's to keep. Ends early when `signal` aborts; what
   * arrives late for it is dropped and never becomes part of another sentence. @throws ProviderError while iterating.
   */
  synthesize(text: string, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Ends what is being spoken. Idempotent. */
  close(): void;
}

export interface TextToSpeech {
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What the vendor charges for the model. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  /** Connects already, so that the first sentence does not wait. @throws ConfigError when a setting is missing that is needed now. */
  open(context: TextToSpeechContext): TextToSpeechSession;
  /** @throws ConfigError for a setting, like a key, that every session needs and that is missing. */
  assertConfigured?(): void;
}
