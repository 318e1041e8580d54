// What an emulated realtime model says in one answer: a script, given out bit by bit, faster than it is heard.
import type { Clock, Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { speakInTones } from '../tone-voice.js';
import { makeEmulatedSpeech } from './emulated-speech.js';
import type { EmulatedRealtimeReply } from './realtime-script.js';

export interface SpokenReplyOptions {
  readonly reply: EmulatedRealtimeReply;
  readonly encoding: 'pcm' | 'mulaw' | 'alaw';
  /** @default 24000 for PCM, else 8000 */
  readonly sampleRateHz?: number;
  readonly msPerCharacter: number;
  /** Bytes of a piece. An odd number cuts samples in half. */
  readonly chunkBytes: number;
  readonly clock: Clock;
  /** Audio with the words that are in it. */
  readonly piece: (audio: Buffer, words: string) => void;
  /** The script wants the connection to be cut. */
  readonly cut: () => void;
  /** It wants the answer to fail. */
  readonly failed: () => void;
  /** Everything was given out. */
  readonly finished: () => void;
}

/** Pieces that are on the way when an answer is stopped arrive all the same. */
const LATE_PIECES = 2;

export class SpokenReply {
  readonly #options: SpokenReplyOptions;
  readonly #audio: Buffer;
  readonly #bytesPerMs: number;
  #timer: Timer | undefined;
  #count = 0;
  #at = 0;
  #isOver = false;

  constructor(options: SpokenReplyOptions) {
    this.#options = options;
    const { reply, encoding, msPerCharacter } = options;
    const { sampleRateHz = encoding === 'pcm' ? 24_000 : 8000 } = options;
    this.#bytesPerMs = (sampleRateHz / 1000) * (encoding === 'pcm' ? 2 : 1);
    const { text = '', voice } = reply;
    const pcm =
      voice === 'tones'
        ? speakInTones(text, { sampleRateHz, msPerCharacter })
        : makeEmulatedSpeech({ durationMs: text.length * msPerCharacter, sampleRateHz });
    if (encoding === 'pcm') this.#audio = Buffer.from(pcm.buffer);
    else
      this.#audio = Buffer.from(
        encoding === 'mulaw' ? transcoder.mulawEncode(pcm) : transcoder.alawEncode(pcm),
      );
  }

  get hasAudio(): boolean {
    return this.#audio.length > 0;
  }

  /** Audio that was given out, in milliseconds. */
  get sentMs(): number {
    return Math.floor(this.#at / this.#bytesPerMs);
  }

  /** True when all of its audio was given out. */
  get isSpoken(): boolean {
    return this.#at >= this.#audio.length;
  }

  start(): void {
    this.#later(this.#options.reply.firstAudioMs ?? 0);
  }

  /** What is on the way comes late; nothing else does. */
  cancel(): void {
    this.stop();
    for (let piece = 0; piece < LATE_PIECES; piece += 1) this.#sendPiece();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #later(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#step());
  }

  #step(): void {
    const { reply, cut, failed, finished } = this.#options;
    if (this.#isOver) return;
    if (reply.hangAfter === this.#count) return;
    if (reply.cutAfter === this.#count) cut();
    else if (reply.failAfter === this.#count) failed();
    else if (this.#at >= this.#audio.length) {
      this.#isOver = true;
      finished();
    } else {
      this.#count += 1;
      this.#sendPiece();
      this.#later(reply.chunkEveryMs ?? 10);
    }
  }

  #sendPiece(): void {
    const { chunkBytes, reply, piece } = this.#options;
    const audio = this.#audio.subarray(this.#at, this.#at + chunkBytes);
    if (audio.length === 0) return;
    const text = reply.text ?? '';
    const share = (at: number) => Math.round((text.length * at) / this.#audio.length);
    const words = text.slice(share(this.#at), share(this.#at + audio.length));
    this.#at += audio.length;
    piece(audio, words);
  }
}
