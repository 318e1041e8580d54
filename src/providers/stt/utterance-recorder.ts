// Cuts what a caller says out of the line, for recognizers that take whole recordings: from a little before the sound to a pause.
import { frameSamples, FRAME_MS, PCM_16K } from '../../audio/format.js';
import { levelDbfs } from '../../audio/level.js';
import { LineNoise } from '../../audio/line-noise.js';

/** Beginnings of words are quiet: so much before the first loud frame belongs to them. */
const BEFORE_MS = 300;

/** Silence at the end makes a recognizer invent words, and is paid for: no more than this is kept of it. */
const AFTER_MS = 200;

/** Fewer loud frames than this are a click or a breath, of which recognizers make words. */
const LEAST_VOICED_MS = 250;

/** Silence that ends an utterance. */
const PAUSE_MS = 500;

/** Longer than this and it goes in parts. */
const LONGEST_MS = 60_000;

const toFrames = (ms: number) => ms / FRAME_MS;

export class UtteranceRecorder {
  readonly #noise = new LineNoise();
  #frames: Int16Array[] = [];
  #voiced = 0;
  #silent = 0;

  /** True while something is recorded that is worth to be recognized. */
  get isOpen(): boolean {
    return this.#voiced >= toFrames(LEAST_VOICED_MS);
  }

  /** Copies a frame. Returns true when what was recorded is over: by a pause, or because it has become too long. */
  hear(frame: Int16Array): boolean {
    const level = levelDbfs(frame);
    const isVoiced = this.#noise.isOpen(level);
    this.#noise.learn(level);
    this.#frames.push(frame.slice());
    if (isVoiced) {
      this.#voiced += 1;
      this.#silent = 0;
    } else this.#silent += 1;
    if (this.#voiced === 0) this.#keepNewest(BEFORE_MS);
    if (this.#silent < toFrames(PAUSE_MS)) return this.#frames.length >= toFrames(LONGEST_MS);
    if (!this.isOpen) this.#forget(0);
    return this.isOpen;
  }

  /** What was recorded so far; empty unless `isOpen`. */
  peek(): Int16Array {
    return join(this.isOpen ? this.#frames.slice(0, this.#end) : []);
  }

  /** The same, and begins anew. */
  take(): Int16Array {
    const pcm = this.peek();
    this.#forget(this.#end);
    return pcm;
  }

  /** Frame behind the last one that counts. */
  get #end(): number {
    return this.#frames.length - Math.max(0, this.#silent - toFrames(AFTER_MS));
  }

  #forget(frames: number): void {
    this.#frames = this.#frames.slice(frames);
    this.#voiced = 0;
    this.#silent = 0;
    this.#keepNewest(BEFORE_MS);
  }

  #keepNewest(ms: number): void {
    while (this.#frames.length > toFrames(ms)) this.#frames.shift();
  }
}

function join(frames: readonly Int16Array[]): Int16Array {
  const size = frameSamples(PCM_16K);
  const pcm = new Int16Array(frames.reduce((sum, { length }) => sum + length, 0));
  for (const [index, frame] of frames.entries()) pcm.set(frame, index * size);
  return pcm;
}
