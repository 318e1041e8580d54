// The outbound queue of a call: internal PCM or the line's own bytes in, encoded frames out at the pace of the caller's ear, with marks
// and clear. A telephone's bytes are a quarter of their samples: for such a line audio is encoded as it comes, and waits as what it leaves as.
import { type Alarm, alarmOf } from '../base/alarms.js';
import type { Clock } from '../base/clock.js';
import { type Meters, silentMeters } from '../base/meters.js';
import type { OutboundConverter, TelephoneLine } from './converter.js';
import { type Audio, type AudioFormat, FRAME_MS, frameSamples, isPcm, PCM_16K } from './format.js';
import { FrameQueue } from './frame-queue.js';
import { PlaybackClock } from './playback-clock.js';
import type { LinePlayout } from './playout.js';

/** The carrier's end of the queue. `bytes` are valid until the call returns. */
export interface PlaybackSink {
  sendAudio(bytes: Uint8Array): void;
  sendMark(name: string): void;
  sendClear(): void;
  /** Bytes handed over and not yet taken by the network. */
  readonly bufferedBytes: number;
}

/** One way to the caller's ear. The pacer frees the converter. */
export interface PlaybackWay {
  readonly converter: OutboundConverter;
  readonly sink: PlaybackSink;
}

/** Hears what the caller hears of the agent. Times are the clock's `now()`. */
export interface PlaybackListener {
  /** 20 ms of samples that sound at `atMs`. Valid until the call returns. */
  played(frame: Int16Array, atMs: number): void;
  /** The same of audio that came as the bytes of the line. */
  passed(bytes: Uint8Array, line: TelephoneLine, atMs: number): void;
  /** A mark came back, `lagMs` later than what is before it was to have sounded. */
  markHeard(atMs: number, lagMs: number): void;
  /** 20 ms as the line carries them, from `atMs` on. Valid until the call returns. */
  sent(bytes: Uint8Array, atMs: number): void;
  /** What would have sounded after `atMs` does not. */
  cut(atMs: number): void;
}

export interface PacerOptions extends PlaybackWay {
  readonly clock: Clock;
  readonly listener?: PlaybackListener | undefined;
  /** How far sending runs ahead of playing, in milliseconds: the longest stall of the event loop that nobody hears. What is there can only be taken back by a clear. @default 400 */
  readonly leadMs?: number;
  /** Bytes the socket may hold back before sending waits. @default 32768 */
  readonly maxBufferedBytes?: number;
  /** Hears of every frame how late it left, and what waits. @default nobody */
  readonly meters?: Meters;
  /** Asked before anything goes out, and may close the pacer. @default nobody is */
  readonly noticeStall?: (() => void) | undefined;
}

interface Mark {
  readonly name: string;
  /** Its position, as `pushedMs` counts. */
  readonly atMs: number;
}

/** Source: 200-400 ms are usual. A clear takes any lead back at once; a stall that outlasts it is a hole in a word. */
const DEFAULT_LEAD_MS = 400;
const DEFAULT_MAX_BUFFERED_BYTES = 32_768;

/** So much is encoded at a time, which bounds the memory that it takes. */
const PIECE_SAMPLES = 10 * frameSamples(PCM_16K);
const SILENCE = new Int16Array(frameSamples(PCM_16K));

/** A pause in the pushes after which a tail shorter than a frame is sent, unless the carrier has still this much to play. */
const TAIL_PAUSE_MS = 60;
const TAIL_RESERVE_MS = 40;

/**
 * Sends 20 ms frames in real time with a bounded lead. The schedule is the playback clock's, so a late timer is made good
 * by more than one frame, never by more than the lead.
 */
export class Pacer implements LinePlayout {
  #converter: OutboundConverter;
  #sink: PlaybackSink;
  readonly #clock: Clock;
  readonly #listener: PlaybackListener | undefined;
  readonly #leadMs: number;
  readonly #maxBufferedBytes: number;
  readonly #meters: Meters;
  readonly #noticeStall: (() => void) | undefined;
  /** Looks again when the next frame may leave. */
  readonly #alarm: Alarm;
  readonly #playback = new PlaybackClock();
  readonly #queue = new FrameQueue();
  #marks: Mark[] = [];
  /** Marks at the carrier, with their position. */
  readonly #pending = new Map<string, number>();
  /** Marks that a pause took back from the carrier, which echoes them as well, and how many such echoes are to come. */
  readonly #takenBack = new Map<string, number>();
  /** Who waits for the first frame behind a position. */
  #listeners: { readonly afterMs: number; readonly tell: (sentAtMs: number) => void }[] = [];
  #pushedAt = 0;
  /** When the first frame that waits may leave; undefined when none waits. */
  #dueAt: number | undefined;
  /** Something was sent that no mark has confirmed as heard. */
  #unconfirmed = false;
  /** What is still to come out of the converter: nothing, samples of which no byte has come out yet, or the end of what has. */
  #held: 'nothing' | 'beginning' | 'end' = 'nothing';
  #paused = false;
  #detached = false;
  #closed = false;

  constructor(options: PacerOptions) {
    this.#converter = options.converter;
    this.#sink = options.sink;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#leadMs = Math.max(FRAME_MS, options.leadMs ?? DEFAULT_LEAD_MS);
    this.#maxBufferedBytes = options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#meters = options.meters ?? silentMeters;
    this.#noticeStall = options.noticeStall;
    this.#alarm = alarmOf(options.clock, () => this.#pump(this.#clock.now()));
  }

  get pushedMs(): number {
    return this.#playback.sentMs + this.#queue.queuedMs;
  }

  get playedMs(): number {
    return this.#playback.playedMs(this.#clock.now());
  }

  get lineFormat(): AudioFormat | undefined {
    return this.#closed || this.#detached ? undefined : this.#converter.line?.format;
  }

  push(audio: Audio): void {
    if (this.#closed || audio.length === 0) return;
    if (!isPcm(audio) && this.lineFormat === undefined) return;
    const now = this.#clock.now();
    // The carrier has run dry: what the resampler still holds is the end of what was said before, a click in front of this.
    const isDry = this.#queue.queuedMs === 0 && this.#isDryAt(now);
    if (isPcm(audio) ? isDry && this.#held === 'end' : this.#held !== 'nothing') this.#forgetHeld();
    this.#meters.queued(this.#enqueue(audio));
    this.#pushedAt = now;
    this.#pump(now);
  }

  mark(name: string): void {
    if (this.#closed) return;
    this.#marks.push({ name, atMs: this.pushedMs });
    this.#pump(this.#clock.now());
  }

  clear(): number {
    if (this.#closed) return this.playedMs;
    const wasUnheard = this.#isUnheard;
    const playedMs = this.#drop();
    this.#forgetHeld();
    if (wasUnheard) this.#silence();
    return playedMs;
  }

  pause(): void {
    if (this.#closed || this.#detached || this.#paused) return;
    this.#paused = true;
    const wasUnheard = this.#isUnheard;
    const { sentMs } = this.#playback;
    const playedMs = this.#playback.cut(this.#clock.now());
    const marks = [...this.#pending].map(([name, atMs]) => ({ name, atMs }));
    for (const { name } of marks) this.#takenBack.set(name, (this.#takenBack.get(name) ?? 0) + 1);
    this.#marks = [...marks, ...this.#marks];
    this.#meters.queued(this.#queue.takeBack(sentMs - playedMs));
    this.#stopSending();
    // Who is encoded for as it leaves has that done again.
    if (this.lineFormat === undefined) this.#forgetHeld();
    if (wasUnheard) this.#silence();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#pump(this.#clock.now());
  }

  /**
   * The way to the carrier is gone: what was not heard is dropped as by `clear`, without a word to the carrier, its marks never
   * come back, and what is pushed from now on waits for `attach`. Idempotent.
   */
  detach(): void {
    if (this.#closed || this.#detached) return;
    this.#detached = true;
    const now = this.#clock.now();
    if (!this.#isDryAt(now)) this.#listener?.cut(now);
    this.#drop();
    this.#held = 'nothing';
    this.#converter.close();
  }

  /** Goes on over another way, in the place of the one there is. */
  attach(way: PlaybackWay): void {
    if (this.#closed) {
      way.converter.close();
      return;
    }
    this.detach();
    this.#detached = false;
    this.#converter = way.converter;
    this.#sink = way.sink;
    this.#meters.queued(-this.#queue.queuedMs);
    for (const audio of this.#queue.drain()) this.#meters.queued(this.#enqueue(audio));
    // Half a byte waits for its other half, which need not come.
    const { pushedMs } = this;
    this.#marks = this.#marks.map((mark) => (mark.atMs > pushedMs ? { ...mark, atMs: pushedMs } : mark));
    this.#pump(this.#clock.now());
  }

  onNextFrameSent(listener: (sentAtMs: number) => void): void {
    if (!this.#closed) this.#listeners.push({ afterMs: this.pushedMs, tell: listener });
  }

  /** The carrier sent a mark back. True when it stands for audio that was heard; false for one that was cleared or never ours. */
  markEchoed(name: string): boolean {
    const position = this.#pending.get(name);
    const takenBack = this.#takenBack.get(name) ?? 0;
    // One that was sent again is echoed when it was heard.
    if (takenBack > 0 && (position ?? Number.POSITIVE_INFINITY) > this.playedMs) {
      if (takenBack > 1) this.#takenBack.set(name, takenBack - 1);
      else this.#takenBack.delete(name);
      return false;
    }
    if (position === undefined || this.#closed) return false;
    this.#takenBack.delete(name);
    this.#pending.delete(name);
    const now = this.#clock.now();
    this.#playback.acknowledge(now, position);
    this.#queue.keep(this.#playback.sentMs - this.#playback.heardMs(now));
    this.#listener?.markHeard(now, this.#playback.lagMs);
    if (position >= this.#playback.sentMs) this.#unconfirmed = false;
    return true;
  }

  /** Drops everything without a word to the carrier and frees the converter. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#alarm.cancel();
    this.#forgetQueue();
    this.#marks = [];
    this.#listeners = [];
    this.#pending.clear();
    if (!this.#detached) this.#converter.close();
  }

  /** Has it wait as it leaves, where that is known. Returns its length in milliseconds. */
  #enqueue(audio: Audio): number {
    if (!isPcm(audio) || this.lineFormat === undefined) return this.#queue.push(audio);
    let lengthMs = 0;
    for (let at = 0; at < audio.length; at += PIECE_SAMPLES) {
      const isWhole = audio.length <= PIECE_SAMPLES;
      const piece = isWhole ? audio : audio.subarray(at, at + PIECE_SAMPLES);
      lengthMs += this.#queue.push(this.#converter.convert(piece));
    }
    if (this.#held !== 'end') this.#held = lengthMs > 0 ? 'end' : 'beginning';
    return lengthMs;
  }

  /** What the resampler still holds is no part of what comes next. */
  #forgetHeld(): void {
    if (this.#held === 'nothing') return;
    this.#held = 'nothing';
    this.#converter.reset();
  }

  /** True when the carrier has nothing more to play. */
  #isDryAt(now: number): boolean {
    return this.#playback.bufferedMs(now) === 0;
  }

  /** True when the carrier may have something that was not heard. */
  get #isUnheard(): boolean {
    return this.#unconfirmed || this.#pending.size > 0;
  }

  /** Empties the carrier. */
  #silence(): void {
    this.#listener?.cut(this.#clock.now());
    this.#sink.sendClear();
  }

  /** Forgets what was not heard. Returns how much was. */
  #drop(): number {
    const playedMs = this.#playback.cut(this.#clock.now());
    this.#stopSending();
    this.#forgetQueue();
    this.#marks = [];
    this.#listeners = [];
    this.#takenBack.clear();
    this.#paused = false;
    return playedMs;
  }

  /** Nothing is at the carrier any more, and nothing on its way. */
  #stopSending(): void {
    this.#alarm.cancel();
    this.#dueAt = undefined;
    this.#pending.clear();
    this.#unconfirmed = false;
  }

  #forgetQueue(): void {
    this.#meters.queued(-this.#queue.queuedMs);
    this.#queue.clear();
    this.#dueAt = undefined;
  }

  /** Sends what is due and sets the alarm for what is not. */
  #pump(now: number): void {
    this.#noticeStall?.();
    if (this.#closed || this.#detached || this.#paused) return;
    if (this.#marks.length > 0) this.#sendReachedMarks();
    // Who hears that a frame was sent may push, pause or close.
    while (this.#queue.queuedMs > 0 && !this.#closed && !this.#detached && !this.#paused) {
      const waitMs = this.#waitMs(now);
      if (waitMs > 0) {
        this.#dueAt = now + waitMs;
        this.#alarm.set(waitMs);
        return;
      }
      this.#sendFrame(now);
      if (this.#marks.length > 0) this.#sendReachedMarks();
    }
    this.#alarm.cancel();
  }

  /** Time until the next frame may leave; 0 when it may now. */
  #waitMs(now: number): number {
    if (this.#sink.bufferedBytes > this.#maxBufferedBytes) return FRAME_MS;
    const bufferedMs = this.#playback.bufferedMs(now);
    const leadWaitMs = bufferedMs + FRAME_MS - this.#leadMs;
    if (this.#queue.hasWhole || this.#marks.length > 0) return Math.max(0, leadWaitMs);
    const pauseMs = this.#pushedAt + TAIL_PAUSE_MS - now;
    return Math.max(0, leadWaitMs, pauseMs, bufferedMs - TAIL_RESERVE_MS);
  }

  #sendFrame(now: number): void {
    const frame = this.#queue.take(this.#converter.line?.silentByte);
    if (frame === undefined) return;
    const { audio, contentMs } = frame;
    const playsAt = this.#playback.frameSent(now, FRAME_MS, contentMs);
    this.#queue.keep(this.#playback.sentMs - this.#playback.heardMs(now));
    this.#measure(now, contentMs);
    this.#unconfirmed = true;
    if (this.#held !== 'nothing' && contentMs < FRAME_MS && this.#queue.queuedMs === 0)
      this.#fillUp(audio, contentMs);
    this.#send(audio, playsAt);
    if (this.#listeners.length > 0) this.#tellSent(now);
  }

  #tellSent(now: number): void {
    const { sentMs } = this.#playback;
    const reached = this.#listeners.filter(({ afterMs }) => afterMs < sentMs);
    this.#listeners = this.#listeners.filter(({ afterMs }) => afterMs >= sentMs);
    for (const { tell } of reached) tell(now);
  }

  /** The end of what was said comes out of the resampler as silence goes in. */
  #fillUp(frame: Audio, contentMs: number): void {
    const missing = Math.round((1 - contentMs / FRAME_MS) * frame.length);
    if (isPcm(frame) || missing === 0) return;
    frame.set(this.#converter.convert(SILENCE.subarray(0, 2 * missing)), frame.length - missing);
    this.#held = 'end';
  }

  #send(audio: Audio, playsAt: number): void {
    const { line } = this.#converter;
    let bytes: Uint8Array;
    if (isPcm(audio)) {
      this.#held = 'end';
      this.#listener?.played(audio, playsAt);
      bytes = this.#converter.convert(audio);
    } else {
      if (line === undefined) return;
      this.#listener?.passed(audio, line, playsAt);
      bytes = audio;
    }
    this.#listener?.sent(bytes, playsAt);
    this.#sink.sendAudio(bytes);
  }

  /** A frame that never had to wait is not late. Those behind a late one were due at its pace. */
  #measure(now: number, contentMs: number): void {
    this.#meters.queued(-contentMs);
    this.#meters.frameSent(this.#dueAt === undefined ? 0 : Math.max(0, now - this.#dueAt));
    if (this.#queue.queuedMs === 0) this.#dueAt = undefined;
    else if (this.#dueAt !== undefined) this.#dueAt += FRAME_MS;
  }

  #sendReachedMarks(): void {
    let mark = this.#marks[0];
    while (mark !== undefined && mark.atMs <= this.#playback.sentMs) {
      this.#marks.shift();
      this.#pending.set(mark.name, mark.atMs);
      this.#sink.sendMark(mark.name);
      mark = this.#marks[0];
    }
  }
}
