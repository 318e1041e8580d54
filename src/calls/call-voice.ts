// The speaking half of a call: engine and audio path behind one fault boundary. What throws in here ends this call and no other.
import type { AudioFormat } from '../audio/format.js';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure, EndReason, MediaCounters } from '../contract/call-record.js';
import type { Engine, EngineFact, EngineRecipe, SpokenText } from '../engines/engine.js';
import type { TranscoderBackend } from '../transcoder/backend.js';
import { type AudioPath, openAudioPath } from './audio-path.js';
import type { StreamSocket } from './call-desk.js';

/** How much longer than its own length a goodbye may take to be heard. */
const GOODBYE_GRACE_MS = 3000;
const GOODBYE_LOOK_MS = 20;
const GOODBYE_MARK = 'offhook-goodbye';

/** House words to wire words, for what goes out. */
export interface MediaEncoder {
  encodeAudio(payload: Uint8Array): string;
  encodeMark(name: string): string;
  encodeClear(): string;
}

export interface VoiceOptions {
  readonly callId: string;
  readonly identity: CallIdentity;
  readonly format: AudioFormat;
  readonly media: MediaEncoder;
  readonly socket: StreamSocket;
  /** Frames and clears that go out are counted here. */
  readonly counters: MediaCounters;
  readonly backend: TranscoderBackend;
  readonly recipe: EngineRecipe;
  readonly clock: Clock;
  readonly logger: Logger;
  onFact(fact: EngineFact): void;
  /** The engine wants the call to end, and what it said has been heard. */
  onEnd(reason: EndReason, failure: CallFailure | undefined): void;
  /** Engine or audio code threw. */
  onFailure(error: unknown): void;
}

export class CallVoice {
  readonly #options: VoiceOptions;
  readonly #audio: AudioPath;
  #engine: Engine | undefined;
  #goodbye: { reason: EndReason; failure: CallFailure | undefined } | undefined;
  #goodbyeTimer: Timer | undefined;
  #closed = false;

  /** @throws what the audio path or the recipe throws; nothing is left open then. */
  constructor(options: VoiceOptions) {
    this.#options = options;
    const { callId, identity, recipe, logger } = options;
    const { caller, callee, direction } = identity;
    const clock = this.#guardedClock();
    this.#audio = openAudioPath({
      format: options.format,
      backend: options.backend,
      clock,
      sink: this.#sink(),
      onFrame: (frame) => this.#toEngine((engine) => engine.pushAudio(frame)),
    });
    try {
      this.#engine = recipe.create({
        callId,
        caller,
        callee,
        direction,
        clock,
        logger,
        playout: this.#audio.playout,
        fact: (fact) => options.onFact(fact),
        endCall: (reason, failure) => this.#try(() => this.#endAfterPlayback(reason, failure)),
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Trouble that the engine wants the call to end with, once its last words have been heard. */
  get failing(): { reason: EndReason; failure: CallFailure } | undefined {
    const { reason, failure } = this.#goodbye ?? {};
    return reason === undefined || failure === undefined ? undefined : { reason, failure };
  }

  start(): void {
    this.#toEngine((engine) => engine.start());
  }

  /** Encoded audio of the caller. @throws what the decoder throws, but nothing of the engine. */
  receive(payload: Uint8Array): void {
    if (!this.#closed) this.#audio.receive(payload);
  }

  markEchoed(name: string): void {
    if (!this.#audio.playout.markEchoed(name) || name === GOODBYE_MARK) return;
    this.#toEngine((engine) => engine.markPlayed(name));
  }

  pushDtmf(digit: string): void {
    this.#toEngine((engine) => engine.pushDtmf(digit));
  }

  /** True when the engine's speech-to-text is the simulated one. */
  get takesSpokenText(): boolean {
    return this.#engine?.pushSpokenText !== undefined;
  }

  pushSpokenText(segment: SpokenText): void {
    this.#toEngine((engine) => engine.pushSpokenText?.(segment));
  }

  /** Closes the engine, which states its last facts, then the audio. Idempotent. Never throws. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#goodbyeTimer?.cancel();
    for (const part of [this.#engine, this.#audio]) {
      try {
        part?.close();
      } catch {
        this.#options.logger.error({ callId: this.#options.callId }, 'call not closed cleanly');
      }
    }
  }

  #endAfterPlayback(reason: EndReason, failure: CallFailure | undefined): void {
    if (this.#closed || this.#goodbye !== undefined) return;
    this.#goodbye = { reason, failure };
    const { clock, onEnd } = this.#options;
    const { playout } = this.#audio;
    playout.mark(GOODBYE_MARK);
    const deadline = clock.now() + (playout.pushedMs - playout.playedMs) + GOODBYE_GRACE_MS;
    const look = () => {
      if (playout.playedMs >= playout.pushedMs || clock.now() >= deadline) onEnd(reason, failure);
      else this.#goodbyeTimer = clock.after(GOODBYE_LOOK_MS, look);
    };
    this.#goodbyeTimer = clock.after(0, look);
  }

  #toEngine(action: (engine: Engine) => void): void {
    const engine = this.#engine;
    if (engine !== undefined && !this.#closed) this.#try(() => action(engine));
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** Timers of the engine and the pacer run inside the fault boundary, and not after the end of the call. */
  #guardedClock(): Clock {
    const { clock } = this.#options;
    return {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      after: (delayMs, task) =>
        clock.after(delayMs, () => {
          if (!this.#closed) this.#try(task);
        }),
    };
  }

  #sink() {
    const { media, socket, counters } = this.#options;
    return {
      sendAudio(bytes: Uint8Array) {
        counters.framesSent += 1;
        socket.send(media.encodeAudio(bytes));
      },
      sendMark: (name: string) => socket.send(media.encodeMark(name)),
      sendClear() {
        counters.clears += 1;
        socket.send(media.encodeClear());
      },
      get bufferedBytes() {
        return socket.bufferedBytes;
      },
    };
  }
}
