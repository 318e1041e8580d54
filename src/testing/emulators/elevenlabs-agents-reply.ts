// One answer of the emulated agent, and how much of it a caller has heard by the vendor's own clock: nobody tells the vendor.
import type { AudioFormat } from '../../audio/format.js';
import type { Clock } from '../../base/clock.js';
import type { EmulatedRealtimeReply } from './realtime-script.js';
import { SpokenReply } from './spoken-reply.js';

export interface AgentReplyOptions {
  readonly reply: EmulatedRealtimeReply;
  readonly format: AudioFormat;
  readonly msPerCharacter: number;
  readonly chunkBytes: number;
  readonly clock: Clock;
  readonly piece: (audio: Buffer, about: { isFirst: boolean; isLast: boolean }) => void;
  readonly cut: () => void;
  readonly failed: () => void;
  readonly finished: () => void;
}

export class AgentReply {
  readonly script: EmulatedRealtimeReply;
  readonly text: string;
  /** Length of its audio, in milliseconds. */
  readonly durationMs: number;
  readonly #options: AgentReplyOptions;
  readonly #spoken: SpokenReply;
  /** When its first audio left; undefined before. */
  #startedAt: number | undefined;

  constructor(options: AgentReplyOptions) {
    this.#options = options;
    const { reply, format, msPerCharacter } = options;
    this.script = reply;
    this.text = reply.text ?? '';
    this.durationMs = this.text.length * msPerCharacter;
    this.#spoken = new SpokenReply({ ...options, ...format, piece: (audio) => this.#piece(audio) });
  }

  /** What a caller who hears it as it comes has heard by now. */
  get heardText(): string {
    return this.text.slice(0, Math.floor(this.#heardMs / this.#options.msPerCharacter));
  }

  /** True until a caller who hears it as it comes has heard all of it. */
  get isHeard(): boolean {
    return this.#startedAt === undefined || this.#heardMs < this.durationMs;
  }

  start(): void {
    this.#spoken.start();
  }

  /** What is on the way comes late; nothing else does. */
  interrupt(): void {
    this.#spoken.cancel();
  }

  stop(): void {
    this.#spoken.stop();
  }

  get #heardMs(): number {
    return this.#startedAt === undefined ? 0 : this.#options.clock.now() - this.#startedAt;
  }

  #piece(audio: Buffer): void {
    const isFirst = this.#startedAt === undefined;
    this.#startedAt ??= this.#options.clock.now();
    this.#options.piece(audio, { isFirst, isLast: this.#spoken.isSpoken });
  }
}
