// One answer of the emulated agent: its words at once, its audio bit by bit, faster than it is heard.
import type { AudioFormat } from '../../audio/format.js';
import type { Clock, Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { makeEmulatedSpeech } from './emulated-speech.js';
import type { EmulatedRealtimeReply } from './realtime-script.js';

export interface AgentReplyOptions {
  readonly reply: EmulatedRealtimeReply;
  readonly format: AudioFormat;
  readonly msPerCharacter: number;
  /** Bytes of a piece. An odd number cuts samples in half. */
  readonly chunkBytes: number;
  readonly clock: Clock;
  readonly piece: (audio: Buffer, about: { isFirst: boolean; isLast: boolean }) => void;
  readonly cut: () => void;
  readonly done: (status: 'completed' | 'failed') => void;
}

/** Pieces that are on the way when an answer is interrupted arrive all the same. */
const LATE_PIECES = 2;

export class AgentReply {
  readonly options: AgentReplyOptions;
  /** Length of its audio, in milliseconds. */
  readonly durationMs: number;
  /** When its first audio left; undefined before. */
  startedAt: number | undefined;
  readonly #audio: Buffer;
  #timer: Timer | undefined;
  #count = 0;
  #at = 0;

  constructor(options: AgentReplyOptions) {
    this.options = options;
    const { reply, format, msPerCharacter } = options;
    const { encoding, sampleRateHz } = format;
    this.durationMs = (reply.text ?? '').length * msPerCharacter;
    const pcm = makeEmulatedSpeech({ durationMs: this.durationMs, sampleRateHz });
    const bytes = encoding === 'pcm' ? new Uint8Array(pcm.buffer) : transcoder.mulawEncode(pcm);
    this.#audio = Buffer.from(bytes);
  }

  /** What a caller who hears it as it comes has heard by now, in characters of its text. */
  get heardText(): string {
    const { reply, clock, msPerCharacter } = this.options;
    const heardMs = this.startedAt === undefined ? 0 : clock.now() - this.startedAt;
    return (reply.text ?? '').slice(0, Math.floor(heardMs / msPerCharacter));
  }

  /** True while a caller who hears it as it comes still hears it. */
  get isHeard(): boolean {
    const { clock } = this.options;
    return this.startedAt === undefined || clock.now() < this.startedAt + this.durationMs;
  }

  start(): void {
    this.#later(this.options.reply.firstAudioMs ?? 0);
  }

  /** What is on the way comes late; nothing else does. */
  interrupt(): void {
    this.stop();
    for (let piece = 0; piece < LATE_PIECES; piece += 1) this.#sendPiece();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #later(delayMs: number): void {
    this.#timer = this.options.clock.after(delayMs, () => this.#step());
  }

  #step(): void {
    const { reply, cut, done } = this.options;
    if (reply.hangAfter === this.#count) return;
    if (reply.cutAfter === this.#count) cut();
    else if (reply.failAfter === this.#count) done('failed');
    else if (this.#at >= this.#audio.length) done('completed');
    else {
      this.#count += 1;
      this.#sendPiece();
      this.#later(reply.chunkEveryMs ?? 10);
    }
  }

  #sendPiece(): void {
    const { chunkBytes, piece, clock } = this.options;
    const audio = this.#audio.subarray(this.#at, this.#at + chunkBytes);
    if (audio.length === 0) return;
    const isFirst = this.#at === 0;
    this.startedAt ??= clock.now();
    this.#at += audio.length;
    piece(audio, { isFirst, isLast: this.#at >= this.#audio.length });
  }
}
