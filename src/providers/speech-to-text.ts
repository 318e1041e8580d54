// Contract of speech recognition. A provider object is an immutable recipe; every call opens a session of its own.
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { ModelRetirement } from '../contract/model-retirement.js';
import type { ModelPrice } from '../contract/price.js';
import type { Patience } from './patience.js';
import type { Payee, Recovery, Replacement } from './remedy.js';

/** The connection of a session was lost, or could not be made, and is there. `gapMs` is the time without one. */
export interface RecognitionGap extends Recovery {
  /** Audio that was heard by nobody: more came in the gap than is kept. 0 when all of it was played again. */
  readonly lostMs: number;
}

/** The language of a piece, as far as a recognizer tells it. */
export interface PieceLanguage {
  /** BCP 47 tag. */
  readonly tag: string;
  /** How sure it is, or how much of the piece is in that language, 0-1. @default 1 */
  readonly confidence?: number | undefined;
}

/** What a recognition session tells. Texts replace the earlier partial of the same utterance. Who needs no optional one leaves it out. */
export interface SpeechToTextEvents {
  partial(text: string): void;
  /** A piece that will not change any more. Several may make one turn. Empty: nothing is open, an open partial came to nothing. */
  final(text: string, language?: PieceLanguage | undefined): void;
  /** The session cannot go on. Told once; nothing follows. */
  failed(error: Error): void;
  /** Speech began `atMs` into the audio of the session. May repeat, and may be missing before words. */
  speechStarted?(atMs: number): void;
  /** The caller has finished, after the finals of the turn. Only from a recognizer with `ownsTurnTaking`, never without text. */
  turnEnded?(): void;
  /** Audio that is paid for, silence included, since the last time this was told. The rest comes before `close` returns. */
  usage?(usage: RecognitionUsage): void;
  /**
   * There is no connection, and another one is being made: `reconnected` or `failed` follows. Told for each try that did not work. `agoMs`:
   * how long nothing had come of a connection when that was found. @default 0
   */
  troubled?(error: Error, trouble?: { readonly agoMs: number }): void;
  reconnected?(gap: RecognitionGap): void;
  /** Audio of the session up to here, in milliseconds, has its final text. Told before or with that `final`, or never. */
  settled?(untilMs: number): void;
  /** The service has not answered `finishUtterance`: the `final` that follows is what is known without it. */
  unanswered?(): void;
  /** Only from a chain: the open partial is taken back, because its words are heard again. Unlike an empty `final` it says that more comes. */
  withdrawn?(): void;
  /** Only from a chain: another recognizer listens from now on, and has heard again what had no final text. */
  replaced?(replacement: Replacement): void;
}

export interface RecognitionUsage {
  readonly seconds: number;
  /** @default the recognizer that was opened */
  readonly payee?: Payee | undefined;
}

export interface SpeechToTextContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly language: string | undefined;
  /** Those that the caller may speak, `language` among them: each `final` tells which one it is in. @default `language` alone */
  readonly languages?: readonly string[] | undefined;
  /** Audio that is kept until there is a connection, in milliseconds. @default the recognizer's own: what is old when a call begins is of no use */
  readonly keptMs?: number | undefined;
  /** For the words of the caller, of a recognizer that is several. @default nobody waits */
  readonly patience?: Patience | undefined;
  /** True while nobody can take its place: to connect it is tried for as long as a caller can wait. @default never */
  readonly isLast?: (() => boolean) | undefined;
  readonly events: SpeechToTextEvents;
}

/** Text of speech that a simulated caller is saying, sent beside the audio. */
export interface SpokenText {
  /** Names the utterance; partials of one utterance share it. */
  id: string;
  text: string;
  final: boolean;
  /** BCP 47 tag, where the caller tells what they speak. */
  language?: string | undefined;
}

export interface SpeechToTextSession {
  /** One 20 ms frame, 16 kHz PCM. Valid until the method returns. May be called from the start, before there is a connection. */
  pushAudio(frame: Int16Array): void;
  /** The caller seems to have finished: answer soon with what is still open, as a `final`. An empty one says that nothing is. */
  finishUtterance(): void;
  /** Only there in the simulated recognizer: the text of what the simulated caller says. */
  pushSpokenText?(segment: SpokenText): void;
  /** Idempotent. No event follows. */
  close(): void;
}

export interface SpeechToText {
  /** Lets options tell that it stands where another kind belongs. @default told by its methods, as far as they differ */
  readonly kind?: 'stt' | undefined;
  /** `vendor/model`, as records show it. */
  readonly name: string;
  /** What the vendor charges for the model. Without it that is not known, unless `pricing` says so. */
  readonly price?: ModelPrice | undefined;
  /** The vendor stops the model: until when it is there, and what to take instead. */
  readonly retirement?: ModelRetirement | undefined;
  /** The recognizer decides when the caller has finished, and tells `turnEnded`. @default false */
  readonly ownsTurnTaking?: boolean;
  /** Text comes only after an utterance ends. Until the first text, any sound may be the caller's. @default false */
  readonly writesAfterwards?: boolean;
  /** The vendor charges for the time that a session is open, also without audio: it is not opened ahead of the call. @default false */
  readonly paidWhileOpen?: boolean;
  /**
   * What keeps it from telling which of `languages` (BCP 47) a caller speaks, as the end of a sentence that begins with its name; undefined
   * where it can. @default it cannot
   */
  languageObstacle?(languages: readonly string[]): string | undefined;
  /** @throws ConfigError when a setting is missing that is needed now. */
  open(context: SpeechToTextContext): SpeechToTextSession;
  /** @throws ConfigError for a setting, like a key, that every session needs and that is missing. */
  assertConfigured?(): void;
}
