// Speaks one reply: sentences through text-to-speech into the playout, one ahead of the ear, and keeps account of what was heard.
import { frameSamples, PCM_16K } from '../../../audio/format.js';
import type { Playout } from '../../../audio/playout.js';
import type { Clock, Timer } from '../../../base/clock.js';
import { ProviderError } from '../../../base/errors.js';
import { hasWords } from '../../../base/owed-words.js';
import { LIMITS } from '../../../conversation/limits.js';
import type { TextToSpeechSession } from '../../../providers/text-to-speech.js';
import type { CallerWait } from '../caller-wait.js';
import { type Dropped, unheardPart } from './dropped-text.js';
import { guardedStream } from '../../guarded-stream.js';
import { partBetween } from '../../heard-text.js';
import { audioOf, heardOf, isOver, isSounding, type Sentence, spokenPart } from './spoken-sentence.js';
import { SpokenTiming } from '../../spoken-timing.js';
import { checkChunk, FINAL, muteVoice } from './voice-faults.js';

export interface SpeakerEvents {
  /** The voice gave the first audio of the reply. */
  firstAudio(at: number): void;
  /** The first frame of the reply was handed to the carrier. */
  firstFrameSent(at: number): void;
  /** The carrier says that the first frame was heard. */
  firstFrameHeard(at: number): void;
  /** The sentences that have been heard or are being spoken now. */
  spoken(text: string): void;
  /** Everything that was said so far has been heard, and more may come. */
  caughtUp?(): void;
  /** Behind `caughtUp`: there is more. */
  goesOn?(): void;
  /** Everything was heard, and no more will come. */
  finished(): void;
  /** The voice failed; nothing more will be spoken. */
  failed(error: unknown): void;
}

export interface SpeakerOptions {
  /** Distinguishes the marks of this reply from all other marks of the call. */
  readonly id: string;
  readonly voice: TextToSpeechSession;
  readonly playout: Playout;
  readonly clock: Clock;
  readonly wait: CallerWait;
  readonly events: SpeakerEvents;
}

/** What became of a reply that was stopped or has ended. */
export interface SpokenSplit {
  heard: string;
  unheard: string;
}

/** The same of a reply that may be taken up again. */
export interface CutSplit extends SpokenSplit {
  /** What was not heard, from the beginning of the sentence that was cut, without what was dropped. */
  rest: string;
}

interface SpeakerSplit extends CutSplit {
  /** The same as `rest`, but from the word where it was cut. */
  unsaid: string;
}

const FRAME_SAMPLES = frameSamples(PCM_16K);
const SAMPLES_PER_MS = PCM_16K.sampleRateHz / 1000;

/** Sentences that may be at the playout and not yet heard: the one that plays and the next. */
const AHEAD = 2;

/** Audio of one sentence beyond which the voice has lost its way: some ten times the longest one that it is asked for. */
const MAX_SENTENCE_MS = 300_000;

/** Positions that lie closer together than a sample are the same. */
const SAMPLE_MS = 0.1;

/** One speaker per reply. After `stop` nothing of it reaches the playout or the events. */
export class Speaker {
  readonly #options: SpeakerOptions;
  readonly #abort = new AbortController();
  readonly #sentences: Sentence[] = [];
  #running = false;
  #complete = false;
  /** One that has failed says nothing more, and knows what it was to say. */
  #state: 'on' | 'failed' | 'stopped' = 'on';
  #pushedSamples = 0;
  #audibleAt: number | undefined;
  #spokenCount = 0;
  #isDry = false;
  /** When all that the voice has given so far will have been heard. */
  #soundsUntil: number | undefined;
  /** The voice gave no audio for the sentence that it was given last. */
  #isMute = false;
  /** Continues the run that waits for the ear. */
  #proceed: (() => void) | undefined;
  #watch: Timer | undefined;

  constructor(options: SpeakerOptions) {
    this.#options = options;
  }

  /** True once the caller can have heard something. */
  get audible(): boolean {
    return this.#audibleAt !== undefined;
  }

  /** When the caller could hear the first of it; undefined before that. */
  get audibleAt(): number | undefined {
    return this.#audibleAt;
  }

  /** True when the last of its audio is with the playout. */
  get isGivenOut(): boolean {
    return this.#complete && !this.#running;
  }

  /** True from `caughtUp` to `goesOn`. */
  get isDry(): boolean {
    return this.#isDry;
  }

  /** Since when the caller has heard all that the voice has given of a reply that is not over, on the clock; undefined where they have not. */
  get drySince(): number | undefined {
    const soundsUntil = this.#soundsUntil ?? Number.POSITIVE_INFINITY;
    return soundsUntil <= this.#options.clock.now() && !this.isGivenOut ? soundsUntil : undefined;
  }

  /** In how many milliseconds the caller has heard all that there is; undefined while the voice has more to give. */
  get dryInMs(): number | undefined {
    if (this.#running) return undefined;
    const { clock } = this.#options;
    return Math.max(0, (this.#soundsUntil ?? clock.now()) - clock.now());
  }

  /** The words that were said between two positions of the playout. */
  saidBetween(fromMs: number, toMs: number): string {
    const parts = this.#sentences.map((sentence) => {
      const { text, startMs } = sentence;
      if (!isSounding(sentence)) return '';
      return partBetween(text, { fromMs: fromMs - startMs, toMs: toMs - startMs }, audioOf(sentence));
    });
    return joined(parts);
  }

  /** True when nothing that was said is still to be heard. */
  get caughtUp(): boolean {
    const isHeard = ({ state }: Sentence) => state === 'heard' || state === 'silent';
    return !this.#running && this.#sentences.every(isHeard);
  }

  /**
   * Queues a sentence; `dropped` belongs to what was not heard of it. After `complete` it is the last one all the same. `begins` is told
   * when its first audio is there and not yet with the playout.
   */
  say(text: string, dropped: readonly Dropped[] = [], begins?: () => void): void {
    if (this.#state === 'stopped') return;
    const mark = `${this.#options.id}-${this.#sentences.length}`;
    const timing = new SpokenTiming(text);
    this.#sentences.push({ text, dropped, begins, mark, timing, state: 'waiting', startMs: 0, endMs: 0 });
    if (this.#stopped) return;
    this.#options.wait.hasWords(true);
    if (!this.#running) void this.#run();
  }

  /** No more sentences will come. */
  complete(): void {
    if (this.#stopped) return;
    this.#complete = true;
    this.#settle();
  }

  /** Takes the mark if it is one of this reply's. */
  markPlayed(name: string): void {
    if (this.#stopped) return;
    if (name === this.#firstFrameMark) this.#options.events.firstFrameHeard(this.#options.clock.now());
    const index = this.#sentences.findIndex((sentence) => sentence.mark === name);
    if (index !== -1) this.#heardUpTo(index);
  }

  /** Stops at once and says what was heard up to `playedMs`, the position that the playout's `clear` returned. Idempotent. */
  stop(playedMs: number): SpeakerSplit {
    if (!this.#stopped) {
      this.#abort.abort();
      this.#watch?.cancel();
      this.#options.wait.hasWords(false);
      this.#state = 'stopped';
      this.#proceed?.();
    }
    this.#state = 'stopped';
    return this.#split(playedMs);
  }

  get #stopped(): boolean {
    return this.#state !== 'on';
  }

  get #firstFrameMark(): string {
    return `${this.#options.id}-first`;
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      let sentence = this.#next();
      while (sentence !== undefined && !this.#stopped) {
        await this.#earIsNear();
        if (this.#stopped) return;
        await this.#speak(sentence);
        sentence = this.#next();
      }
    } catch (error) {
      this.#fail(error);
      return;
    } finally {
      this.#running = false;
    }
    this.#settle();
  }

  #next(): Sentence | undefined {
    return this.#sentences.find((sentence) => sentence.state === 'waiting');
  }

  async #speak(sentence: Sentence): Promise<void> {
    const { voice, playout, clock, wait } = this.#options;
    const { signal } = this.#abort;
    sentence.state = 'speaking';
    sentence.startMs = sentence.endMs = playout.pushedMs;
    const stream = guardedStream(voice.synthesize(sentence.text, signal, sentence.timing), {
      clock,
      signal,
      source: 'text-to-speech',
      firstMs: Number.POSITIVE_INFINITY,
      nextMs: LIMITS.voice.nextMs,
      patience: wait.voice,
    });
    for await (const chunk of stream) {
      if (this.#stopped) return;
      checkChunk(chunk);
      // Something else may have been played while the voice was silent.
      if (sentence.endMs === sentence.startMs) {
        sentence.startMs = sentence.endMs = playout.pushedMs;
        if (chunk.length > 0) sentence.begins?.();
      }
      this.#push(chunk);
      if (playout.pushedMs - sentence.startMs > MAX_SENTENCE_MS)
        throw new ProviderError('text-to-speech sends audio without end', FINAL);
      sentence.endMs = playout.pushedMs;
      this.#soundsUntil = clock.now() + sentence.endMs - playout.playedMs;
      if (chunk.length > 0) this.#sounds();
      this.#reportSpoken();
    }
    if (this.#stopped) return;
    if (sentence.endMs === sentence.startMs) {
      sentence.state = 'silent';
      if (!hasWords(sentence.text)) return;
      if (this.#isMute) throw muteVoice();
      this.#isMute = true;
      return;
    }
    this.#isMute = false;
    sentence.state = 'spoken';
    playout.mark(sentence.mark);
    this.#watchMarks();
  }

  /** The first frame travels with a mark of its own, so that its way to the ear can be measured. */
  #push(chunk: Int16Array): void {
    const { playout, events, clock, wait } = this.#options;
    if (chunk.length === 0) return;
    if (this.#pushedSamples === 0) {
      events.firstAudio(clock.now());
      playout.onNextFrameSent((at) => {
        if (this.#stopped) return;
        this.#audibleAt = at;
        events.firstFrameSent(at);
        this.#reportSpoken();
      });
    }
    wait.sounds(clock.now() + (playout.pushedMs - playout.playedMs) + chunk.length / SAMPLES_PER_MS);
    const missing = FRAME_SAMPLES - this.#pushedSamples;
    this.#pushedSamples += chunk.length;
    if (missing <= 0 || chunk.length < missing) {
      playout.push(chunk);
      return;
    }
    playout.push(chunk.subarray(0, missing));
    // Who was told of the first frame may have stopped everything.
    if (this.#stopped) return;
    playout.mark(this.#firstFrameMark);
    playout.push(chunk.subarray(missing));
  }

  #sounds(): void {
    if (!this.#isDry) return;
    this.#isDry = false;
    this.#options.events.goesOn?.();
  }

  /** Resolves when the ear is so close behind that the next sentence is due. */
  #earIsNear(): Promise<void> {
    if (this.#unheard().length < AHEAD) return Promise.resolve();
    return new Promise((resolve) => {
      this.#proceed = resolve;
    });
  }

  #unheard(): Sentence[] {
    return this.#sentences.filter((sentence) => sentence.state === 'spoken');
  }

  #heardUpTo(index: number): void {
    for (const sentence of this.#sentences.slice(0, index + 1))
      if (sentence.state === 'spoken') sentence.state = 'heard';
    this.#reportSpoken();
    if (this.#unheard().length < AHEAD) this.#proceed?.();
    this.#settle();
  }

  /** Marks can get lost, the playback clock cannot: it steps in for a mark that is long overdue. */
  #watchMarks(): void {
    this.#watch?.cancel();
    const { playout, clock } = this.#options;
    const next = this.#unheard()[0];
    if (next === undefined || this.#stopped) return;
    const delayMs = Math.max(0, next.endMs - playout.playedMs) + LIMITS.playout.markGraceMs;
    this.#watch = clock.after(delayMs, () => {
      const heard = this.#sentences.findLastIndex(
        (sentence) => sentence.state === 'spoken' && sentence.endMs - playout.playedMs < SAMPLE_MS,
      );
      if (heard !== -1) this.#heardUpTo(heard);
      this.#watchMarks();
    });
  }

  #reportSpoken(): void {
    if (!this.audible) return;
    const next = this.#sentences.findIndex(
      (sentence) => sentence.state !== 'heard' && sentence.state !== 'silent',
    );
    const current = next === -1 ? undefined : this.#sentences[next];
    const begun = current !== undefined && current.endMs > current.startMs;
    const count = next === -1 ? this.#sentences.length : begun ? next + 1 : next;
    if (count <= this.#spokenCount) return;
    this.#spokenCount = count;
    const sentences = this.#sentences.slice(0, count).filter((sentence) => sentence.state !== 'silent');
    this.#options.events.spoken(joined(sentences.map(spokenPart)));
  }

  #settle(): void {
    if (this.#stopped || !this.caughtUp) return;
    this.#options.wait.hasWords(false);
    if (!this.#complete) {
      this.#isDry = true;
      this.#options.events.caughtUp?.();
      return;
    }
    // One sentence may be lost among others, but not the last word.
    this.#state = 'stopped';
    this.#watch?.cancel();
    if (this.#isMute) this.#options.events.failed(muteVoice());
    else this.#options.events.finished();
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.#state = 'failed';
    this.#watch?.cancel();
    this.#options.events.failed(error);
  }

  #split(playedMs: number): SpeakerSplit {
    const heard: string[] = [];
    const unheard: string[] = [];
    const rest: string[] = [];
    const unsaid: string[] = [];
    for (const sentence of this.#sentences) {
      const part = heardOf(sentence, playedMs);
      heard.push(part);
      unheard.push(unheardPart(sentence.text, sentence.dropped, part.length));
      if (!isOver(sentence, playedMs)) unsaid.push(unheardPart(sentence.text, [], part.length));
      if (part.length < sentence.text.length && !isOver(sentence, playedMs)) rest.push(sentence.text);
    }
    return { heard: joined(heard), unheard: joined(unheard), rest: joined(rest), unsaid: joined(unsaid) };
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}
