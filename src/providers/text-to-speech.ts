// Contract of speech synthesis. A provider object is an immutable recipe; every call opens a session of its own.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { CallContext } from '../contract/call-context.js';
import type { ModelRetirement } from '../contract/model-retirement.js';
import type { ModelPrice } from '../contract/price.js';
import type { Patience } from './patience.js';
import type { Payee, Recovery, Replacement } from './remedy.js';

/** What a synthesis session tells beside its audio. Who needs none leaves it out. */
export interface TextToSpeechEvents {
  /** Characters (Unicode code points) that were handed over for synthesis and are paid for, heard or not, since the last time. */
  usage?(usage: SynthesisUsage): void;
  /** The connection was lost and is back, or a sentence that was refused was sent again and is being said. */
  reconnected?(gap: Recovery): void;
  /** Only from a chain: another voice speaks from now on. */
  replaced?(replacement: Replacement): void;
}

export interface SynthesisUsage {
  readonly characters: number;
  /** @default the voice that was opened */
  readonly payee?: Payee | undefined;
}

/** When a piece of a sentence is said: a character, a word, or what the voice can tell apart. */
export interface SpokenPiece {
  /** Where the piece stands in the text that was handed over, in UTF-16 units; `end` is the first behind it. */
  readonly start: number;
  readonly end: number;
  /** Position in the audio of the sentence, in milliseconds from its first sample. */
  readonly startMs: number;
  readonly endMs: number;
}

/** What a voice tells of one sentence while it speaks. */
export interface SynthesisEvents {
  /**
   * Pieces of the text with their times, in the order in which they are said; before the audio that says them, or after it. What
   * is never told is estimated: a voice that knows no times leaves this out. Must not throw.
   */
  timed?(pieces: readonly SpokenPiece[]): void;
  /** The audio ends before the text does, and nobody knows how far it came: the rest is not said. Before the end of the audio. Must not throw. */
  brokeOff?(): void;
}

export interface TextToSpeechContext {
  readonly logger: Logger;
  readonly language: string | undefined;
  /** Whose voice it is. @default no call's, as in a test */
  readonly call?: CallContext | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
  /** For a voice that is several. @default nobody waits */
  readonly patience?: Patience | undefined;
  /** True while nobody can take its place: to connect it is tried for as long as a caller can wait. @default never */
  readonly isLast?: (() => boolean) | undefined;
  readonly events?: TextToSpeechEvents | undefined;
}

export interface TextToSpeechSession {
  /**
   * Speaks one sentence: 16 kHz PCM in chunks of any length, each the receiver's to keep. Ends early when `signal` aborts; what
   * arrives late for it is dropped and never becomes part of another sentence. @throws ProviderError while iterating.
   */
  synthesize(
    text: string,
    signal: AbortSignal,
    events?: SynthesisEvents | undefined,
  ): AsyncIterable<Int16Array>;
  /** Ends what is being spoken. Idempotent. */
  close(): void;
}

export interface TextToSpeech {
  /** Lets options tell that it stands where another kind belongs. @default told by its methods, as far as they differ */
  readonly kind?: 'tts' | undefined;
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What the vendor charges for the model. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  /** The vendor stops the model: until when it is there, and what to take instead. */
  readonly retirement?: ModelRetirement | undefined;
  /** Connects already, so that the first sentence does not wait. @throws ConfigError when a setting is missing that is needed now. */
  open(context: TextToSpeechContext): TextToSpeechSession;
  /** @throws ConfigError for a setting, like a key, that every session needs and that is missing. */
  assertConfigured?(): void;
}
