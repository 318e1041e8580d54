// Contract of speech synthesis. A provider object is an immutable recipe; every call opens a session of its own.
import type { Logger } from '../base/log.js';

export interface TextToSpeechContext {
  readonly logger: Logger;
  readonly language: string | undefined;
}

export interface TextToSpeechSession {
  /** Speaks one sentence: 16 kHz PCM in chunks of any length. Ends early when `signal` aborts. @throws ProviderError while iterating. */
  synthesize(text: string, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Idempotent. */
  close(): void;
}

export interface TextToSpeech {
  /** `vendor/model`, as records show it. */
  readonly name: string;
  open(context: TextToSpeechContext): TextToSpeechSession;
}
