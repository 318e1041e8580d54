// Contract of speech recognition. A provider object is an immutable recipe; every call opens a session of its own.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { ModelRetirement } from '../contract/model-retirement.js';
import type { ModelPrice } from '../contract/price.js';

/** The connection of a session was lost and is back. */
export interface RecognitionGap {
  /** Time without a connection, in milliseconds. */
  readonly gapMs: number;
  /** Audio that was heard by nobody: more came in the gap than is kept. 0 when all of it was played again. */
  readonly lostMs: number;
}

/** What a recognition session tells. Texts replace the earlier partial of the same utterance. Who needs no optional one leaves it out. */
export interface SpeechToTextEvents {
  partial(text: string): void;
  /** A piece that will not change any more. Several may make one turn. Empty: nothing is open, an open partial came to nothing. */
  final(text: string): void;
  /** The session cannot go on. Told once; nothing follows. */
  failed(error: Error): void;
  /** Speech began `atMs` into the audio of the session. May repeat, and may be missing before words. */
  speechStarted?(atMs: number): void;
  /** The caller has finished, after the finals of the turn. Only from a recogniser with `ownsTurnTaking`, never without text. */
  turnEnded?(): void;
  /** Audio that is paid for, silence included, since the last time this was told. The rest comes before `close` returns. */
  usage?(usage: { readonly seconds: number }): void;
  reconnected?(gap: RecognitionGap): void;
}

export interface SpeechToTextContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly language: string | undefined;
  readonly events: SpeechToTextEvents;
}

export interface SpeechToTextSession {
  /** One 20 ms frame, 16 kHz PCM. Valid until the method returns. May be called from the start, before there is a connection. */
  pushAudio(frame: Int16Array): void;
  /** The caller seems to have finished: answer soon with what is still open, as a `final`. An empty one says that nothing is. */
  finishUtterance(): void;
  /** Only there in the simulated recogniser: the text of what the simulated caller says. */
  pushSpokenText?(segment: { id: string; text: string; final: boolean }): void;
  /** Idempotent. No event follows. */
  close(): void;
}

export interface SpeechToText {
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What the vendor charges for the model. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  /** The vendor stops the model: until when it is there, and what to take instead. */
  readonly retirement?: ModelRetirement | undefined;
  /** The recogniser decides when the caller has finished, and tells `turnEnded`. @default false */
  readonly ownsTurnTaking?: boolean;
  /** @throws ConfigError when a setting is missing that is needed now. */
  open(context: SpeechToTextContext): SpeechToTextSession;
  /** @throws ConfigError for a setting, like a key, that every session needs and that is missing. */
  assertConfigured?(): void;
}
