// One call's voice at ElevenLabs: one socket, one context per sentence.
import { type Clock, systemClock, type Timer } from '../../base/clock.js';
import type { ProviderError } from '../../base/errors.js';
import type {
  SpokenPiece,
  SynthesisEvents,
  TextToSpeechContext,
  TextToSpeechSession,
} from '../text-to-speech.js';
import { toProviderError } from '../wire/failure.js';
import { LastingSocket, type VendorTarget } from '../wire/lasting-socket.js';
import { pause } from '../wire/pause.js';
import { RetryPlan } from '../wire/retry-plan.js';
import { movedBy } from '../wire/sentence-voice.js';
import type { OpenVendorSocket } from '../wire/vendor-socket.js';
import { Wakers } from '../wire/wakers.js';
import { readElevenLabsClose, readElevenLabsMessage } from './elevenlabs-messages.js';
import { ElevenLabsUtterance } from './elevenlabs-utterance.js';

export interface ElevenLabsSessionOptions {
  readonly target: VendorTarget;
  /** `voice_settings` of each context, in the vendor's words. */
  readonly voiceSettings: Readonly<Record<string, number | boolean>>;
  readonly open?: OpenVendorSocket | undefined;
}

/** A sixth open context is an error and the end of the socket. One of the five is the one that keeps the socket alive. */
const MAX_CONTEXTS = 5;
const IDLE_CONTEXT = 'idle';

/** A socket without a message is closed after 20 s, unless it was told to wait longer. */
const KEEP_ALIVE_MS = 15_000;

/** A context that was closed says so. One that does not, for this long after its last message, is over all the same. */
const SILENT_END_MS = 3000;

/** A voice that has not begun by then sits at the end of a dead connection. Less than callers of `synthesize` wait. */
const FIRST_AUDIO_MS = 2000;

/** A sentence is sent so often before it is given up. */
const MAX_TRIES = 3;

export class ElevenLabsSession implements TextToSpeechSession {
  readonly #context: TextToSpeechContext;
  readonly #options: ElevenLabsSessionOptions;
  readonly #clock: Clock;
  #socket: LastingSocket | undefined;
  #failure: ProviderError | undefined;
  /** Contexts that the vendor may still hold open, with the sentence that listens; undefined when nobody does any more. */
  readonly #contexts = new Map<string, ElevenLabsUtterance | undefined>();
  readonly #endTimers = new Map<string, Timer>();
  readonly #wakers = new Wakers();
  #count = 0;
  #hungUpAt: number | undefined;
  #failedAt: number | undefined;
  #lastSentAt = 0;
  #keepAlive: Timer | undefined;
  readonly #closing = new AbortController();

  constructor(context: TextToSpeechContext, options: ElevenLabsSessionOptions) {
    this.#context = context;
    this.#options = options;
    this.#clock = context.clock ?? systemClock;
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
    for (let tries = 1; rest !== '' && !signal.aborted && !this.#closed; tries += 1) {
      await this.#ready(signal);
      if (signal.aborted || this.#closed) return;
      // Positions are told in the whole text and the whole audio, of which this may be the second part.
      const [index, atMs] = [end - rest.length, saidMs];
      const id = this.#speak(rest, (pieces) => events?.timed?.(pieces.map(movedBy(index, atMs))));
      const utterance = this.#contexts.get(id);
      if (utterance === undefined) return;
      const stop = () => this.#abandon(id);
      signal.addEventListener('abort', stop, { once: true });
      try {
        for await (const pcm of utterance.audio) {
          if (signal.aborted || this.#closed) return;
          if (refusedAt !== undefined)
            this.#context.events?.reconnected?.({ gapMs: this.#clock.now() - refusedAt });
          refusedAt = undefined;
          yield pcm;
        }
      } finally {
        signal.removeEventListener('abort', stop);
        if (utterance.outcome === 'open') this.#abandon(id);
      }
      const { outcome, failure } = utterance;
      if (outcome !== 'lost' && outcome !== 'refused') return;
      // Of a sentence that was heard in part only the rest is said again.
      rest = utterance.rest;
      saidMs += utterance.audioMs;
      // Where nobody knows what is left, the next sentence may be whole.
      if (rest === '' && (outcome === 'lost' || failure.kind !== 'fatal')) return;
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
    this.#keepAlive?.cancel();
    for (const utterance of this.#contexts.values()) utterance?.audio.stop();
    this.#forgetContexts();
    this.#wakers.wake();
    this.#socket?.close('{"close_socket":true}');
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  #connect(): void {
    this.#failure = undefined;
    this.#socket = new LastingSocket({
      target: this.#options.target,
      clock: this.#clock,
      logger: this.#context.logger,
      readClose: readElevenLabsClose,
      open: this.#options.open,
      events: {
        connected: (gapMs) => this.#connected(gapMs),
        text: (text) => this.#received(text),
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
    this.#openContext(IDLE_CONTEXT);
    this.#stayAlive();
    const endedAt = this.#hungUpAt ?? this.#failedAt;
    const endedMs = endedAt === undefined ? null : this.#clock.now() - endedAt;
    const gap = gapMs ?? endedMs ?? this.#socket?.lateMs ?? null;
    this.#hungUpAt = this.#failedAt = undefined;
    if (gap !== null) this.#context.events?.reconnected?.({ gapMs: gap });
    this.#wakers.wake();
  }

  /** Waits for a connection and room for one more context. @throws ProviderError when there will be none. */
  async #ready(signal: AbortSignal): Promise<void> {
    // A connection that was lost for good while nobody spoke gets one more chance when somebody does.
    if (this.#failure !== undefined) this.#connect();
    while (!signal.aborted && !this.#closed) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#socket?.connected === true && this.#contexts.size < MAX_CONTEXTS) return;
      await this.#wakers.woken(signal);
    }
  }

  /** Hands a sentence over. The context is closed with it, since only a closed one says when its audio is complete. */
  #speak(text: string, timed: (pieces: readonly SpokenPiece[]) => void): string {
    this.#count += 1;
    const id = `s${this.#count}`;
    this.#openContext(id);
    this.#contexts.set(id, new ElevenLabsUtterance(text, timed));
    this.#send({ text: `${text} `, context_id: id });
    this.#send({ context_id: id, flush: true });
    this.#send({ context_id: id, close_context: true });
    this.#endTimers.set(
      id,
      this.#clock.after(FIRST_AUDIO_MS, () =>
        this.#replaceConnection(FIRST_AUDIO_MS, 'the voice did not begin to speak: connecting again'),
      ),
    );
    this.#context.events?.usage?.({ characters: [...text].length });
    return id;
  }

  #openContext(id: string): void {
    this.#contexts.set(id, undefined);
    const { voiceSettings } = this.#options;
    const settings = Object.keys(voiceSettings).length === 0 ? {} : { voice_settings: voiceSettings };
    this.#send({ text: ' ', context_id: id, ...settings });
  }

  /** Nobody listens any more. Its frames still come for a moment; the context counts until its end. */
  #abandon(id: string): void {
    this.#contexts.get(id)?.audio.stop();
    if (this.#contexts.has(id)) {
      this.#contexts.set(id, undefined);
      this.#expectEnd(id);
    }
  }

  #received(text: string): void {
    const message = readElevenLabsMessage(text);
    if (message === undefined) return;
    const { contextId: id, failure } = message;
    if (!this.#contexts.has(id)) return;
    const utterance = this.#contexts.get(id);
    utterance?.take(message);
    if (failure !== undefined) utterance?.refuse(failure);
    if (message.isFinal || failure !== undefined) this.#finished(id);
    else if (utterance?.audible === true) this.#expectEnd(id);
  }

  #expectEnd(id: string): void {
    this.#endTimers.get(id)?.cancel();
    this.#endTimers.set(
      id,
      this.#clock.after(SILENT_END_MS, () => {
        const isWanted = this.#contexts.get(id) !== undefined;
        this.#finished(id);
        // The next sentence need not find out for itself that the connection is dead.
        if (isWanted)
          this.#replaceConnection(
            SILENT_END_MS,
            'the voice stopped in a sentence without an end: connecting again',
          );
      }),
    );
  }

  #finished(id: string): void {
    const utterance = this.#contexts.get(id);
    this.#contexts.delete(id);
    this.#endTimers.get(id)?.cancel();
    this.#endTimers.delete(id);
    utterance?.end('spoken');
    this.#wakers.wake();
  }

  #lost(): void {
    this.#keepAlive?.cancel();
    const utterances = [...this.#contexts.values()];
    this.#forgetContexts();
    for (const utterance of utterances) utterance?.end('lost');
    this.#wakers.wake();
  }

  /** The connection takes sentences and has given no audio for `silentMs`: another one may. */
  #replaceConnection(silentMs: number, sentence: string): void {
    this.#context.logger.warn({}, sentence);
    this.#hungUpAt ??= this.#clock.now() - silentMs;
    this.#socket?.close();
    this.#lost();
    this.#connect();
  }

  #forgetContexts(): void {
    for (const timer of this.#endTimers.values()) timer.cancel();
    this.#endTimers.clear();
    this.#contexts.clear();
  }

  #stayAlive(): void {
    const dueMs = this.#lastSentAt + KEEP_ALIVE_MS - this.#clock.now();
    this.#keepAlive?.cancel();
    this.#keepAlive = this.#clock.after(dueMs, () => {
      if (this.#clock.now() - this.#lastSentAt >= KEEP_ALIVE_MS) this.#sendSignOfLife();
      this.#stayAlive();
    });
  }

  /** With a context: without one, on the vendor's socket for a single voice, an empty text would be the end of input. */
  #sendSignOfLife(): void {
    if (this.#contexts.has(IDLE_CONTEXT)) this.#send({ text: '', context_id: IDLE_CONTEXT });
    else if (this.#contexts.size < MAX_CONTEXTS) this.#openContext(IDLE_CONTEXT);
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.#lastSentAt = this.#clock.now();
    this.#socket?.send(JSON.stringify(message));
  }
}
