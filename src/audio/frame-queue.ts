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

/** A whole frame, and how much of it was pushed: the rest is silence. */
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
    const audio = run.isPcm
      ? cut(run, () => new Int16Array(frameSamples(PCM_16K)), 0)
      : cut(run, () => new Uint8Array(frameBytes(MULAW_8K)), silentByte);
    const contentMs = Math.min(run.queuedMs, FRAME_MS);
    run.queuedMs -= contentMs;
    this.#queuedMs -= contentMs;
    if (run.queuedMs === 0) this.#runs.shift();
    return { audio, contentMs };
  }

  /** Puts audio back in front of all that waits, oldest first. Returns its length in milliseconds. */
  putBack(pieces: readonly Audio[]): number {
    const behind = this.#runs;
    const queuedMs = this.#queuedMs;
    this.#runs = [];
    for (const piece of pieces) if (piece.length > 0) this.push(piece);
    const [last, next] = [this.#runs.at(-1), behind[0]];
    if (last !== undefined && next !== undefined && last.isPcm === next.isPcm) {
      const [first, ...others] = next.pieces;
      if (first !== undefined) last.pieces.push(first.subarray(next.offset), ...others);
      last.queuedMs += next.queuedMs;
      behind.shift();
    }
    this.#runs.push(...behind);
    return this.#queuedMs - queuedMs;
  }

  clear(): void {
    this.#runs = [];
    this.#queuedMs = 0;
  }
}

/** Cuts a frame off the beginning of a run. One that lies in a single piece is left where it lies. */
function cut(run: Run, create: () => Audio, silence: number): Audio {
  const whole = run.isPcm ? frameSamples(PCM_16K) : frameBytes(MULAW_8K);
  let frame: Audio | undefined;
  let filled = 0;
  while (filled < whole) {
    const piece = run.pieces[0];
    if (piece === undefined) break;
    const part = piece.subarray(run.offset, run.offset + whole - filled);
    run.offset += part.length;
    if (run.offset === piece.length) {
      run.pieces.shift();
      run.offset = 0;
    }
    if (part.length === whole) return part;
    frame ??= create();
    frame.set(part, filled);
    filled += part.length;
  }
  frame ??= create();
  frame.fill(silence, filled);
  return frame;
}
