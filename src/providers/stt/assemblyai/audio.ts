// The caller's audio as AssemblyAI takes it: in messages of 60 ms, and never faster than it is spoken, whatever has to be caught up with.
import { KEPT_AUDIO_MS } from '../../../audio/kept-audio.js';
import type { Clock } from '../../../base/clock.js';
import { AudioBacklog, toSeconds } from '../../wire/audio-backlog.js';
import { isLoud } from '../../../audio/pcm-bytes.js';

/** What may wait for the first connection. */
const KEPT_BEFORE_FIRST_MS = 2000;

const SAMPLES_PER_MS = 16;

/** Samples of a message: the vendor takes 50 to 1000 ms. */
const MESSAGE_SAMPLES = 960;

/** Audio may be so far ahead of the clock: frames of a telephone come in bursts. */
const AHEAD_SAMPLES = 3200;

/** While there is something to catch up with, pauses are shortened to this: long enough to be one. */
const LONGEST_PAUSE_SAMPLES = 6400;

export class PacedAudio {
  readonly #clock: Clock;
  readonly #keptBeforeFirstMs: number;
  readonly #backlog = new AudioBacklog(KEPT_AUDIO_MS);
  readonly #message = new Int16Array(MESSAGE_SAMPLES);
  #beganAt: number | undefined;
  #everBegan = false;
  #sent = 0;
  #quiet = 0;
  #isBehind = false;
  /** From which sample of the socket on the session's sample is how much higher. */
  #offsets: { from: number; by: number }[] = [];
  #settled = 0;

  /** `keptMs`: what may wait for the first connection, where that is another time than usual. */
  constructor(clock: Clock, { keptMs = KEPT_BEFORE_FIRST_MS }: { keptMs?: number | undefined } = {}) {
    this.#clock = clock;
    this.#keptBeforeFirstMs = keptMs;
  }

  push(frame: Int16Array): void {
    const { dropped } = this.#backlog;
    this.#backlog.push(frame);
    if (!this.#everBegan) this.#backlog.keepNewest(this.#keptBeforeFirstMs);
    if (this.#beganAt !== undefined && this.#backlog.dropped > dropped) this.#noteOffset();
  }

  /** A connection listens from now on. What has no final text yet is sent again. Returns the milliseconds that nobody will have heard. */
  begin(): number {
    if (this.#everBegan) this.#backlog.rewindTo(this.#settled);
    this.#everBegan = true;
    this.#beganAt = this.#clock.now();
    this.#sent = 0;
    this.#quiet = 0;
    this.#offsets = [];
    this.#noteOffset();
    this.#isBehind = true;
    return Math.round(toSeconds(this.#backlog.takeDropped()) * 1000);
  }

  pause(): void {
    this.#beganAt = undefined;
  }

  /** The next message, when one may be sent now. Valid until the next call. */
  next(): Int16Array | undefined {
    while (this.#beganAt !== undefined && this.#backlog.waiting >= MESSAGE_SAMPLES) {
      if (this.dueInMs > 0) return undefined;
      const message = this.#take();
      if (!this.#isSkipped(message)) {
        this.#sent += message.length;
        return message;
      }
      this.#noteOffset();
    }
    this.#isBehind = false;
    return undefined;
  }

  /** True when a whole message waits. */
  get isWaiting(): boolean {
    return this.#backlog.waiting >= MESSAGE_SAMPLES;
  }

  /** Time until the next message may be sent; 0 when that is now. */
  get dueInMs(): number {
    const elapsedMs = this.#clock.now() - (this.#beganAt ?? 0);
    return Math.max(0, (this.#sent - AHEAD_SAMPLES) / SAMPLES_PER_MS - elapsedMs);
  }

  /** Converts milliseconds of the socket to milliseconds of the session. */
  toSessionMs(socketMs: number): number {
    const offset =
      this.#offsets.findLast(({ from }) => from <= socketMs * SAMPLES_PER_MS) ?? this.#offsets[0];
    return socketMs + toSeconds(offset?.by ?? 0) * 1000;
  }

  /** Audio up to here, in milliseconds of the socket, has its final text. */
  settle(socketMs: number): void {
    this.#settled = Math.max(this.#settled, Math.round(this.toSessionMs(socketMs) * SAMPLES_PER_MS));
  }

  #take(): Int16Array {
    let filled = 0;
    while (filled < MESSAGE_SAMPLES) {
      const piece = this.#backlog.take(MESSAGE_SAMPLES - filled);
      this.#message.set(piece, filled);
      filled += piece.length;
    }
    return this.#message;
  }

  #isSkipped(message: Int16Array): boolean {
    this.#quiet = isLoud(message) ? 0 : this.#quiet + message.length;
    return this.#isBehind && this.#quiet > LONGEST_PAUSE_SAMPLES;
  }

  #noteOffset(): void {
    const last = this.#offsets.at(-1);
    if (last?.from === this.#sent) this.#offsets.pop();
    this.#offsets.push({ from: this.#sent, by: this.#backlog.next - this.#sent });
  }
}
