// One sentence on its way through one context: collects its audio for whoever reads, and knows how much of the text was said.
import { ChunkQueue } from '../wire/chunk-queue.js';
import { SampleReader } from '../wire/pcm.js';
import type { ElevenLabsMessage } from './elevenlabs-messages.js';

/** `lost`: the connection went before the end. */
export type UtteranceOutcome = 'open' | 'spoken' | 'lost' | 'failed';

export class ElevenLabsUtterance {
  readonly audio = new ChunkQueue<Int16Array>();
  readonly #text: string;
  readonly #samples = new SampleReader();
  #characters = '';
  #samplesRead = 0;
  #outcome: UtteranceOutcome = 'open';

  constructor(text: string) {
    this.#text = text;
  }

  get outcome(): UtteranceOutcome {
    return this.#outcome;
  }

  /** True once there was sound. */
  get audible(): boolean {
    return this.#samplesRead > 0;
  }

  take({ audio, characters }: ElevenLabsMessage): void {
    this.#characters += characters;
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

  /** Whoever reads gets the error, after the audio that is there. */
  fail(error: Error): void {
    if (this.#outcome !== 'open') return;
    this.#outcome = 'failed';
    this.audio.end(error);
  }

  /** What is left to say after a lost connection; '' when nothing is, or when nobody knows what. */
  get rest(): string {
    if (!this.audible) return this.#text;
    const said = this.#characters.trimStart();
    if (said === '' || !`${this.#text} `.startsWith(said)) return '';
    const left = this.#text.slice(said.length);
    // A word that was begun is taken as said: better half a word too few than one twice.
    const isBetweenWords = /\s$/.test(said) || /^\s/.test(left);
    return (isBetweenWords ? left : left.replace(/^\S+/, '')).trim();
  }
}
