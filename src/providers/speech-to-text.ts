// Contract of speech recognition. A provider object is an immutable recipe; every call opens a session of its own.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';

/** What a recognition session tells. Texts replace the earlier partial of the same utterance. */
export interface SpeechToTextEvents {
  partial(text: string): void;
  /** A piece that will not change any more. Several may make one turn. */
  final(text: string): void;
  /** The session cannot go on. Told once; nothing follows. */
  failed(error: Error): void;
}

export interface SpeechToTextContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly language: string | undefined;
  readonly events: SpeechToTextEvents;
}

export interface SpeechToTextSession {
  /** One 20 ms frame, 16 kHz PCM. Valid until the method returns. */
  pushAudio(frame: Int16Array): void;
  /** The caller seems to have finished: answer with what is still open, as a `final`. */
  finishUtterance(): void;
  /** Only there in the simulated recogniser: the text of what the simulated caller says. */
  pushSpokenText?(segment: { id: string; text: string; final: boolean }): void;
  /** Idempotent. No event follows. */
  close(): void;
}

export interface SpeechToText {
  /** `vendor/model`, as records show it. */
  readonly name: string;
  open(context: SpeechToTextContext): SpeechToTextSession;
}
