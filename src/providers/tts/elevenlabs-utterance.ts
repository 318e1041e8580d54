// One sentence on its way through one context: collects its audio for whoever reads, and knows how much of the text was said.
import { ChunkQueue } from '../wire/chunk-queue.js';
import { SampleReader } from '../../audio/pcm-bytes.js';
import type { SpokenPiece } from '../text-to-speech.js';
import { transientFailure, type WireFailure } from '../wire/failure.js';
import type { SentenceOutcome } from '../wire/voice-sentence.js';
import { AlignedText } from './elevenlabs-alignment.js';
import type { ElevenLabsMessage } from './elevenlabs-messages.js';

const SAMPLE_RATE_HZ = 16_000;

export class ElevenLabsUtterance {
  readonly audio = new ChunkQueue<Int16Array>();
  readonly #text: string;
  readonly #aligned: AlignedText;
  readonly #timed: (pieces: readonly SpokenPiece[]) => void;
  readonly #samples = new SampleReader();
  /** What was said, as far as it can be the text. */
  #characters = '';
  #samplesRead = 0;
  #outcome: SentenceOutcome = 'open';
  #failure = transientFailure('lost a sentence again and again');

  /** `timed` hears of positions in `text` and in the audio of this utterance. */
  constructor(text: string, timed: (pieces: readonly SpokenPiece[]) => void) {
    this.#text = text;
    this.#aligned = new AlignedText(text);
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
    return (this.#samplesRead * 1000) / SAMPLE_RATE_HZ;
  }

  take({ audio, alignment, normalizedAlignment }: ElevenLabsMessage): void {
    if (this.#outcome !== 'open') return;
    if (this.#characters.length <= this.#text.length + 1)
      this.#characters = `${this.#characters}${alignment.characters}`.trimStart();
    // Times start again at 0 with each message that has them: at the audio that comes with it.
    const given = this.#aligned.place(alignment, this.audioMs);
    const pieces = given.length > 0 ? given : this.#aligned.place(normalizedAlignment, this.audioMs);
    if (pieces.length > 0) this.#timed(pieces);
    if (audio === undefined) return;
    const pcm = this.#samples.read(audio);
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
    if (!this.audible) return this.#text;
    const said = this.#characters;
    if (said === '' || !`${this.#text} `.startsWith(said)) return '';
    const left = this.#text.slice(said.length);
    // A word that was begun is taken as said: better half a word too few than one twice.
    const isBetweenWords = /\s$/.test(said) || /^\s/.test(left);
    return (isBetweenWords ? left : left.replace(/^\S+/, '')).trim();
  }
}
