// What the agent says in one answer of a realtime model: items of audio with their words, given to the playout as they come, and the
// account of what was heard of them. An answer with tools has rounds: what is said before the tools, and behind them.
import { type Audio, FRAME_MS, unitsPerMs } from '../../audio/format.js';
import type { LinePlayout } from '../../audio/playout.js';
import type { Clock, Timer } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import { LIMITS } from '../../conversation/limits.js';
import { heardPart } from '../heard-text.js';
import type { Round } from '../tools/rounds.js';
import { estimateMs } from '../syllables.js';
import type { ToolRun } from '../tools/tool-run.js';
import type { AnswerSplit } from '../turn-book.js';

export interface RealtimeSpeechEvents {
  firstFrameSent(at: number): void;
  firstFrameHeard(at: number): void;
  /** What has been heard so far. */
  spoken(text: string): void;
  /** Everything that came so far has been heard, and no more of it is under way. */
  caughtUp(): void;
  /** There is more text than is taken. */
  tooMuch(): void;
}

export interface RealtimeSpeechOptions {
  /** Distinguishes the marks of this answer from all other marks of the call. */
  readonly id: string;
  readonly playout: LinePlayout;
  readonly clock: Clock;
  readonly events: RealtimeSpeechEvents;
}

/** An item that was cut off: the model is to forget what lies behind `heardMs`. */
export interface CutItem {
  readonly itemId: string;
  readonly heardMs: number;
}

/** What became of the answer. */
export interface RealtimeSplit extends AnswerSplit {
  readonly rounds: readonly Round[];
  readonly heardAfter: string;
  readonly cut: readonly CutItem[];
}

interface Item {
  readonly id: string;
  readonly round: number;
  text: string;
  startMs: number | undefined;
  endMs: number;
}

/** Audio between two marks: how finely the played position is known. */
const MARK_EVERY_MS = 1000;

/** A model that is this far ahead of the ear has lost its way. */
const MAX_AHEAD_MS = 600_000;

/** Speech that is shorter than the usual for its words by more than this is not all there. */
const FASTEST = 1.5;

/** Some ten minutes of speech: text behind that is not taken. */
const MAX_CHARS = 8000;

/** One per answer. After `stop` nothing of it reaches the playout or the events. */
export class RealtimeSpeech {
  readonly #options: RealtimeSpeechOptions;
  readonly #items: Item[] = [];
  readonly #rounds: (readonly ToolRun[])[] = [];
  #chars = 0;
  /** `cut`: no more comes of the one that was on. */
  #response: 'none' | 'on' | 'cut' = 'none';
  /** What is left of a text that broke off; undefined while none did. */
  #left: string | undefined;
  /** Rounds whose results the model does not have. */
  #openRounds = 0;
  #stopped = false;
  #pushedMs = 0;
  /** What there was before the response that is on, or was last. */
  #pushedBeforeMs = 0;
  /** How much has to be pushed for the next mark. */
  #nextMarkMs = FRAME_MS;
  #marks = 0;
  #marksHeard = 0;
  #markedMs: number;
  #spoken = '';
  #watch: Timer | undefined;

  constructor(options: RealtimeSpeechOptions) {
    this.#options = options;
    this.#markedMs = options.playout.pushedMs;
  }

  /** True when there is audio, heard or not. */
  get hasAudio(): boolean {
    return this.#pushedMs > 0;
  }

  /** The same of the response that is on, or was last. */
  get hasResponseAudio(): boolean {
    return this.#pushedMs > this.#pushedBeforeMs;
  }

  get isResponding(): boolean {
    return this.#response !== 'none';
  }

  /** True when nothing that came is still to be heard, and nothing is coming. */
  get caughtUp(): boolean {
    return !this.isResponding && this.#isHeard;
  }

  /** The caller has heard something, and all that was given to the playout. */
  get isDry(): boolean {
    const isMarked = this.#nextMarkMs === this.#pushedMs + MARK_EVERY_MS;
    return isMarked && this.#marksHeard === this.#marks;
  }

  get runs(): readonly ToolRun[] {
    return this.#rounds.flat();
  }

  get roundCount(): number {
    return this.#rounds.length;
  }

  responseStarted(): void {
    this.#response = 'on';
    this.#pushedBeforeMs = this.#pushedMs;
    this.#left = undefined;
  }

  /**
   * No more comes of the connection. Returns what is left of `told`, which was to be said word for word, from the word on in which it
   * broke off; what was heard of that word is forgotten. Undefined where all of the response came, or other words did.
   */
  breakOff(told: string): string | undefined {
    if (this.#left !== undefined || (this.hasAudio && !this.isResponding)) return this.#left;
    const last = this.#items.at(-1);
    const before = joined(this.#items.slice(0, -1).map((item) => item.text.trim()));
    const all = joined([before, last?.text.trim() ?? '']);
    if (!told.startsWith(all)) return undefined;
    if (last !== undefined) {
      // Words may be ahead of their audio.
      const producedMs = last.startMs === undefined ? 0 : last.endMs - last.startMs;
      const complete = producedMs * FASTEST >= estimateMs(last.text);
      const isWhole = /^(\s|$)/.test(told.slice(all.length));
      const words = isWhole ? last.text : withoutLastWord(last.text);
      last.text = heardPart(words, producedMs, { producedMs, complete });
    }
    this.#left = told.slice(joined([before, last?.text.trim() ?? '']).length).trim();
    return this.#left;
  }

  /**
   * No more comes, also of a response that is on: it stays broken off. Returns true while something is still to be heard; `caughtUp` is told
   * behind it.
   */
  runsOut(): boolean {
    const { playout } = this.#options;
    if (this.#stopped || playout.playedMs >= playout.pushedMs) return false;
    if (this.isResponding) this.#response = 'cut';
    if (playout.pushedMs > this.#markedMs) this.#mark();
    return !this.#isHeard;
  }

  /** No more comes of the response. */
  responseEnded(): void {
    if (!this.isResponding || this.#stopped) return;
    this.#response = 'none';
    if (this.#options.playout.pushedMs > this.#markedMs) this.#mark();
    this.#settle();
  }

  /** True while the model waits for results. */
  get awaitsTools(): boolean {
    return this.#openRounds > 0;
  }

  /** Tools were called behind what was said so far. */
  called(runs: readonly ToolRun[]): void {
    this.#rounds.push(runs);
    this.#openRounds += 1;
  }

  /** A round has its results. */
  answered(): void {
    this.#openRounds -= 1;
  }

  /**
   * Audio for the playout, in the line's format; copied. Returns how much there is now that was not heard, in milliseconds; 0 where the answer
   * was stopped. @throws ProviderError for more than anybody would listen to
   */
  push(itemId: string, audio: Audio): number {
    if (this.#stopped || audio.length === 0) return 0;
    const { playout } = this.#options;
    const item = this.#item(itemId);
    item.startMs ??= playout.pushedMs;
    this.#give(audio);
    item.endMs = playout.pushedMs;
    if (this.#stopped) return 0;
    const aheadMs = item.endMs - playout.playedMs;
    if (aheadMs > MAX_AHEAD_MS)
      throw new ProviderError('The realtime model sends audio without end.', {
        status: null,
        retryable: false,
      });
    return aheadMs;
  }

  /** Returns false for words that are not taken. */
  text(itemId: string, delta: string): boolean {
    if (this.#stopped) return false;
    const taken = delta.slice(0, MAX_CHARS - this.#chars);
    if (taken.length < delta.length) this.#options.events.tooMuch();
    if (taken === '') return false;
    this.#chars += taken.length;
    this.#item(itemId).text += taken;
    return true;
  }

  /** The model's own account of what was heard of an item; nothing for one of another answer. */
  replaceText(itemId: string, text: string): void {
    const item = this.#items.find(({ id }) => id === itemId);
    if (!this.#stopped && item !== undefined) item.text = text.slice(0, MAX_CHARS);
  }

  /** Takes the mark if it is one of this answer's. */
  markPlayed(name: string): void {
    const { id, clock, events } = this.#options;
    if (this.#stopped || !name.startsWith(`${id}-`)) return;
    if (name === `${id}-first`) {
      events.firstFrameHeard(clock.now());
      return;
    }
    this.#marksHeard = Math.max(this.#marksHeard, Number(name.slice(id.length + 1)));
    this.#tellSpoken();
    this.#settle();
  }

  /** Everything that came, as if all of it were heard: for a model that is told the conversation anew. */
  whole(): RealtimeSplit {
    return this.#split(Number.POSITIVE_INFINITY);
  }

  /** Stops at once and says what was heard up to `playedMs`. Idempotent. */
  stop(playedMs: number): RealtimeSplit {
    this.#stopped = true;
    this.#watch?.cancel();
    return this.#split(playedMs);
  }

  #item(id: string): Item {
    const last = this.#items.at(-1);
    const known = last?.id === id ? last : this.#items.find((item) => item.id === id);
    if (known !== undefined) return known;
    const item: Item = { id, round: this.#rounds.length, text: '', startMs: undefined, endMs: 0 };
    this.#items.push(item);
    return item;
  }

  /** Marks lie between frames: one inside of a frame would have it sent as it is, filled up with silence in the middle of a word. */
  #give(audio: Audio): void {
    const { playout, events } = this.#options;
    if (!this.hasAudio)
      playout.onNextFrameSent((at) => {
        if (!this.#stopped) events.firstFrameSent(at);
      });
    const perMs = unitsPerMs(audio);
    for (let at = 0; at < audio.length; ) {
      const untilMark = Math.ceil((this.#nextMarkMs - this.#pushedMs) * perMs);
      const isWhole = at === 0 && audio.length <= untilMark;
      const piece = isWhole ? audio : audio.subarray(at, at + untilMark);
      playout.push(piece);
      at += piece.length;
      this.#pushedMs += piece.length / perMs;
      // Its owner may have stopped the answer in the tick in which the first frame left.
      if (this.#stopped) return;
      if (this.#pushedMs < this.#nextMarkMs) continue;
      if (this.#nextMarkMs === FRAME_MS) this.#markFirst();
      else this.#mark();
    }
  }

  /** The first frame travels with a mark of its own, so that its way to the ear can be measured. */
  #markFirst(): void {
    const { id, playout } = this.#options;
    this.#nextMarkMs = MARK_EVERY_MS;
    playout.mark(`${id}-first`);
  }

  #mark(): void {
    const { id, playout } = this.#options;
    this.#marks += 1;
    this.#markedMs = playout.pushedMs;
    this.#nextMarkMs = this.#pushedMs + MARK_EVERY_MS;
    playout.mark(`${id}-${this.#marks}`);
    this.#watchMarks();
  }

  /** Marks can get lost, the playback clock cannot: it steps in for a mark that is long overdue. */
  #watchMarks(): void {
    this.#watch?.cancel();
    const { playout, clock } = this.#options;
    const delayMs = Math.max(0, this.#markedMs - playout.playedMs) + LIMITS.playout.markGraceMs;
    this.#watch = clock.after(delayMs, () => {
      if (this.#marksHeard === this.#marks) return;
      if (playout.playedMs < this.#markedMs) {
        this.#watchMarks();
        return;
      }
      this.#marksHeard = this.#marks;
      this.#tellSpoken();
      this.#settle();
    });
  }

  #tellSpoken(): void {
    const { heard } = this.#split(this.#options.playout.playedMs);
    if (heard.length <= this.#spoken.length) return;
    this.#spoken = heard;
    this.#options.events.spoken(heard);
  }

  get #isHeard(): boolean {
    return this.#marksHeard === this.#marks;
  }

  #settle(): void {
    if (!this.#stopped && this.#isHeard && this.#response !== 'on') this.#options.events.caughtUp();
  }

  #split(playedMs: number): RealtimeSplit {
    const isAllHeard = this.caughtUp;
    const heardOf = (item: Item): string => {
      if (isAllHeard || playedMs === Number.POSITIVE_INFINITY)
        return item.startMs === undefined ? '' : item.text;
      if (item.startMs === undefined) return '';
      const isDone = !this.isResponding || item !== this.#items.at(-1);
      const audio = { producedMs: item.endMs - item.startMs, complete: isDone };
      return heardPart(item.text, playedMs - item.startMs, audio);
    };
    const parts = this.#items.map((item) => {
      const heard = heardOf(item);
      return { round: item.round, heard: heard.trim(), unheard: item.text.slice(heard.length).trim() };
    });
    const inRound = (round: number) =>
      joined(parts.filter((part) => part.round === round).map(({ heard }) => heard));
    const heardAfter = inRound(this.#rounds.length);
    return {
      heard: joined(parts.map(({ heard }) => heard)),
      unheard: joined(parts.map(({ unheard }) => unheard)),
      rounds: this.#rounds.map((runs, round) => ({ text: inRound(round), runs })),
      heardAfter,
      isOwed: this.#rounds.length > 0 && heardAfter === '',
      cut: isAllHeard ? [] : this.#items.flatMap((item) => this.#cut(item, playedMs)),
    };
  }

  /** Nothing for an item that was heard to its end. The last one of a response that is under way may have more than came. */
  #cut(item: Item, playedMs: number): CutItem[] {
    const { id: itemId, startMs, endMs } = item;
    if (startMs === undefined) return [{ itemId, heardMs: 0 }];
    const isOpen = this.isResponding && item === this.#items.at(-1);
    if (playedMs >= endMs && !isOpen) return [];
    return [{ itemId, heardMs: Math.max(0, Math.min(playedMs, endMs) - startMs) }];
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** Up to the blank before the last word, where the text does not end with one. */
function withoutLastWord(text: string): string {
  let end = text.length;
  while (end > 0 && !/\s/.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}
