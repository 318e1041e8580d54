// What waits to be said, cut into frames as it leaves. Knows pieces of audio and their order; when they leave is the pacer's business.
import {
  type Audio,
  FRAME_MS,
  frameBytes,
  frameSamples,
  isPcm,
  MULAW_8K,
  PCM_16K,
  unitsPerMs,
} from './format.js';

/** A whole frame, valid until the next one is taken, and how much of it was pushed: the rest is silence. */
export interface QueuedFrame {
  readonly audio: Audio;
  readonly contentMs: number;
}

/** Pieces of one kind, one behind the other: they join to frames, and do not with what comes behind them. */
interface Run {
  readonly isPcm: boolean;
  readonly pieces: Audio[];
  /** Where the first piece goes on. */
  offset: number;
  queuedMs: number;
}

export class FrameQueue {
  /** Room for a frame that is joined or filled up. */
  readonly #pcm = new Int16Array(frameSamples(PCM_16K));
  readonly #encoded = new Uint8Array(frameBytes(MULAW_8K));
  #runs: Run[] = [];
  #queuedMs = 0;

  get queuedMs(): number {
    return this.#queuedMs;
  }

  /** True when the next frame has all that it will get: 20 ms, or what comes before audio of the other kind. */
  get hasWhole(): boolean {
    return this.#runs.length > 1 || this.#queuedMs >= FRAME_MS;
  }

  /** Takes a piece of any length, which is the queue's from now on. Returns its length in milliseconds. */
  push(audio: Audio): number {
    const lengthMs = audio.length / unitsPerMs(audio);
    let run = this.#runs.at(-1);
    if (run?.isPcm !== isPcm(audio)) {
      run = { isPcm: isPcm(audio), pieces: [], offset: 0, queuedMs: 0 };
      this.#runs.push(run);
    }
    run.pieces.push(audio);
    run.queuedMs += lengthMs;
    this.#queuedMs += lengthMs;
    return lengthMs;
  }

  /** Takes out the next frame, filled up with silence, which is `silentByte` among bytes. Undefined when nothing waits. */
  take(silentByte = 0): QueuedFrame | undefined {
    const run = this.#runs[0];
    if (run === undefined) return undefined;
    const audio = run.isPcm ? cut(run, this.#pcm, 0) : cut(run, this.#encoded, silentByte);
    const contentMs = Math.min(run.queuedMs, FRAME_MS);
    run.queuedMs -= contentMs;
    this.#queuedMs -= contentMs;
    if (run.queuedMs === 0) this.#runs.shift();
    return { audio, contentMs };
  }

  clear(): void {
    this.#runs = [];
    this.#queuedMs = 0;
  }
}

/** Cuts a frame off the beginning of a run. One that lies in a single piece is left where it lies. */
function cut(run: Run, frame: Audio, silence: number): Audio {
  let filled = 0;
  while (filled < frame.length) {
    const piece = run.pieces[0];
    if (piece === undefined) break;
    const part = piece.subarray(run.offset, run.offset + frame.length - filled);
    run.offset += part.length;
    if (run.offset === piece.length) {
      run.pieces.shift();
      run.offset = 0;
    }
    if (part.length === frame.length) return part;
    frame.set(part, filled);
    filled += part.length;
  }
  frame.fill(silence, filled);
  return frame;
}
