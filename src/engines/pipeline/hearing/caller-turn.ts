// What the caller says and presses, until it is complete: sound and words are gathered, the end of the turn is found, and the
// recognizer is asked for what it still has.
import type { EndOfTurn, TurnTimes } from '../../../conversation/floor.js';
import { FRAME_MS } from '../../../audio/format.js';
import type { TranscriptEntry } from '../../../contract/call-record.js';
import type { SpokenPiece } from '../../../conversation/language.js';
import type { PieceLanguage } from '../../../providers/speech-to-text.js';
import type { Untaken } from '../../../conversation/state.js';
import { LIMITS } from '../../../conversation/limits.js';
import { Endpointing } from './endpointing.js';
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
  /** Speech has begun `beforeMs` before this frame. */
  speechStarted(beforeMs: number): void;
  /** There is new text: all of it so far. */
  words(text: string, piece: { isFinal: boolean }): void;
  /** The caller has gone quiet, or speaks without end. */
  quiet(end: EndOfTurn): void;
  /** Asks the recognizer for what it still has. */
  finishUtterance(): void;
  /** Keys have become complete, and nothing else is waited for that they could be answered with. */
  keysComplete(): void;
  /** Everything there is has come, which may be nothing. */
  complete(times: TurnTimes): void;
}

export interface CallerTurnOptions {
  readonly context: EngineContext;
  readonly settings: TurnTakingSettings;
  readonly lexicon: Lexicon;
  /** The recognizer tells the end of a turn. */
  readonly isToldEnds: boolean;
  readonly tell: (entry: TranscriptEntry) => void;
  readonly turnIndex: () => number;
  readonly isEcho: (text: string, piece: { isFinal: boolean; soundBeganAt: number | undefined }) => boolean;
  readonly events: CallerTurnEvents;
}

/** Words that come later than this behind a sound were not said in it. */
const LATEST_WORDS_MS = 5000;

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
  /** When the caller began to speak, epoch milliseconds, and when their last sound began, on the clock. */
  #startedAt: number | undefined;
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
  /** Keys that no turn has taken, in words. */
  #pressed = '';
  /** Of what no turn has taken, the pieces whose language is known. */
  #pieces: SpokenPiece[] = [];
  #isClosed = false;

  constructor(options: CallerTurnOptions) {
    this.#options = options;
    const { context, settings, lexicon, events, tell, turnIndex } = options;
    const { clock } = context;
    this.#pending = new PendingTurn(clock);
    this.#speech = new UserSpeech({
      tell,
      turnIndex,
      wallNow: () => this.#pieceBeganAt,
      now: () => clock.now(),
    });
    this.#keys = new PressedKeys({
      clock,
      pauseMs: settings.keyPauseMs,
      onComplete: (keys) => this.#keysComplete(keys),
    });
    this.#endpointing = new Endpointing({
      clock,
      lexicon,
      waits: {
        baseMs: settings.silenceMs,
        completeMs: settings.silenceAfterSentenceMs,
        openMs: settings.silenceAfterOpenEndMs,
        maxMs: settings.maxSilenceMs,
      },
      guardOnly: options.isToldEnds,
      onEndOfTurn: (end) => events.quiet(this.#withItsSound(end)),
    });
  }

  /** Frees nothing when it throws. */
  start(): void {
    this.#activity = createVoiceActivity();
  }

  /** True while the caller makes a sound, or words are still expected of one. */
  get isActive(): boolean {
    return this.#endpointing.active || this.#pending.isOpen;
  }

  get isSounding(): boolean {
    return this.#endpointing.active;
  }

  /** True when there should be words of what the caller has said since the recognizer's last text. */
  get hasSpokenWordless(): boolean {
    return this.#wordlessMs >= SPEECH_MS;
  }

  /** What no turn has taken. */
  get untaken(): Untaken {
    return { entries: this.#speech.entries, keys: this.#pressed, isWordless: this.hasSpokenWordless };
  }

  get text(): string {
    return this.#speech.text;
  }

  get hasKeys(): boolean {
    return this.#pressed !== '';
  }

  /** Listens to a frame, which has not `passed` yet. */
  hear(frame: Int16Array): HeardFrame {
    const heard = this.#activity?.hear(frame) ?? UNHEARD;
    if (heard.voiced) this.#wordlessMs += FRAME_MS;
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
    if (text.trim() !== '') this.#wordlessMs = 0;
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
    if (this.#pending.isOpen) {
      if (this.#speech.settled || (isFinal && after === '')) this.#complete();
      else if (after !== before) {
        this.#pending.extend(LIMITS.words.openMs, LIMITS.words.longestMs);
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
    if (this.#pending.isOpen) this.#pending.limit(LIMITS.words.noneMs, () => this.#complete());
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
    if (this.#endpointing.finish() || this.#pending.isOpen || this.#speech.text === '') return;
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
  awaitText(end: EndOfTurn, { isResuming, longestMs }: { isResuming: boolean; longestMs: number }): void {
    if (this.#isClosed) return;
    const pending = this.#pending.open(end);
    this.#options.events.finishUtterance();
    // The recognizer may have answered at once, or failed.
    if (!this.#pending.isStill(pending)) return;
    const { text, settled, isWithdrawn } = this.#speech;
    const isWordless = text === '' && !isWithdrawn;
    if (settled || (isWordless && this.hasKeys)) {
      this.#complete();
      return;
    }
    let waitMs: number = text === '' || isWithdrawn ? LIMITS.words.noneMs : LIMITS.words.openMs;
    const silentUntil = end.endedAt + this.#options.settings.resumeAfterMs;
    if (isWordless && isResuming)
      waitMs = Math.min(longestMs, Math.max(0, silentUntil - pending.turnEndedAt));
    this.#pending.limit(waitMs, () => this.#complete());
  }

  /** Takes what was said and pressed, for turn `turnIndex`. `pieces`: those of what was said whose language is known. */
  take(turnIndex: number): { said: string; startedAt: number; pieces: readonly SpokenPiece[] } {
    const said = `${this.#speech.take(turnIndex)} ${this.#pressed}`.trim();
    const startedAt = this.#startedAt ?? this.#options.context.clock.wallNow();
    this.#startedAt = undefined;
    this.#pieceEndedAt = undefined;
    this.#pressed = '';
    const pieces = this.#pieces;
    this.#pieces = [];
    if (said !== '') this.#unheardSince = undefined;
    return { said, startedAt, pieces };
  }

  /** What was said was no turn. */
  dismiss(): void {
    this.#pieces = [];
    this.#pieceEndedAt = undefined;
    this.#speech.dismiss();
  }

  /** The sound was none, though words may stay for later. */
  forgetSound(): void {
    this.#startedAt = undefined;
  }

  /** What the caller is in the middle of is no longer waited for. Words and keys stay. */
  interruptListening(): void {
    this.#pending.take();
    this.#endpointing.reset();
    this.#addKeys(this.#keys.take());
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
    const began = this.#startedAt ?? this.#options.context.clock.wallNow();
    return this.#pieceEndedAt === undefined ? began : Math.max(this.#burstAt, this.#pieceEndedAt);
  }

  #speechStarted(): void {
    const { clock } = this.#options.context;
    const beganAt = clock.now() - SPEECH_START_MS;
    this.#burstAt = clock.wallNow() - SPEECH_START_MS;
    this.#startedAt ??= this.#burstAt;
    if (!this.#endpointing.active) this.#soundBeganAt = beganAt;
    this.#wordlessSince = Number.NEGATIVE_INFINITY;
    this.#unheardSince ??= beganAt;
    this.#speech.speechStarted();
    this.#pending.revoke();
    this.#endpointing.speechStarted(beganAt);
    // What they have said before belongs to the turn.
    if (this.#speech.text !== '') this.#endpointing.goesOn();
    this.#options.events.speechStarted(SPEECH_START_MS - FRAME_MS);
  }

  #keysComplete(keys: string): void {
    this.#addKeys(keys);
    if (!this.isActive) this.#options.events.keysComplete();
  }

  #addKeys(keys: string): void {
    if (keys !== '') this.#pressed = `${this.#pressed} ${keysAsText(keys)}`.trim();
  }

  /** A caller whose words come late has been quiet since the end of the sound in which they were said. */
  #withItsSound(end: EndOfTurn): EndOfTurn {
    const endedAt = this.#wordlessSince;
    this.#wordlessSince = Number.NEGATIVE_INFINITY;
    return end.endedAt - endedAt > LATEST_WORDS_MS ? end : { ...end, endedAt };
  }

  /** Keys that are still being pressed belong to the turn: they are waited for. */
  #complete(): void {
    const times = this.#pending.take();
    if (times === undefined) return;
    if (this.#speech.text === '') this.#wordlessSince = times.speechEndedAt;
    if (!this.#keys.isOpen) this.#options.events.complete(times);
  }
}

/** Numbers are written alike in every language. A recognizer of the application may be plain JavaScript. */
function pieceOf(text: string, language: PieceLanguage | undefined): SpokenPiece[] {
  const { tag, confidence = 1 } = language ?? {};
  if (typeof tag !== 'string' || !(confidence >= 0 && confidence <= 1)) return [];
  return [{ tag, words: countWords(text.replace(/\p{N}+/gu, ' ')), confidence }];
}
