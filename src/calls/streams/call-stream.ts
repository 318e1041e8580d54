// One media socket of a call: reads its messages, counts what is out of place, and says when it is gone. Knows no engine and no record.
import { ProtocolError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { Clock, Timer } from '../../base/clock.js';
import type { Meters } from '../../base/meters.js';
import type { MediaDialect, MediaMessage } from '../../carriers/carrier.js';
import type { CallFailure, MediaCounters } from '../../contract/call-record.js';
import type { StreamReceiver, StreamSocket } from '../call-desk.js';
import type { SocketClose } from '../ending/call-ending.js';
import type { StartMessage } from '../call-identity.js';
import { InboundPace } from './inbound-pace.js';

/** A stream is lost that has brought no audio for so long: carriers send a frame every 20 ms, of silence too. */
const SILENCE_MS = 3000;
/** A loop that was blocked runs its timers before it reads its sockets: what waits there has this long to be heard. */
const LATE_READING_MS = 100;
/** Messages out of place that the streams of a call may send before the one that sends the next is closed. */
const MAX_UNEXPECTED = 1000;

/** What a stream says between its start and its end, beside its sound. */
export type LiveMessage = Extract<MediaMessage, { type: 'dtmf' | 'mark' | 'spoken-text' }>;

/** Takes the sound of a stream. */
export interface SoundReceiver {
  /** Encoded audio of any length that came at `now` on the stream's clock. @throws what breaks the stream */
  receive(payload: Uint8Array, now: number): void;
}

/** How a stream went: it said so, its socket closed without a word, or it broke the protocol. */
export type StreamLoss =
  | { readonly type: 'stop' }
  | { readonly type: 'lost' }
  | { readonly type: 'broken'; readonly failure: CallFailure; readonly close: SocketClose };

/** Hears one stream. What it throws breaks that stream. */
export interface StreamListener {
  started(stream: CallStream, start: StartMessage): void;
  received(message: LiveMessage): void;
  /** It brings audio faster than real time, and some was dropped. Once. */
  rushed(): void;
  /** Once, and the last that is heard of the stream. */
  gone(stream: CallStream, loss: StreamLoss): void;
}

export interface CallStreamOptions {
  readonly callId: string;
  readonly media: MediaDialect;
  readonly socket: StreamSocket;
  /** Of the call: frames that come in and messages out of place are counted here. */
  readonly counters: MediaCounters;
  /** True while no audio need come. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly meters: Meters;
  readonly logger: Logger;
  readonly listener: StreamListener;
  /** As in `CallEnvironment`. */
  readonly noticeStall?: (() => void) | undefined;
}

export class CallStream implements StreamReceiver {
  readonly media: MediaDialect;
  readonly socket: StreamSocket;
  readonly #options: CallStreamOptions;
  #phase: 'waiting' | 'open' | 'gone' = 'waiting';
  #isClosed = false;
  #id: string | null = null;
  #sound: SoundReceiver | undefined;
  #frames = 0;
  #pace: InboundPace | undefined;
  #hasRushed = false;
  #heardAt: number;
  #watch: Timer;

  constructor(options: CallStreamOptions) {
    this.#options = options;
    this.media = options.media;
    this.socket = options.socket;
    this.#heardAt = options.clock.now();
    this.#watch = this.#lookAfter(SILENCE_MS);
  }

  /** The carrier's name of it; null before its start. */
  get id(): string | null {
    return this.#id;
  }

  /** Frames that it has brought. */
  get frames(): number {
    return this.#frames;
  }

  /** Since it has brought audio, or has begun, in milliseconds. */
  get silentMs(): number {
    return this.#options.clock.now() - this.#heardAt;
  }

  /** Its sound goes there from now on, without a stop on the way. */
  bind(sound: SoundReceiver): void {
    this.#sound = sound;
  }

  receiveText(text: string): void {
    this.#options.noticeStall?.();
    if (this.#phase === 'gone') return;
    try {
      const message = this.media.decode(text);
      if (message.type !== 'audio' || this.#phase !== 'open') {
        this.#receive(message);
        return;
      }
      const now = this.#options.clock.now();
      if (this.#hasTimeFor(message.payload, now)) this.#sound?.receive(message.payload, now);
    } catch (error) {
      const { logger, callId } = this.#options;
      logger.warn({ callId, ...describeError(error) }, 'media stream failed');
      const code = error instanceof ProtocolError ? error.closeCode : 1003;
      this.#break('A message of the media stream could not be read.', { code, reason: 'Unreadable message' });
    }
  }

  receiveUnexpected(reason: string): void {
    if (this.#phase === 'gone') return;
    const { counters, logger, callId } = this.#options;
    counters.unexpectedMessages += 1;
    logger.debug({ callId, reason }, 'unexpected media message');
    if (counters.unexpectedMessages <= MAX_UNEXPECTED) return;
    this.#break('Too many unexpected messages on the media stream.', {
      code: 1008,
      reason: 'Too many unexpected messages',
    });
  }

  socketClosed(code: number): void {
    this.#isClosed = true;
    this.#options.noticeStall?.();
    if (this.#phase === 'gone') return;
    this.#options.logger.debug({ callId: this.#options.callId, code }, 'media socket closed');
    this.lose();
  }

  /** It is dead, whatever its socket looks like. Idempotent. */
  lose(): void {
    this.#go({ type: 'lost' });
  }

  /** Hears nothing more of it. The socket stays as it is. Idempotent. */
  leave(): void {
    this.#phase = 'gone';
    this.#watch.cancel();
  }

  /** Hears nothing more of it and closes the socket. Idempotent. */
  close(close: SocketClose): void {
    this.leave();
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.socket.close(close.code, close.reason);
    } catch (error) {
      const { logger, callId } = this.#options;
      logger.warn({ callId, ...describeError(error) }, 'media socket not closed cleanly');
    }
  }

  /** What is no sound, or out of place. */
  #receive(message: MediaMessage): void {
    const { listener } = this.#options;
    if (message.type === 'connected' || message.type === 'ignored') return;
    if (message.type === 'unexpected') this.receiveUnexpected(message.reason);
    else if (message.type === 'start' && this.#phase === 'waiting') {
      this.#heardAt = this.#options.clock.now();
      this.#phase = 'open';
      this.#id = message.streamId;
      if (message.format !== null) this.#pace = new InboundPace(message.format, this.#heardAt);
      listener.started(this, message);
    } else if (message.type === 'start') this.receiveUnexpected('A second start.');
    else if (this.#phase === 'waiting' || message.type === 'audio')
      this.receiveUnexpected('A message before start.');
    else if (message.type === 'stop') this.#go({ type: 'stop' });
    else listener.received(message);
  }

  /** Counts a frame. False when it comes too fast to be heard. */
  #hasTimeFor(payload: Uint8Array, now: number): boolean {
    const { counters, meters, listener } = this.#options;
    counters.framesReceived += 1;
    this.#frames += 1;
    this.#heardAt = now;
    const droppedMs = this.#pace?.take(payload.length, now) ?? 0;
    if (droppedMs === 0) return true;
    meters.audioDropped(droppedMs);
    if (!this.#hasRushed) listener.rushed();
    this.#hasRushed = true;
    if (this.#pace?.isExhausted === true) {
      const close = { code: 1008, reason: 'Audio faster than real time' };
      this.#break('The media stream brought audio faster than real time.', close);
    }
    return false;
  }

  #lookAfter(delayMs: number, { isLast = false } = {}): Timer {
    const { clock, isHeld } = this.#options;
    const dueAt = clock.now() + delayMs;
    return clock.after(delayMs, () => {
      this.#pace?.stalled(Math.max(0, clock.now() - dueAt));
      if (isHeld()) this.#heardAt = clock.now();
      const leftMs = SILENCE_MS - (clock.now() - this.#heardAt);
      if (leftMs > 0) this.#watch = this.#lookAfter(leftMs);
      else if (!isLast) this.#watch = this.#lookAfter(LATE_READING_MS, { isLast: true });
      else this.#fallSilent();
    });
  }

  #fallSilent(): void {
    const { logger, callId } = this.#options;
    logger.warn({ callId, silentMs: SILENCE_MS, frames: this.#frames }, 'media stream fell silent');
    if (this.#phase === 'open') this.lose();
    else this.#break('The media stream sent no start message.', { code: 1008, reason: 'No start message' });
  }

  #break(message: string, close: SocketClose): void {
    this.#go({ type: 'broken', failure: { code: 'PROTOCOL_INVALID', message }, close });
  }

  #go(loss: StreamLoss): void {
    if (this.#phase === 'gone') return;
    this.leave();
    this.#options.listener.gone(this, loss);
  }
}
