// Has the caller finished? Silence, measured in frames, against a wait that depends on how the words end; where the line is never silent,
// words that no longer grow.
import type { EndOfTurn } from '../../../conversation/floor.js';
import { FRAME_MS } from '../../../audio/format.js';
import type { Clock, Timer } from '../../../base/clock.js';
import { LIMITS } from '../../../conversation/limits.js';
import { type Lexicon, wordsOf } from '../../languages/lexicon.js';
import type { TurnTakingSettings } from '../../turn-taking.js';
import { countDigits, endsInDigits, type WantedDigits, wantedDigits } from './spoken-digits.js';

/** How long a silence is that ends a turn. */
export type Silences = Pick<
  TurnTakingSettings,
  'silenceMs' | 'silenceAfterSentenceMs' | 'silenceAfterOpenEndMs' | 'maxSilenceMs'
>;

/** A sound that lasts this many times the longest silence and of which a recognizer has written nothing has no words; less often where it is known to write while it hears. */
const WORDLESS_FACTOR = 3;

const TRAILING_OFF = /(\.\.\.|…)["'”’»)\]]*$/;
const SENTENCE_END = /[.?!。？！．।॥؟۔]["'”’»)\]]*$/;

/** What decides how long a pause may be, beside the words before it. */
export interface EndingHints {
  readonly silences: Silences;
  readonly lexicon: Lexicon;
  /** The digits that the agent has asked for. */
  readonly digits?: WantedDigits | undefined;
}

/** How long silence must last after `text` until the caller has finished. */
export function waitAfter(text: string, { silences, lexicon, digits }: EndingHints): number {
  const said = text.trim();
  const { silenceMs, silenceAfterSentenceMs: completeMs, silenceAfterOpenEndMs: openMs } = silences;
  const { shortAnswers, openEndings } = lexicon;
  // Recognizers put a full stop behind every group of digits, so the count decides.
  if (digits !== undefined && endsInDigits(said)) {
    const isThere = countDigits(said) >= digits.count;
    if (!isThere) return openMs;
    return digits.isExact ? completeMs : silenceMs;
  }
  // Three dots, or the one sign for them, are a voice that trails off.
  if (TRAILING_OFF.test(said)) return openMs;
  if (SENTENCE_END.test(said)) return completeMs;
  const words = wordsOf(said);
  if (shortAnswers.has(words.join(' '))) return completeMs;
  return openEndings.has(words.at(-1) ?? '') ? openMs : silenceMs;
}

export interface EndpointingOptions {
  readonly clock: Clock;
  readonly onEndOfTurn: (end: EndOfTurn) => void;
  readonly silences: Silences;
  readonly lexicon: Lexicon;
  /** The recognizer tells the end of a turn: silence ends one only after `maxSilenceMs`. */
  readonly isToldEnds: boolean;
}

/** `shortAnswers`: those of the language. */
interface Needed {
  readonly text: string;
  readonly digits: WantedDigits | undefined;
  readonly shortAnswers: Lexicon['shortAnswers'];
  readonly ms: number;
}

/** Decides the end of the caller's turn. It listens from `speechStarted` or the first text until it has decided or is reset. */
export class Endpointing {
  readonly #clock: Clock;
  readonly #onEndOfTurn: (end: EndOfTurn) => void;
  readonly #silences: Silences;
  readonly #lexicon: Lexicon;
  readonly #isToldEnds: boolean;
  #digits: WantedDigits | undefined;
  #active = false;
  #startedAt = 0;
  #voicedAt = 0;
  #silenceMs = 0;
  #text = '';
  /** There are words, which may be older than `text`; they have last grown at `textAt`. */
  #hasWords = false;
  #textAt = 0;
  /** The recognizer has written words while they were said. */
  #hasInterims = false;
  /** A sound has begun since the last text. */
  #hasNewSound = false;
  #guard: Timer | undefined;
  /** How long silence must last after which text, of all that it depends on: it is asked for with every frame of a turn. */
  #needed: Needed | undefined;

  constructor(options: EndpointingOptions) {
    this.#clock = options.clock;
    this.#onEndOfTurn = options.onEndOfTurn;
    this.#silences = options.silences;
    this.#lexicon = options.lexicon;
    this.#isToldEnds = options.isToldEnds;
  }

  /** True from the first sound or word of a turn until its end. */
  get active(): boolean {
    return this.#active;
  }

  /** Speech has started; `startedAt` lies a few frames back. */
  speechStarted(startedAt: number): void {
    if (!this.#active) this.#begin(startedAt);
    this.#hasNewSound = true;
    this.#heardVoice();
  }

  /** There are words of before that the sound which has begun may go on with. */
  goesOn(): void {
    if (!this.#hasWords) this.#textAt = this.#clock.now();
    this.#hasWords = true;
  }

  /** A frame has passed. */
  frame(voiced: boolean): void {
    if (!this.#active) return;
    if (voiced) this.#heardVoice();
    else this.#silenceMs += FRAME_MS;
    this.#decide();
  }

  /** All text of the turn so far. Text without any sound is a turn, too: the recognizer hears more than the detector. */
  text(text: string, { isFinal = true } = {}): void {
    this.#hasInterims ||= !isFinal;
    this.#hasNewSound = false;
    if (text !== this.#text) this.#textAt = this.#clock.now();
    this.#text = text;
    this.#hasWords = true;
    if (this.#active) return;
    this.#begin(this.#clock.now());
    this.#heardVoice();
  }

  /** What the agent has just said: it may have asked for a number. */
  agentSaid(text: string): void {
    this.#digits = wantedDigits(text);
  }

  /** Somebody who knows says that the caller has finished. Returns false when there was no turn. */
  finish(): boolean {
    if (!this.#active) return false;
    this.#finish();
    return true;
  }

  /** Forgets the turn. */
  reset(): void {
    this.#active = false;
    this.#text = '';
    this.#hasWords = false;
    this.#guard?.cancel();
    this.#guard = undefined;
  }

  #begin(startedAt: number): void {
    this.#active = true;
    this.#startedAt = startedAt;
  }

  #heardVoice(): void {
    this.#voicedAt = this.#clock.now();
    this.#silenceMs = 0;
    if (this.#guard === undefined) this.#watch(this.#silences.maxSilenceMs);
  }

  /** Frames are the measure of silence. Where they stop coming, the clock must end the turn. */
  #watch(delayMs: number): void {
    this.#guard = this.#clock.after(delayMs, () => {
      const leftMs = this.#voicedAt + this.#silences.maxSilenceMs - this.#clock.now();
      if (leftMs > 0) this.#watch(leftMs);
      else this.#finish();
    });
  }

  #decide(): void {
    const lastedMs = this.#clock.now() - this.#startedAt;
    const wait = this.#isToldEnds ? this.#silences.maxSilenceMs : this.#silenceNeededMs();
    const stillMs = this.#clock.now() - this.#textAt;
    const isStill = this.#hasWords ? stillMs >= LIMITS.words.stillMs + wait : lastedMs >= this.#wordlessMs;
    const mayBeSaying = this.#hasWords && this.#hasNewSound && !this.#hasInterims;
    const long = lastedMs >= LIMITS.monologue.longMs && this.#silenceMs >= LIMITS.monologue.pauseMs;
    if (this.#silenceMs >= wait) this.#finish();
    else if (isStill && !mayBeSaying) this.#finishInSound();
    else if (long || lastedMs >= LIMITS.monologue.longestMs) this.#finish({ isCutShort: true });
  }

  get #wordlessMs(): number {
    return this.#silences.maxSilenceMs * (this.#hasInterims ? 1 : WORDLESS_FACTOR);
  }

  #finishInSound(): void {
    const endedAt = this.#hasWords ? this.#textAt : this.#voicedAt;
    this.reset();
    this.#onEndOfTurn({ endedAt, isCutShort: false, isInSound: true });
  }

  #silenceNeededMs(): number {
    const text = this.#text;
    const digits = this.#digits;
    const silences = this.#silences;
    const lexicon = this.#lexicon;
    const { shortAnswers } = lexicon;
    const known = this.#needed;
    if (known?.text === text && known.digits === digits && known.shortAnswers === shortAnswers)
      return known.ms;
    const ms = Math.min(waitAfter(text, { silences, lexicon, digits }), silences.maxSilenceMs);
    this.#needed = { text, digits, shortAnswers, ms };
    return ms;
  }

  #finish({ isCutShort = false } = {}): void {
    const endedAt = this.#voicedAt;
    this.reset();
    this.#onEndOfTurn({ endedAt, isCutShort });
  }
}
