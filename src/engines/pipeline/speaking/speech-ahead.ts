// One sentence that is synthesized before anybody can hear it: its audio is taken in up to a bound, and later handed over as if it
// had been asked for then.
import { abandon } from '../../../base/async-iteration.js';
import type { SpokenPiece, SynthesisEvents, TextToSpeechSession } from '../../../providers/text-to-speech.js';

/** Audio that is taken in: ten seconds, in chunks of 5 ms at the least. What a sentence has beyond it waits at the voice. */
const MAX_SAMPLES = 160_000;
const MAX_CHUNKS = 2000;

export class SpeechAhead {
  readonly text: string;
  readonly #abort = new AbortController();
  readonly #pieces: SpokenPiece[] = [];
  #source: AsyncIterator<Int16Array> | undefined;
  /** The chunk that is waited for. */
  #asked: Promise<IteratorResult<Int16Array>> | undefined;
  #chunks: Int16Array[] = [];
  #samples = 0;
  #listener: SynthesisEvents | undefined;
  #isBrokenOff = false;
  #isTaken = false;
  #isComplete = false;
  #hasFailed = false;

  constructor(voice: TextToSpeechSession, text: string) {
    this.text = text;
    const events: SynthesisEvents = {
      timed: (pieces) => this.#timed(pieces),
      brokeOff: () => this.#brokeOff(),
    };
    void this.#fill(() => voice.synthesize(text, this.#abort.signal, events));
  }

  /** True when there was an error, or no audio at all: the sentence has to be asked for anew. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** The sentence from its beginning, as `synthesize` gives one. To be called once, and not after a failure. */
  take(signal: AbortSignal, events: SynthesisEvents | undefined): AsyncIterable<Int16Array> {
    this.#isTaken = true;
    this.#listener = events;
    this.#timed(this.#pieces.splice(0));
    if (this.#isBrokenOff) events?.brokeOff?.();
    return this.#listen(signal);
  }

  /** Stops the synthesis. Idempotent. */
  close(): void {
    this.#abort.abort();
    if (this.#source !== undefined) abandon(this.#source);
  }

  async #fill(begin: () => AsyncIterable<Int16Array>): Promise<void> {
    try {
      const source = begin()[Symbol.asyncIterator]();
      this.#source = source;
      for (let count = 0; this.#samples < MAX_SAMPLES && count < MAX_CHUNKS; count += 1) {
        if (this.#abort.signal.aborted) break;
        this.#asked = Promise.resolve(source.next());
        const item = await this.#asked;
        // The chunk is its listener's.
        if (this.#isTaken) return;
        this.#asked = undefined;
        if (item.done === true) {
          this.#isComplete = true;
          break;
        }
        this.#keep(item.value);
      }
      this.#hasFailed = this.#samples === 0;
    } catch {
      if (!this.#isTaken) this.#hasFailed = true;
    }
  }

  /** A voice of the application may be plain JavaScript. */
  #keep(chunk: unknown): void {
    if (!(chunk instanceof Int16Array)) throw new TypeError('text-to-speech must yield Int16Array chunks');
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.#samples += chunk.length;
  }

  #timed(pieces: readonly SpokenPiece[]): void {
    if (this.#listener !== undefined) this.#listener.timed?.(pieces);
    // Pieces of a text do not overlap: there are never more than it has characters.
    else if (Array.isArray(pieces) && this.#pieces.length < this.text.length) this.#pieces.push(...pieces);
  }

  #brokeOff(): void {
    this.#isBrokenOff = true;
    this.#listener?.brokeOff?.();
  }

  async *#listen(signal: AbortSignal): AsyncGenerator<Int16Array> {
    const stop = () => this.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const chunk of this.#chunks.splice(0)) {
        if (signal.aborted) return;
        yield chunk;
      }
      const source = this.#source;
      if (this.#isComplete || source === undefined || signal.aborted) return;
      let item = await (this.#asked ?? source.next());
      while (item.done !== true && !signal.aborted) {
        yield item.value;
        item = await source.next();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.close();
    }
  }
}
