// What the caller says and presses, until it is complete: the end of the turn is found in their sound and words, and the recognizer is asked
// for what it still has. What no turn has taken is in the state of the conversation.
import type { EndOfTurn } from '../../../conversation/floor.js';
import { FRAME_MS } from '../../../audio/format.js';
import type { SpokenPiece } from '../../../conversation/language.js';
import type { PieceLanguage } from '../../../providers/speech-to-text.js';
import { LATEST_WORDS_MS, type Taken, type Untaken } from '../../../conversation/untaken.js';
import { LIMITS } from '../../../conversation/limits.js';
import { Endpointing } from './endpointing.js';
import type { Conversation } from '../../conversation.js';
import type { EngineContext } from '../../engine.js';
import type { HeardFrame } from './heard-frame.js';
import { countWords, type Lexicon } from '../../languages/lexicon.js';
import { PendingTurn } from './pending-turn.js';
import { keysAsText, PressedKeys } from '../../pressed-keys.js';
import { SpeechDetector } from '../../speech-detector.js';
import type { TurnTakingSettings } from '../../turn-taking.js';
import { UserSpeech } from './user-speech.js';
import { createVoiceActivity, type VoiceActivity } from '../../voice-activity.js';

export interface CallerTurnEvents {
  /** Speech has begun `beforeMs` before this frame, and `startedAt` in epoch milliseconds. */
  speechStarted(began: { beforeMs: number; startedAt: number }): void;
  /** There is new text: all of it so far. */
  words(text: string, piece: { isFinal: boolean }): void;
  /** The caller has gone quiet, or speaks without end. */
  quiet(end: EndOfTurn): void;
  /** Asks the recognizer for what it still has. */
  finishUtterance(): void;
  /** Keys have become complete. */
  keysComplete(keys: string): void;
  /** Everything there is has come, which may be nothing. */
  complete(): void;
}

export interface CallerTurnOptions {
  readonly context: EngineContext;
  readonly settings: TurnTakingSettings;
  readonly lexicon: Lexicon;
  /** The recognizer tells the end of a turn. */
  readonly isToldEnds: boolean;
  readonly conversation: Pick<Conversation, 'tell' | 'turns' | 'untaken'>;
  readonly turnIndex: () => number;
  readonly isEcho: (text: string, piece: { isFinal: boolean; soundBeganAt: number | undefined }) => boolean;
  readonly events: CallerTurnEvents;
}

/** A sound of this length is more than a cough: there should be words of it. */
const SPEECH_MS = 600;

/** Before it listens. */
const UNHEARD: HeardFrame = { voiced: false, dbfs: Number.NEGATIVE_INFINITY };

/** Speech is recognized as such after three voiced frames. */
const SPEECH_START_MS = 3 * FRAME_MS;

export class CallerTurn {
  readonly #options: CallerTurnOptions;
  readonly #speech: UserSpeech;
  readonly #keys: PressedKeys;
  readonly #endpointing: Endpointing;
  readonly #pending: PendingTurn;
  #detector = new SpeechDetector();
  #activity: VoiceActivity | undefined;
  /** When the caller's last sound began, on the clock. */
  #soundBeganAt: number | undefined;
  /** When their last sound began, and when the piece of text before the next one was whole, in epoch milliseconds. */
  #burstAt = 0;
  #pieceEndedAt: number | undefined;
  /** Since when the caller makes sounds that no final text came of, on the clock. */
  #unheardSince: number | undefined;
  /** When a sound ended that no words have come of, though they were waited for, on the clock. */
  #wordlessSince = Number.NEGATIVE_INFINITY;
  /** Voice of which no text has come. */
  #wordlessMs = 0;
  /** Of what no turn has taken, the pieces whose language is known. */
  #pieces: SpokenPiece[] = [];
  #isClosed = false;

  constructor(options: CallerTurnOptions) {
    this.#options = options;
    const { context, conversation, settings, lexicon, events, turnIndex } = options;
    const { clock } = context;
    this.#pending = new PendingTurn(clock, () => this.#complete());
    this.#speech = new UserSpeech({
      tell: (entry, { isTaken }) => conversation.tell({ type: 'caller.words', entry, isTaken }),
      entries: () => conversation.untaken.entries,
      suffix: () => conversation.turns.suffix,
      turnIndex,
      wallNow: () => this.#pieceBeganAt,
      now: () => clock.now(),
    });
    this.#keys = new PressedKeys({
      clock,
      pauseMs: settings.keyPauseMs,
      onComplete: (keys) => events.keysComplete(keysAsText(keys)),
    });
    this.#endpointing = new Endpointing({
      clock,
      lexicon,
      silences: settings,
      isToldEnds: options.isToldEnds,
      onEndOfTurn: (end) => events.quiet(this.#withItsSound(end)),
    });
  }

  /** Frees nothing when it throws. */
  start(): void {
    this.#activity = createVoiceActivity();
  }

  /** True while the caller makes a sound, or words are still expected of one. */
  get isActive(): boolean {
    const { isSounding, ended } = this.#untaken;
    return isSounding || ended !== null;
  }

  get isSounding(): boolean {
    return this.#untaken.isSounding;
  }

  /** Listens to a frame, which has not `passed` yet. */
  hear(frame: Int16Array): HeardFrame {
    const heard = this.#activity?.hear(frame) ?? UNHEARD;
    if (heard.voiced) {
      this.#wordlessMs += FRAME_MS;
      if (this.#wordlessMs === SPEECH_MS)
        this.#options.conversation.tell({ type: 'caller.wordless', is: true });
    }
    if (this.#detector.update(heard.voiced)) this.#speechStarted();
    return heard;
  }

  /** Everybody has heard the frame: it may be the last of the turn. */
  passed({ voiced }: HeardFrame): void {
    this.#endpointing.frame(voiced);
  }

  /**
   * The recognizer has given text. An empty final says that nothing is open; where its service has not answered, not that nothing was said.
   */
  recognized(
    text: string,
    {
      isFinal,
      isHeld,
      isUnanswered,
      language,
    }: {
      isFinal: boolean;
      isHeld: boolean;
      isUnanswered: boolean;
      language?: PieceLanguage | undefined;
    },
  ): void {
    const before = this.#speech.text;
    if (text.trim() !== '') this.#hasWords();
    const { isEcho, events, context } = this.#options;
    if (isFinal && !isUnanswered && (text.trim() !== '' || !this.isSounding))
      this.#unheardSince = this.isSounding ? context.clock.now() : undefined;
    const said = isEcho(text, { isFinal, soundBeganAt: this.#soundBeganAt }) ? '' : text;
    if (isFinal) this.#pieces.push(...pieceOf(said, language));
    if (!isFinal) this.#speech.partial(said);
    else if (this.#speech.final(said)) this.#pieceEndedAt = context.clock.wallNow();
    const after = this.#speech.text;
    // Who was told of the text may have ended the call.
    if (this.#isClosed) return;
    if (this.#untaken.ended !== null) {
      if (this.#speech.settled || (isFinal && after === '')) this.#complete();
      else if (after !== before) {
        this.#pending.extend(LIMITS.words.openMs, this.#untaken.ended.turnEndedAt + LIMITS.words.longestMs);
        if (after !== '') events.words(after, { isFinal });
      }
      return;
    }
    if (after === before || after === '' || isHeld) return;
    this.#endpointing.text(after, { isFinal });
    events.words(after, { isFinal });
  }

  /** Words that were open will be recognized once more, by another recognizer. Who has finished waits for them, and is still unheard. */
  withdrawn(): void {
    this.#speech.withdraw();
    if (this.#untaken.ended !== null) this.#pending.limit(LIMITS.words.noneMs);
  }

  /** The recognizer has heard all that was said so far, and told what it made of it. */
  settled(): void {
    if (!this.isActive) this.#unheardSince = undefined;
  }

  /** What was taken back is played again, to whoever recognizes it. */
  heardAgain(): void {
    this.#speech.heardAgain();
  }

  /** The recognizer hears speech where our own detector may not. Only opens what silence closes again. */
  soundRecognized(): void {
    if (!this.#endpointing.active) this.#endpointing.speechStarted(this.#options.context.clock.now());
  }

  /** The recognizer says that the caller has finished. */
  endRecognized(): void {
    if (this.#endpointing.finish() || this.#untaken.ended !== null || this.#speech.text === '') return;
    this.#options.events.quiet({ endedAt: this.#options.context.clock.now(), isCutShort: false });
  }

  press(key: string): void {
    if (!this.#isClosed) this.#keys.press(key);
  }

  /** What the agent has just said: it may have asked for a number. */
  agentSaid(text: string): void {
    this.#endpointing.agentSaid(text);
  }

  /**
   * Waits for what the recognizer still has; for words after a wordless interruption until `resumeAfterMs` of silence, and `longestMs`
   * at most.
   */
  awaitText({ isResuming, longestMs }: { isResuming: boolean; longestMs: number }): void {
    const { ended } = this.#untaken;
    if (this.#isClosed || ended === null) return;
    this.#pending.cancel();
    this.#options.events.finishUtterance();
    // The recognizer may have answered at once, or failed.
    if (this.#untaken.ended !== ended) return;
    const { text, settled, isWithdrawn } = this.#speech;
    const isWordless = text === '' && !isWithdrawn;
    if (settled || (isWordless && this.#untaken.keys !== '')) {
      this.#complete();
      return;
    }
    let waitMs: number = text === '' || isWithdrawn ? LIMITS.words.noneMs : LIMITS.words.openMs;
    const silentUntil = ended.speechEndedAt + this.#options.settings.resumeAfterMs;
    if (isWordless && isResuming) waitMs = Math.min(longestMs, Math.max(0, silentUntil - ended.turnEndedAt));
    this.#pending.limit(waitMs);
  }

  /** A turn has taken what was said and pressed. Returns the pieces of it whose language is known. */
  taken({ text, unfinished }: Taken): readonly SpokenPiece[] {
    this.#speech.taken(unfinished);
    if (text !== '') this.#unheardSince = undefined;
    this.#pieceEndedAt = undefined;
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** What was said was no turn. */
  dismiss(): void {
    this.#pieces = [];
    this.#pieceEndedAt = undefined;
    this.#speech.dismiss();
  }

  /** What the caller is in the middle of is no longer waited for. Words and keys stay. */
  interruptListening(): void {
    this.#pending.cancel();
    this.#endpointing.reset();
    const keys = this.#keys.take();
    if (keys !== '') this.#options.conversation.tell({ type: 'pressed', text: keysAsText(keys) });
    this.#detector = new SpeechDetector();
  }

  /**
   * What is half recognized is forgotten as far as it will be heard again. Returns since when, on the clock; undefined where everything that was
   * heard has its text.
   */
  forgetOpen(): number | undefined {
    if (this.#unheardSince !== undefined) {
      this.#speech.withdraw();
      this.#speech.final('');
    }
    return this.#unheardSince;
  }

  close(): void {
    this.#isClosed = true;
    this.interruptListening();
    this.#activity?.close();
  }

  /** When the caller began to say the piece of text that comes next, epoch milliseconds: of a turn's first one as the turn began. */
  get #pieceBeganAt(): number {
    const began = this.#untaken.startedAt ?? this.#options.context.clock.wallNow();
    return this.#pieceEndedAt === undefined ? began : Math.max(this.#burstAt, this.#pieceEndedAt);
  }

  #speechStarted(): void {
    const { clock } = this.#options.context;
    const beganAt = clock.now() - SPEECH_START_MS;
    this.#burstAt = clock.wallNow() - SPEECH_START_MS;
    if (!this.#endpointing.active) this.#soundBeganAt = beganAt;
    this.#wordlessSince = Number.NEGATIVE_INFINITY;
    this.#unheardSince ??= beganAt;
    this.#speech.speechStarted();
    this.#endpointing.speechStarted(beganAt);
    // What they have said before belongs to the turn.
    if (this.#speech.text !== '') this.#endpointing.goesOn();
    const beforeMs = SPEECH_START_MS - FRAME_MS;
    this.#options.events.speechStarted({ beforeMs, startedAt: this.#burstAt });
    if (this.#untaken.ended === null) this.#pending.cancel();
  }

  get #untaken(): Untaken {
    return this.#options.conversation.untaken;
  }

  #hasWords(): void {
    this.#wordlessMs = 0;
    if (this.#untaken.isWordless) this.#options.conversation.tell({ type: 'caller.wordless', is: false });
  }

  /** A caller whose words come late has been quiet since the end of the sound in which they were said. */
  #withItsSound(end: EndOfTurn): EndOfTurn {
    const endedAt = this.#wordlessSince;
    this.#wordlessSince = Number.NEGATIVE_INFINITY;
    return end.endedAt - endedAt > LATEST_WORDS_MS ? end : { ...end, endedAt };
  }

  #complete(): void {
    const { ended } = this.#untaken;
    this.#pending.cancel();
    if (ended === null) return;
    if (this.#speech.text === '') this.#wordlessSince = ended.speechEndedAt;
    this.#options.events.complete();
  }
}

/** Numbers are written alike in every language. A recognizer of the application may be plain JavaScript. */
function pieceOf(text: string, language: PieceLanguage | undefined): SpokenPiece[] {
  const { tag, confidence = 1 } = language ?? {};
  if (typeof tag !== 'string' || !(confidence >= 0 && confidence <= 1)) return [];
  return [{ tag, words: countWords(text.replace(/\p{N}+/gu, ' ')), confidence }];
}
