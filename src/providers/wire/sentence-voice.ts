// A call's voice over one socket that says sentence after sentence: waiting, abort, second tries and lost connections.
import { type Clock, systemClock, type Timer } from '../../base/clock.js';
import type { ProviderError } from '../../base/errors.js';
import { pause } from '../../base/pause.js';
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

/** What a vendor's words for it are. One dialect per call. Of its sentences it takes what comes, and says when one ends or is refused. */
export interface VoiceDialect {
  /** Sentences that may be on their way at a time. @default 1 */
  readonly atOnce?: number;
  /** The messages that a new connection begins with. */
  connected?(): readonly object[];
  /** The messages that have a sentence said. */
  speak(sentence: VoiceSentence): readonly object[];
  /**
   * The messages that stop it. What still comes of it must not reach the next sentence. Without this one goes on unheard, and counts
   * until its end.
   */
  cancel?(sentence: VoiceSentence): readonly object[];
  text(text: string): void;
  binary?(bytes: Uint8Array): void;
  /** True while nothing is taken because the vendor has not said that it has stopped what was cancelled. */
  isStopping?(): boolean;
  /** True when the connection takes no further sentence. */
  isSpent?(): boolean;
  /** The messages by which a vendor that hangs up after a silence does not: every `everyMs`. */
  readonly signOfLife?: { readonly everyMs: number; messages(): readonly object[] };
}

/** A sentence on its way: the one with the id, or without one the first. */
export type FindSentence = (id?: string) => VoiceSentence | undefined;

export interface SentenceVoiceOptions {
  readonly target: VendorTarget;
  readonly createDialect: (find: FindSentence) => VoiceDialect;
  readonly readClose?: (close: SocketClose) => WireFailure | undefined;
  /** Last message before the close. */
  readonly goodbye?: object;
  readonly open?: OpenVendorSocket | undefined;
}

/** A sentence that has not begun by then was given to a dead connection. Less than callers of `synthesize` wait. */
const FIRST_AUDIO_MS = 2000;

/** A sentence whose end is not told is over all the same, so long after its last audio. */
const SILENT_END_MS = 3000;

/** A vendor that has not said by then that it has stopped a sentence will not: its answer is lost, and another connection has nothing to stop. */
const STOPPED_MS = 400;

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
  /** The sentences on their way, with what ends the waiting for them. */
  readonly #open = new Map<VoiceSentence, Timer>();
  #stopping: Timer | undefined;
  #keepAlive: Timer | undefined;
  readonly #wakers = new Wakers();
  readonly #closing = new AbortController();
  #count = 0;

  constructor(context: TextToSpeechContext, options: SentenceVoiceOptions) {
    this.#context = context;
    this.#options = options;
    this.#clock = context.clock ?? systemClock;
    this.#dialect = options.createDialect((id) =>
      [...this.#open.keys()].find((sentence) => id === undefined || sentence.id === id),
    );
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
      if (outcome === 'stalled') return events?.brokeOff?.();
      if (outcome !== 'lost' && outcome !== 'refused') return;
      // Of a sentence that was heard in part only the rest is said again.
      rest = sentence.rest;
      saidMs += sentence.audioMs;
      // Where nobody knows what is left, the next sentence may be whole.
      if (rest === '' && (outcome === 'lost' || failure.kind !== 'fatal')) return events?.brokeOff?.();
      const pauseMs = tries < MAX_TRIES && rest !== '' ? plan.next(failure) : null;
      if (pauseMs === null) throw toProviderError(this.#options.target.names, failure);
      if (outcome !== 'refused') continue;
      refusedAt ??= this.#clock.now();
      await pause(this.#clock, pauseMs, AbortSignal.any([signal, this.#closing.signal]));
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closing.abort();
    this.#stopping?.cancel();
    this.#keepAlive?.cancel();
    for (const sentence of [...this.#open.keys()]) {
      sentence.drop();
      this.#free(sentence);
    }
    this.#wakers.wake();
    const { goodbye } = this.#options;
    this.#socket?.close(goodbye === undefined ? undefined : JSON.stringify(goodbye));
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
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
      persists: this.#context.isLast,
      events: {
        connected: (gapMs) => this.#connected(gapMs),
        text: (text) => dialect.text(text),
        ...(dialect.binary === undefined ? {} : { binary: (bytes: Uint8Array) => dialect.binary?.(bytes) }),
        lost: () => this.#lost(),
        failed: (error) => {
          this.#socket = undefined;
          this.#failure = error;
          this.#failedAt ??= this.#clock.now();
          this.#lost();
        },
      },
    });
  }

  #connected(gapMs: number | null): void {
    this.#stopping?.cancel();
    this.#send(this.#dialect.connected?.() ?? []);
    this.#stayAlive();
    const failedMs = this.#failedAt === undefined ? null : this.#clock.now() - this.#failedAt;
    const gap = gapMs ?? failedMs ?? this.#socket?.lateMs ?? null;
    this.#failedAt = undefined;
    if (gap !== null) this.#context.events?.reconnected?.({ gapMs: gap });
    this.#wakers.wake();
  }

  #lost(): void {
    this.#keepAlive?.cancel();
    for (const sentence of [...this.#open.keys()]) sentence.end('lost');
    this.#wakers.wake();
  }

  /** Waits for a connection that is free; undefined when nothing is to be said any more. @throws ProviderError when there will be none. */
  async #begin(text: string, signal: AbortSignal, timed: TellTimes): Promise<VoiceSentence | undefined> {
    // A connection that was lost for good while nobody spoke gets one more chance when somebody does.
    if (this.#failure !== undefined && !this.#closed && !signal.aborted) this.#connect();
    while (!signal.aborted && !this.#closed) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#socket?.connected === true && this.#open.size < (this.#dialect.atOnce ?? 1)) {
        if (this.#dialect.isSpent?.() !== true) return this.#speak(text, timed);
        this.#socket.renew('takes no more sentences over this connection', { isPlanned: true });
        continue;
      }
      await this.#wakers.woken(signal);
    }
    return undefined;
  }

  #speak(text: string, timed: TellTimes): VoiceSentence {
    this.#count += 1;
    const sentence = new VoiceSentence(`s${this.#count}`, text, {
      timed,
      heard: () => this.#expectMore(sentence),
      ended: () => this.#free(sentence),
    });
    this.#send(this.#dialect.speak(sentence));
    this.#await(sentence, FIRST_AUDIO_MS, () => this.#giveUp('did not begin to speak', FIRST_AUDIO_MS));
    this.#context.events?.usage?.({ characters: [...text].length });
    return sentence;
  }

  #expectMore(sentence: VoiceSentence): void {
    this.#await(sentence, SILENT_END_MS, () => {
      sentence.end('stalled');
      // What comes after all would be heard in another sentence, and the next one need not find out that the connection is dead.
      this.#giveUp('stopped in a sentence without an end', SILENT_END_MS);
    });
  }

  #await(sentence: VoiceSentence, ms: number, task: () => void): void {
    this.#open.get(sentence)?.cancel();
    this.#open.set(sentence, this.#clock.after(ms, task));
  }

  /** The connection takes sentences and has given no audio for `lastedMs`: another one may. */
  #giveUp(reason: string, lastedMs: number): void {
    this.#socket?.renew(reason, { lastedMs });
  }

  /** Nobody listens any more. */
  #abandon(sentence: VoiceSentence): void {
    sentence.drop();
    if (!this.#open.has(sentence)) return;
    const messages = this.#dialect.cancel?.(sentence);
    if (messages === undefined) {
      this.#await(sentence, SILENT_END_MS, () => this.#free(sentence));
      return;
    }
    this.#send(messages);
    this.#free(sentence);
    if (this.#dialect.isStopping?.() === true) this.#awaitStop();
  }

  #awaitStop(): void {
    this.#stopping?.cancel();
    this.#stopping = this.#clock.after(STOPPED_MS, () => {
      if (this.#dialect.isStopping?.() === true) this.#socket?.renew('did not say that it had stopped');
    });
  }

  /** The next one may begin. */
  #free(sentence: VoiceSentence): void {
    this.#open.get(sentence)?.cancel();
    this.#open.delete(sentence);
    this.#wakers.wake();
  }

  #stayAlive(): void {
    const { signOfLife } = this.#dialect;
    if (signOfLife === undefined) return;
    this.#keepAlive?.cancel();
    this.#keepAlive = this.#clock.after(signOfLife.everyMs, () => {
      this.#send(signOfLife.messages());
      this.#stayAlive();
    });
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
