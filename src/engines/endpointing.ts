// Has the caller finished? Silence, measured in frames, against a wait that depends on how the words end.
import { FRAME_MS } from '../audio/format.js';
import type { Clock, Timer } from '../base/clock.js';

/** Waits in milliseconds. Source of the defaults: what published voice agents use; people pause about 200 ms between turns. */
export interface EndpointingWaits {
  readonly baseMs: number;
  /** After text that ends a sentence, or is a known short answer. */
  readonly completeMs: number;
  /** After text that ends in a conjunction or a filler. */
  readonly openMs: number;
  /** Never longer, whatever the text says and also when no frames arrive. */
  readonly maxMs: number;
}

export const DEFAULT_WAITS: EndpointingWaits = { baseMs: 500, completeMs: 300, openMs: 1200, maxMs: 3000 };

/** A monologue ends at its next short pause after a minute, and in any case after one and a half. */
const LONG_TURN_MS = 60_000;
const LONG_TURN_PAUSE_MS = 200;
const LONGEST_TURN_MS = 90_000;

const SHORT_ANSWERS = new Set(
  'yes|no|yeah|yep|nope|sure|okay|ok|right|correct|thanks|thank you|please|hello|hi|bye|goodbye'.split('|'),
);
const OPEN_ENDINGS = new Set(
  'and|but|or|so|because|if|when|with|to|for|the|a|an|of|my|is|um|uh|er|erm|hmm|well|like|then|that'.split(
    '|',
  ),
);

/** How long silence must last after `text` until the caller has finished. */
export function waitAfter(text: string, waits: EndpointingWaits = DEFAULT_WAITS): number {
  const said = text.trim().toLowerCase();
  const words = said.replace(/[^\p{L}\p{N}' ]+/gu, ' ').trim();
  if (OPEN_ENDINGS.has(words.split(/\s+/).at(-1) ?? '') && !SHORT_ANSWERS.has(words) && !/[.?!]$/.test(said))
    return waits.openMs;
  // Three dots, or the one sign for them, are a voice that trails off.
  if (/(\.\.\.|…)$/.test(said)) return waits.openMs;
  if (/[.?!]["')\]]*$/.test(said) || SHORT_ANSWERS.has(words)) return waits.completeMs;
  return waits.baseMs;
}

export interface EndpointingOptions {
  readonly clock: Clock;
  /** The caller has finished. `endedAt` is the clock's time of the last voiced frame. */
  readonly onEndOfTurn: (endedAt: number) => void;
  readonly waits?: EndpointingWaits;
}

/** Decides the end of the caller's turn. It listens from `speechStarted` or the first text until it has decided or is reset. */
export class Endpointing {
  readonly #clock: Clock;
  readonly #onEndOfTurn: (endedAt: number) => void;
  readonly #waits: EndpointingWaits;
  #active = false;
  #startedAt = 0;
  #voicedAt = 0;
  #silenceMs = 0;
  #text = '';
  #guard: Timer | undefined;

  constructor(options: EndpointingOptions) {
    this.#clock = options.clock;
    this.#onEndOfTurn = options.onEndOfTurn;
    this.#waits = options.waits ?? DEFAULT_WAITS;
  }

  /** True from the first sound or word of a turn until its end. */
  get active(): boolean {
    return this.#active;
  }

  /** Speech has started; `startedAt` lies a few frames back. */
  speechStarted(startedAt: number): void {
    if (!this.#active) this.#begin(startedAt);
    this.#heardVoice();
  }

  /** A frame has passed. */
  frame(voiced: boolean): void {
    if (!this.#active) return;
    if (voiced) this.#heardVoice();
    else this.#silenceMs += FRAME_MS;
    this.#decide();
  }

  /** All text of the turn so far. Text without any sound is a turn, too: the recogniser hears more than the detector. */
  text(text: string): void {
    this.#text = text;
    if (this.#active) return;
    this.#begin(this.#clock.now());
    this.#heardVoice();
  }

  /** Forgets the turn. */
  reset(): void {
    this.#active = false;
    this.#text = '';
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
    if (this.#guard === undefined) this.#watch(this.#waits.maxMs);
  }

  /** Frames are the measure of silence. Where they stop coming, the clock must end the turn. */
  #watch(delayMs: number): void {
    this.#guard = this.#clock.after(delayMs, () => {
      const leftMs = this.#voicedAt + this.#waits.maxMs - this.#clock.now();
      if (leftMs > 0) this.#watch(leftMs);
      else this.#finish();
    });
  }

  #decide(): void {
    const lastedMs = this.#clock.now() - this.#startedAt;
    const wait = Math.min(waitAfter(this.#text, this.#waits), this.#waits.maxMs);
    const long = lastedMs >= LONG_TURN_MS && this.#silenceMs >= LONG_TURN_PAUSE_MS;
    if (this.#silenceMs >= wait || long || lastedMs >= LONGEST_TURN_MS) this.#finish();
  }

  #finish(): void {
    const endedAt = this.#voicedAt;
    this.reset();
    this.#onEndOfTurn(endedAt);
  }
}
