// The caller as far as it can be told: the service says no word on when they began or stopped. Their words come as fragments, when they
// like; how long ago the last sound was the audio itself tells.
import type { Clock, Timer } from '../../../base/clock.js';
import { PCM_16K } from '../../../audio/format.js';
import { SampleReader } from '../../../audio/pcm-bytes.js';
import { KEPT_CHARS } from '../../wire/bounds.js';

export interface GeminiLiveHearingOptions {
  readonly clock: Clock;
  /** Silence by which the service ends the caller's turn. */
  readonly silenceMs: number;
  /** Fragments come. */
  readonly transcribes: boolean;
  /** The caller has begun to speak. */
  readonly started: () => void;
  /** What they said so far. */
  readonly text: (text: { readonly itemId: string; readonly text: string; readonly final: boolean }) => void;
  /** The caller has spoken and is silent, and the service does not show that it noticed. */
  readonly stopped: () => void;
}

interface Item {
  readonly id: string;
  text: string;
  /** Audio that was heard up to the end of the turn; undefined while that has not come. */
  endMs: number | undefined;
  isFinal: boolean;
  /** Nothing came behind it: the service does not see a turn in it, or not yet. */
  isLeft: boolean;
}

/** -45 dBFS: under telephone speech, over line noise. */
const SOUND_RMS = 184;
/** Speech stands out of the noise of the line by so much (8 dB). */
const ABOVE_NOISE = 2.5;
/** The noise is taken to be what was the quietest, and forgotten slowly: some 4 dB in a second. */
const NOISE_RISE = 1.01;

/** Less sound than this is a click, a breath or a door. */
const LEAST_SOUND_MS = 400;

/** What the service has not shown to have noticed so long after the pause behind it was a noise. */
const NOISE_MS = 3000;

/** A sound that is older than this is not the caller's turn. */
const LONGEST_AGO_MS = 10_000;

/** Words are complete when so long none has come, after the turn. */
const SETTLE_MS = 700;
/** How long the first of them may take. */
const NO_WORDS_MS = 2500;
/** How much later than the end of the turn an answer begins, mostly. */
const ANSWER_MS = 1500;

export class GeminiLiveHearing {
  readonly #options: GeminiLiveHearingOptions;
  readonly #reader = new SampleReader();
  #heardMs = 0;
  #soundMs: number | undefined;
  /** Sound since the service has last said anything. */
  #unnoticedMs = 0;
  #noise = SOUND_RMS;
  #item: Item | undefined;
  #count = 0;
  #timer: Timer | undefined;

  constructor(options: GeminiLiveHearingOptions) {
    this.#options = options;
  }

  /** The caller has begun something, and the end of it was not told. */
  get isSpeaking(): boolean {
    return this.#item !== undefined && this.#item.endMs === undefined;
  }

  /** Words of what the caller has said last are there. */
  get hasWords(): boolean {
    return this.#item !== undefined && this.#item.text !== '';
  }

  /** All of them are. */
  get isWorded(): boolean {
    return this.hasWords && this.#item?.isFinal === true;
  }

  /** True when the last sound was shorter ago than the silence that ends a turn. */
  get isSounding(): boolean {
    return this.#soundMs !== undefined && this.#heardMs - this.#soundMs < this.#options.silenceMs;
  }

  /** The caller is silent, and the service is to say something on what they said, or that it has heard it. */
  get awaitsService(): boolean {
    return !this.isSounding && (this.#isExpected || this.#unnoticedMs >= LEAST_SOUND_MS);
  }

  /** The service has heard them begin, and owes the rest. */
  get #isExpected(): boolean {
    return this.isSpeaking && this.#item?.isLeft === false;
  }

  /** The service is there. */
  noticed(): void {
    this.#unnoticedMs = 0;
  }

  /** Audio of the caller, whether the service has it yet or not. */
  listen(audio: Uint8Array): void {
    const samples = this.#reader.read(audio);
    if (samples.length === 0) return;
    let energy = 0;
    for (const sample of samples) energy += sample * sample;
    const rms = Math.sqrt(energy / samples.length);
    const ms = (samples.length * 1000) / PCM_16K.sampleRateHz;
    this.#heardMs += ms;
    if (rms > Math.max(SOUND_RMS, this.#noise * ABOVE_NOISE)) {
      this.#soundMs = this.#heardMs;
      this.#unnoticedMs += ms;
    } else if (this.#heardMs - (this.#soundMs ?? 0) > this.#options.silenceMs + NOISE_MS) this.noticed();
    this.#noise = Math.min(Math.max(1, rms), this.#noise * NOISE_RISE);
  }

  /** The caller speaks. */
  began(): void {
    if (!this.isSpeaking) this.#begin();
  }

  /** Words have come, as they stand in the text. */
  grew(delta: string, { isFinished }: { isFinished: boolean }): void {
    // The end of words that are complete already.
    if (delta === '' && this.#item?.isFinal !== false) return;
    const item = this.#itemOfWords();
    item.text = (item.text + delta).slice(0, KEPT_CHARS);
    if (isFinished && (item.endMs !== undefined || !this.isSounding)) this.#finish(item);
    else if (item.text !== '') this.#tell(item);
  }

  /** Starts to wait for what follows on the words so far. */
  expect(): void {
    if (this.#item !== undefined && !this.#item.isFinal) this.#wait(this.#item);
  }

  /** The turn is over: which item it was, and how long ago its last sound. */
  ended(): { readonly itemId: string; readonly agoMs: number } {
    const item = this.isSpeaking && this.#item !== undefined ? this.#item : this.#create();
    item.endMs = this.#heardMs;
    if (!item.isFinal) this.#wait(item);
    const agoMs = this.#soundMs === undefined ? Number.POSITIVE_INFINITY : this.#heardMs - this.#soundMs;
    return { itemId: item.id, agoMs: agoMs > LONGEST_AGO_MS ? this.#options.silenceMs : agoMs };
  }

  /** The connection is gone. Words are complete as they are; what has none may be heard again. */
  lost(): void {
    if (this.hasWords) this.reset();
    else this.#timer?.cancel();
  }

  /** Another connection knows none of what has not come. */
  reset(): void {
    this.#settle();
    this.#item = undefined;
    this.#unnoticedMs = 0;
  }

  /** Idempotent. */
  close(): void {
    this.#timer?.cancel();
  }

  /** Words may be late. They belong to the previous turn until something was heard after it, and while none of its words have come. */
  #itemOfWords(): Item {
    const item = this.#item;
    if (item === undefined || item.isFinal) return this.#begin();
    const isOver = item.endMs !== undefined && item.text !== '' && (this.#soundMs ?? 0) > item.endMs;
    return isOver ? this.#begin() : item;
  }

  #begin(): Item {
    const item = this.#create();
    this.#options.started();
    return item;
  }

  #create(): Item {
    this.#settle();
    this.#count += 1;
    this.#item = { id: `caller-${this.#count}`, text: '', endMs: undefined, isFinal: false, isLeft: false };
    return this.#item;
  }

  #wait(item: Item): void {
    const { clock, silenceMs, transcribes, stopped } = this.#options;
    this.#timer?.cancel();
    item.isLeft = false;
    if (item.endMs !== undefined) {
      if (!transcribes) item.isFinal = true;
      else this.#timer = clock.after(item.text === '' ? NO_WORDS_MS : SETTLE_MS, () => this.#finish(item));
      return;
    }
    this.#timer = clock.after(silenceMs + ANSWER_MS, () => {
      if (this.isSounding) this.#wait(item);
      else {
        item.isLeft = true;
        stopped();
      }
    });
  }

  /** What has not come of the item before does not come. */
  #settle(): void {
    this.#timer?.cancel();
    if (this.#item !== undefined && !this.#item.isFinal && this.#options.transcribes)
      this.#finish(this.#item);
  }

  #finish(item: Item): void {
    this.#timer?.cancel();
    item.isFinal = true;
    this.#tell(item);
  }

  #tell({ id: itemId, text, isFinal: final }: Item): void {
    this.#options.text({ itemId, text, final });
  }
}
