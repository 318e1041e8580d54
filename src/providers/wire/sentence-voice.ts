// A call's voice over one socket that says one sentence after the other: waiting, abort, second tries and lost connections.
import { type Clock, systemClock, type Timer } from '../../base/clock.js';
import type { ProviderError } from '../../base/errors.js';
import type {
  SpokenPiece,
  SynthesisEvents,
  TextToSpeechContext,
  TextToSpeechSession,
} from '../text-to-speech.js';
import { toProviderError, type WireFailure } from './failure.js';
import { LastingSocket, type VendorTarget } from './lasting-socket.js';
import { RetryPlan } from './retry-plan.js';
import type { OpenVendorSocket, SocketClose } from './vendor-socket.js';
import { VoiceSentence } from './voice-sentence.js';
import { Wakers } from './wakers.js';

/** What a vendor's words for it are. One dialect per call. */
export interface VoiceDialect {
  /** There is a new connection, of which nothing is known yet. */
  connected?(): void;
  /** The messages that have a sentence said. */
  speak(sentence: VoiceSentence): readonly object[];
  /** The messages that stop it. What still comes of it must not reach the next sentence. */
  cancel(sentence: VoiceSentence): readonly object[];
  text(text: string): void;
  binary?(bytes: Uint8Array): void;
  /** True when the connection takes no further sentence. */
  isSpent?(): boolean;
}

/** What a dialect tells. */
export interface VoiceFloor {
  /** The sentence that is being said; undefined when none is. */
  readonly current: VoiceSentence | undefined;
  /** Audio or words of the current sentence have come. */
  alive(): void;
  /** The current sentence is complete. */
  spoken(): void;
  /** The current sentence is not said, or not to its end. */
  refused(failure: WireFailure): void;
}

export interface SentenceVoiceOptions {
  readonly target: VendorTarget;
  readonly createDialect: (floor: VoiceFloor) => VoiceDialect;
  readonly readClose?: (close: SocketClose) => WireFailure | undefined;
  /** Last message before the close. */
  readonly goodbye?: object;
  readonly open?: OpenVendorSocket | undefined;
}

/** A voice that has not begun by then sits at the end of a dead connection. Less than callers of `synthesize` wait. */
const FIRST_AUDIO_MS = 2000;

/** A sentence whose end is not told is over all the same, so long after its last audio. */
const SILENT_END_MS = 3000;

/** A sentence is sent so often before it is given up. */
const MAX_TRIES = 3;

type TellTimes = (pieces: readonly SpokenPiece[]) => void;

export class SentenceVoice implements TextToSpeechSession {
  readonly #context: TextToSpeechContext;
  readonly #options: SentenceVoiceOptions;
  readonly #clock: Clock;
  readonly #dialect: VoiceDialect;
  #socket: LastingSocket | undefined;
  #failure: ProviderError | undefined;
  #failedAt: number | undefined;
  #current: VoiceSentence | undefined;
  #watch: Timer | undefined;
  readonly #wakers = new Wakers();
  #count = 0;
  #closed = false;

  constructor(context: TextToSpeechContext, options: SentenceVoiceOptions) {
    this.#context = context;
    this.#options = options;
    this.#clock = context.clock ?? systemClock;
    const current = () => this.#current;
    this.#dialect = options.createDialect({
      get current() {
        return current();
      },
      alive: () => this.#alive(),
      spoken: () => this.#free()?.end('spoken'),
      refused: (failure) => this.#free()?.refuse(failure),
    });
    this.#connect();
  }

  async *synthesize(
    text: string,
    signal: AbortSignal,
    events?: SynthesisEvents | undefined,
  ): AsyncGenerator<Int16Array> {
    const plan = new RetryPlan({ clock: this.#clock, throttledTries: 1 });
    const end = text.trimEnd().length;
    let rest = text.trim();
    let saidMs = 0;
    let refusedAt: number | undefined;
    for (let tries = 1; rest !== ''; tries += 1) {
      // Positions are told in the whole text and the whole audio, of which this may be the second part.
      const move = movedBy(end - rest.length, saidMs);
      const sentence = await this.#begin(rest, signal, (pieces) => events?.timed?.(pieces.map(move)));
      if (sentence === undefined) return;
      const stop = () => this.#abandon(sentence);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        for await (const pcm of sentence.audio) {
          if (signal.aborted || this.#closed) return;
          if (refusedAt !== undefined)
            this.#context.events?.reconnected?.({ gapMs: this.#clock.now() - refusedAt });
          refusedAt = undefined;
          yield pcm;
        }
      } finally {
        signal.removeEventListener('abort', stop);
        this.#abandon(sentence);
      }
      const { outcome, failure } = sentence;
      if (outcome !== 'lost' && outcome !== 'refused') return;
      // Of a sentence that was heard in part only the rest is said again.
      rest = sentence.rest;
      saidMs += sentence.audioMs;
      // Where nobody knows what is left, the next sentence may be whole.
      if (rest === '' && (outcome === 'lost' || failure.kind !== 'fatal')) return;
      const pauseMs = tries < MAX_TRIES && rest !== '' ? plan.next(failure) : null;
      if (pauseMs === null) throw toProviderError(this.#options.target.names, failure);
      if (outcome !== 'refused') continue;
      refusedAt ??= this.#clock.now();
      await this.#pause(pauseMs, signal);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#free()?.audio.stop();
    this.#wakers.wake();
    const { goodbye } = this.#options;
    this.#socket?.close(goodbye === undefined ? undefined : JSON.stringify(goodbye));
  }

  #connect(): void {
    this.#failure = undefined;
    const { target, readClose, open } = this.#options;
    const dialect = this.#dialect;
    this.#socket = new LastingSocket({
      target,
      clock: this.#clock,
      logger: this.#context.logger,
      ...(readClose === undefined ? {} : { readClose }),
      open,
      events: {
        connected: (gapMs) => this.#connected(gapMs),
        text: (text) => dialect.text(text),
        ...(dialect.binary === undefined ? {} : { binary: (bytes: Uint8Array) => dialect.binary?.(bytes) }),
        lost: () => this.#lost(),
        failed: (error) => {
          this.#socket = undefined;
          this.#failure = error;
          this.#failedAt = this.#clock.now();
          this.#lost();
        },
      },
    });
  }

  #connected(gapMs: number | null): void {
    this.#dialect.connected?.();
    const failedMs = this.#failedAt === undefined ? null : this.#clock.now() - this.#failedAt;
    const gap = gapMs ?? failedMs ?? this.#socket?.lateMs ?? null;
    this.#failedAt = undefined;
    if (gap !== null) this.#context.events?.reconnected?.({ gapMs: gap });
    this.#wakers.wake();
  }

  #lost(): void {
    this.#free()?.end('lost');
    this.#wakers.wake();
  }

  /** Waits for a connection that is free; undefined when nothing is to be said any more. @throws ProviderError when there will be none. */
  async #begin(text: string, signal: AbortSignal, timed: TellTimes): Promise<VoiceSentence | undefined> {
    // A connection that was lost for good while nobody spoke gets one more chance when somebody does.
    if (this.#failure !== undefined && !this.#closed && !signal.aborted) this.#connect();
    while (!signal.aborted && !this.#closed) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#socket?.connected === true && this.#current === undefined) {
        if (this.#dialect.isSpent?.() !== true) return this.#speak(text, timed);
        this.#socket.renew('takes no more sentences over this connection', { isPlanned: true });
        continue;
      }
      await this.#wakers.woken(signal);
    }
    return undefined;
  }

  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const end = this.#clock.now() + pauseMs;
    const timer = this.#clock.after(pauseMs, () => this.#wakers.wake());
    while (this.#clock.now() < end && !signal.aborted && !this.#closed) await this.#wakers.woken(signal);
    timer.cancel();
  }

  #speak(text: string, timed: TellTimes): VoiceSentence {
    this.#count += 1;
    const sentence = new VoiceSentence(`s${this.#count}`, text, timed);
    this.#current = sentence;
    this.#send(this.#dialect.speak(sentence));
    this.#watch = this.#clock.after(FIRST_AUDIO_MS, () => this.#socket?.renew('did not begin to speak'));
    this.#context.events?.usage?.({ characters: [...text].length });
    return sentence;
  }

  #alive(): void {
    if (this.#current?.audible !== true) return;
    this.#watch?.cancel();
    this.#watch = this.#clock.after(SILENT_END_MS, () => {
      this.#free()?.end('spoken');
      // What comes after all would be heard in another sentence.
      this.#socket?.renew('stopped in a sentence without an end');
    });
  }

  /** Nobody listens any more. */
  #abandon(sentence: VoiceSentence): void {
    sentence.audio.stop();
    if (this.#current !== sentence) return;
    this.#send(this.#dialect.cancel(sentence));
    this.#free();
  }

  /** The sentence that was being said; the next one may begin. */
  #free(): VoiceSentence | undefined {
    const sentence = this.#current;
    this.#current = undefined;
    this.#watch?.cancel();
    this.#watch = undefined;
    this.#wakers.wake();
    return sentence;
  }

  #send(messages: readonly object[]): void {
    for (const message of messages) this.#socket?.send(JSON.stringify(message));
  }
}

/** From positions in a part of a sentence to those in the whole: `index` UTF-16 units and `atMs` of audio are before it. */
export function movedBy(index: number, atMs: number): (piece: SpokenPiece) => SpokenPiece {
  return ({ start, end, startMs, endMs }) => ({
    start: start + index,
    end: end + index,
    startMs: startMs + atMs,
    endMs: endMs + atMs,
  });
}
