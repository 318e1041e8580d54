// One sentence on its way through a voice: collects its audio for whoever reads, and knows how much of the text was said.
import { PCM_16K } from '../../audio/format.js';
import type { SpokenPiece } from '../text-to-speech.js';
import { ChunkQueue } from './chunk-queue.js';
import { transientFailure, type WireFailure } from './failure.js';
import { SampleReader } from '../../audio/pcm-bytes.js';

/** When a word is said, in seconds of the sentence's audio. */
export interface TimedWord {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
}

/** A word at its place; undefined where the text does not have it. */
interface PlacedWord extends TimedWord {
  readonly end: number | undefined;
}

/** `lost`: the connection went before the end. `refused`: the vendor did not say it, or not to its end. */
export type SentenceOutcome = 'open' | 'spoken' | 'lost' | 'refused';

/** Sound that goes on for longer after the last timed word has words whose times did not come. */
const UNTIMED_S = 0.5;

export class VoiceSentence {
  /** Another one for every try. */
  readonly id: string;
  readonly text: string;
  readonly audio = new ChunkQueue<Int16Array>();
  readonly #timed: (pieces: readonly SpokenPiece[]) => void;
  /** As the vendor times them; empty where it does not. */
  readonly #words: PlacedWord[] = [];
  /** Where in the text the next word is looked for. */
  #placedTo = 0;
  readonly #samples = new SampleReader();
  #samplesRead = 0;
  #outcome: SentenceOutcome = 'open';
  #failure = transientFailure('lost a sentence again and again');

  /** `timed` hears of positions in `text` and in the audio of this sentence. */
  constructor(id: string, text: string, timed: (pieces: readonly SpokenPiece[]) => void = () => {}) {
    this.id = id;
    this.text = text;
    this.#timed = timed;
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
    const pieces: SpokenPiece[] = [];
    for (const word of words) {
      // Those of the text are never more than it has characters.
      if (this.#words.length >= this.text.length) break;
      const start = this.text.indexOf(word.text, this.#placedTo);
      const end = start < 0 ? undefined : start + word.text.length;
      this.#words.push({ ...word, end });
      // Times of another spelling tell nothing.
      if (end === undefined) continue;
      this.#placedTo = end;
      pieces.push({ start, end, startMs: word.startS * 1000, endMs: word.endS * 1000 });
    }
    if (pieces.length > 0) this.#timed(pieces);
  }

  /** PCM of the house format, in pieces that may end in the middle of a sample. */
  take(bytes: Uint8Array): void {
    const pcm = this.#samples.read(bytes);
    if (pcm.length === 0) return;
    this.#samplesRead += pcm.length;
    this.audio.push(pcm);
  }

  end(outcome: 'spoken' | 'lost'): void {
    if (this.#outcome !== 'open') return;
    this.#outcome = outcome;
    this.audio.end();
  }

  refuse(failure: WireFailure): void {
    if (this.#outcome !== 'open') return;
    this.#outcome = 'refused';
    this.#failure = failure;
    this.audio.end();
  }

  /** What is left to say after a break; '' when nothing is, or when nobody knows what. */
  get rest(): string {
    if (!this.audible) return this.text;
    const heardS = this.audioMs / 1000;
    let at = 0;
    let endS = this.#words[0]?.startS ?? 0;
    for (const word of this.#words) {
      if (word.end === undefined) return '';
      // A word that was begun is taken as said: better half a word too few than one twice.
      if (word.startS >= heardS) break;
      at = word.end;
      endS = word.endS;
    }
    if (this.#words.length === 0 || heardS > endS + UNTIMED_S) return '';
    return (at === 0 ? this.text : this.text.slice(at).replace(/^\S+/, '')).trim();
  }
}
