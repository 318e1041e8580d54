// One sentence on its way through a voice: collects its audio for whoever reads, and knows how much of the text was said.
import { PCM_16K } from '../../audio/format.js';
import type { SpokenPiece } from '../text-to-speech.js';
import { hasWords } from '../../base/owed-words.js';
import { ChunkQueue } from './chunk-queue.js';
import { transientFailure, type WireFailure } from './failure.js';
import { SampleReader } from '../../audio/pcm-bytes.js';

/** When a word is said, in seconds of the sentence's audio. */
export interface TimedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
}

/** What a part of the audio says: the text up to `end`, which is undefined where its words are none of the text. */
export interface SaidPart {
  readonly end: number | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * `lost`: the connection went before the end. `stalled`: no audio came any more, and no end. `refused`: the vendor did not say it, or not to
 * its end. `dropped`: nobody listens any more.
 */
export type SentenceOutcome = 'open' | 'spoken' | 'lost' | 'stalled' | 'refused' | 'dropped';

/** What a sentence tells of itself. */
export interface SentenceEvents {
  /** Positions in its text and in its audio. */
  timed(pieces: readonly SpokenPiece[]): void;
  /** More of its audio has come. */
  heard(): void;
  /** Its vendor is done with it, heard or not. */
  ended(): void;
}

/** Sound that goes on for longer after the last part that is known says what nobody has told. */
const UNTOLD_MS = 500;

/** What an end without a sound is. */
const NO_AUDIO = transientFailure('gave no audio');

export class VoiceSentence {
  /** Another one for every try. */
  readonly id: string;
  readonly text: string;
  readonly audio = new ChunkQueue<Int16Array>();
  readonly #events: SentenceEvents;
  /** In order, as far as the vendor reports them, up to the first word that is not in the text. */
  readonly #said: SaidPart[] = [];
  /** Where in the text the next word is looked for. */
  #placedTo = 0;
  readonly #samples = new SampleReader();
  #samplesRead = 0;
  #outcome: SentenceOutcome = 'open';
  #failure = transientFailure('lost a sentence again and again');

  constructor(id: string, text: string, events: SentenceEvents) {
    this.id = id;
    this.text = text;
    this.#events = events;
  }

  get outcome(): SentenceOutcome {
    return this.#outcome;
  }

  /** Why it was not said to its end. */
  get failure(): WireFailure {
    return this.#failure;
  }

  /** True once there was sound. */
  get audible(): boolean {
    return this.#samplesRead > 0;
  }

  /** Length of its audio so far. */
  get audioMs(): number {
    return (this.#samplesRead * 1000) / PCM_16K.sampleRateHz;
  }

  /** Words that the vendor has timed, in the order in which they are said. */
  takeWords(words: readonly TimedWord[]): void {
    for (const { text, startS, endS } of words) {
      const [startMs, endMs] = [startS * 1000, endS * 1000];
      const start = this.text.indexOf(text, this.#placedTo);
      const end = start < 0 ? undefined : start + text.length;
      this.#placedTo = end ?? this.#placedTo;
      // Times of another spelling tell nothing.
      this.takePart({ end, startMs, endMs }, end === undefined ? [] : [{ start, end, startMs, endMs }]);
    }
  }

  /** What the next part of the audio says, and the times of the pieces in it that are known. */
  takePart(part: SaidPart, pieces: readonly SpokenPiece[]): void {
    if (this.#outcome !== 'open') return;
    const last = this.#said.at(-1);
    if (last === undefined || (last.end !== undefined && last.end !== part.end)) this.#said.push(part);
    if (pieces.length > 0) this.#events.timed(pieces);
  }

  /** PCM of the internal format, in pieces that may end in the middle of a sample. */
  take(bytes: Uint8Array): void {
    if (this.#outcome !== 'open') return;
    const pcm = this.#samples.read(bytes);
    this.#samplesRead += pcm.length;
    this.audio.push(pcm);
    if (this.audible) this.#events.heard();
  }

  end(outcome: 'spoken' | 'lost' | 'stalled'): void {
    if (outcome === 'spoken' && !this.audible && hasWords(this.text)) this.refuse(NO_AUDIO);
    else this.#end(outcome);
  }

  refuse(failure: WireFailure): void {
    if (this.#outcome === 'open') this.#failure = failure;
    this.#end('refused');
  }

  /** Nobody listens any more: nothing of it is read, and nothing told but its end. */
  drop(): void {
    if (this.#outcome === 'open') this.#outcome = 'dropped';
    this.audio.stop();
  }

  /** What is left to say after a break; '' when nothing is, or when nobody knows what. */
  get rest(): string {
    if (!this.audible) return this.text;
    let at = 0;
    let endMs = this.#said[0]?.startMs ?? 0;
    for (const part of this.#said) {
      if (part.end === undefined) return '';
      // A word that was begun is taken as said: better half a word too few than one twice.
      if (part.startMs >= this.audioMs) break;
      at = part.end;
      endMs = part.endMs;
    }
    if (this.#said.length === 0 || this.audioMs > endMs + UNTOLD_MS) return '';
    const isInWord = /\S/.test(this.text.charAt(at - 1));
    const left = this.text.slice(at);
    return (isInWord ? left.replace(/^\S+/, '') : left).trim();
  }

  #end(outcome: SentenceOutcome): void {
    if (this.#outcome === 'open') this.#outcome = outcome;
    this.audio.end();
    this.#events.ended();
  }
}
