// What is to be said, cut into frames as it leaves, and what has left and was perhaps not heard. Knows audio and its order; when it leaves,
// and how much of it was heard, is the pacer's business.
import { type Audio, FRAME_MS, frameBytes, frameSamples, isPcm, MULAW_8K, PCM_16K } from './format.js';

/** A whole frame, and how much of it was pushed: the rest is silence. */
export interface QueuedFrame {
  /** Valid until the queue is used again. */
  readonly audio: Audio;
  readonly contentMs: number;
}

/** Audio of one kind, joined to frames. In a ring that grows: nothing is allocated for a frame, and none of its memory is another's. */
interface Run {
  readonly isPcm: boolean;
  readonly perMs: number;
  ring: Audio;
  /** Units since the run began: the oldest that is kept, the next to leave, and behind the last. */
  kept: number;
  next: number;
  end: number;
}

const PCM_FRAME = frameSamples(PCM_16K);
const BYTE_FRAME = frameBytes(MULAW_8K);
/** Of a new ring: about what the lead of a pacer is. */
const FIRST_MS = 512;
/** Sums of milliseconds differ in their last bits. */
const ROUNDING = 1e-3;

export class FrameQueue {
  #runs: Run[] = [];
  /** What waits. Written here alone: a plain field, because it is read several times for a frame. */
  queuedMs = 0;
  #keptMs = 0;
  /** Frames that do not lie in one piece. */
  #pcmFrame: Int16Array | undefined;
  #byteFrame: Uint8Array | undefined;

  /** True when the next frame has all that it will get: 20 ms, or what comes before audio of the other kind. */
  get hasWhole(): boolean {
    if (this.queuedMs >= FRAME_MS) return true;
    const next = this.#next;
    return next !== undefined && next !== this.#runs.at(-1);
  }

  /** Copies a piece of any length. Returns its length in milliseconds. */
  push(audio: Audio): number {
    const ofPcm = isPcm(audio);
    let run = this.#runs.at(-1);
    if (run?.isPcm !== ofPcm) {
      run = newRun(ofPcm);
      this.#runs.push(run);
    }
    append(run, audio);
    const lengthMs = audio.length / run.perMs;
    this.queuedMs += lengthMs;
    return lengthMs;
  }

  /** Takes out the next frame, filled up with silence, which is `silentByte` among bytes. Undefined when nothing waits. It is kept. */
  take(silentByte = 0): QueuedFrame | undefined {
    const run = this.#next;
    if (run === undefined) return undefined;
    const whole = run.isPcm ? PCM_FRAME : BYTE_FRAME;
    const length = Math.min(whole, run.end - run.next);
    const at = run.next % run.ring.length;
    const isOnePiece = length === whole && at + length <= run.ring.length;
    const audio = isOnePiece ? run.ring.subarray(at, at + length) : this.#frameOf(run, length, silentByte);
    const contentMs = length / run.perMs;
    run.next += length;
    this.queuedMs -= contentMs;
    this.#keptMs += contentMs;
    if (run.next === run.end && run === this.#runs.at(-1)) this.queuedMs = 0;
    return { audio, contentMs };
  }

  /** Of what was taken out only the last `unheardMs` are kept. */
  keep(unheardMs: number): void {
    let goneMs = this.#keptMs - unheardMs;
    for (let run = this.#runs[0]; run !== undefined && goneMs > 0; run = this.#runs[0]) {
      // Rather one too many than one too few: what is taken back reaches the marks behind it.
      const units = Math.min(Math.floor(goneMs * run.perMs + ROUNDING), run.next - run.kept);
      if (units === 0) {
        if (run.kept < run.end || this.#runs.length === 1) break;
        this.#runs.shift();
        continue;
      }
      run.kept += units;
      this.#keptMs -= units / run.perMs;
      goneMs -= units / run.perMs;
      if (run.ring.length > FIRST_MS * run.perMs) shrink(run);
    }
  }

  /** The last `unheardMs` of what was taken out wait again, in front of all that waits. Returns how much that is. */
  takeBack(unheardMs: number): number {
    this.keep(unheardMs);
    for (const run of this.#runs) run.next = run.kept;
    const backMs = this.#keptMs;
    this.queuedMs += backMs;
    this.#keptMs = 0;
    return backMs;
  }

  /** Takes out all that waits, as it was pushed. */
  drain(): Audio[] {
    const waiting = this.#runs.flatMap(waitingIn);
    this.clear();
    return waiting;
  }

  clear(): void {
    this.#runs = [];
    this.queuedMs = 0;
    this.#keptMs = 0;
  }

  /** What the next frame is of. */
  get #next(): Run | undefined {
    for (const run of this.#runs) if (run.next < run.end) return run;
    return undefined;
  }

  #frameOf(run: Run, length: number, silentByte: number): Audio {
    if (run.isPcm) this.#pcmFrame ??= new Int16Array(PCM_FRAME);
    else this.#byteFrame ??= newRing(false, BYTE_FRAME) as Uint8Array;
    const frame = (run.isPcm ? this.#pcmFrame : this.#byteFrame) as Audio;
    const at = run.next % run.ring.length;
    const first = Math.min(length, run.ring.length - at);
    frame.set(run.ring.subarray(at, at + first));
    if (first < length) frame.set(run.ring.subarray(0, length - first), first);
    return frame.fill(run.isPcm ? 0 : silentByte, length);
  }
}

/** One piece, or two where it goes beyond the end of the ring. */
function waitingIn({ ring, next, end }: Run): Audio[] {
  const at = next % ring.length;
  const first = Math.min(end - next, ring.length - at);
  const pieces = [ring.subarray(at, at + first), ring.subarray(0, end - next - first)];
  return pieces.filter(({ length }) => length > 0);
}

function newRun(ofPcm: boolean): Run {
  const perMs = (ofPcm ? PCM_16K : MULAW_8K).sampleRateHz / 1000;
  return { isPcm: ofPcm, perMs, ring: newRing(ofPcm, FIRST_MS * perMs), kept: 0, next: 0, end: 0 };
}

/** Bytes lie in a `Buffer`, whose parts are written as text without another view of them. */
function newRing(ofPcm: boolean, length: number): Audio {
  return ofPcm ? new Int16Array(length) : Buffer.alloc(length);
}

function append(run: Run, audio: Audio): void {
  const length = run.end - run.kept + audio.length;
  if (length > run.ring.length)
    resize(run, 2 ** Math.ceil(Math.log2(length / run.ring.length)) * run.ring.length);
  const at = run.end % run.ring.length;
  const first = run.ring.length - at;
  if (audio.length <= first) run.ring.set(audio, at);
  else {
    run.ring.set(audio.subarray(0, first), at);
    run.ring.set(audio.subarray(first), 0);
  }
  run.end += audio.length;
}

/** A ring that has grown gives its memory back as it empties: it is at most four times as long as what it holds. */
function shrink(run: Run): void {
  let { length } = run.ring;
  while (length > FIRST_MS * run.perMs && run.end - run.kept <= length / 4) length /= 2;
  if (length < run.ring.length) resize(run, length);
}

/** Gives it a ring of `length` units, which is that of a new one times a power of two, and holds what is kept. */
function resize(run: Run, length: number): void {
  const { ring, kept, end } = run;
  const room = newRing(run.isPcm, length);
  for (let from = kept; from < end; ) {
    const [at, to] = [from % ring.length, from % length];
    const piece = Math.min(end - from, ring.length - at, length - to);
    room.set(ring.subarray(at, at + piece), to);
    from += piece;
  }
  run.ring = room;
}
