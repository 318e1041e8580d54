// One media socket of a call: reads its messages, counts what is out of place, and says when it is gone. Knows no engine and no record.
import { ProtocolError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Clock, Timer } from '../base/clock.js';
import type { MediaDialect, MediaMessage } from '../carriers/carrier.js';
import type { CallFailure, MediaCounters } from '../contract/call-record.js';
import type { StreamReceiver, StreamSocket } from './call-desk.js';
import type { SocketClose } from './call-ending.js';
import type { StartMessage } from './call-identity.js';

/** A stream that has not said `start` by then is closed. */
const START_TIMEOUT_MS = 10_000;
/** Messages out of place that the streams of a call may send before the one that sends the next is closed. */
const MAX_UNEXPECTED = 1000;

/** What a stream says between its start and its end. */
export type LiveMessage = Extract<MediaMessage, { type: 'audio' | 'dtmf' | 'mark' | 'spoken-text' }>;

/** How a stream went: it said so, its socket closed without a word, or it broke the protocol. */
export type StreamLoss =
  | { readonly type: 'stop' }
  | { readonly type: 'lost' }
  | { readonly type: 'broken'; readonly failure: CallFailure; readonly close: SocketClose };

/** Hears one stream. What it throws breaks that stream. */
export interface StreamListener {
  started(stream: CallStream, start: StartMessage): void;
  received(message: LiveMessage): void;
  /** Once, and the last that is heard of the stream. */
  gone(stream: CallStream, loss: StreamLoss): void;
}

export interface CallStreamOptions {
  readonly callId: string;
  readonly media: MediaDialect;
  readonly socket: StreamSocket;
  /** Of the call: frames that come in and messages out of place are counted here. */
  readonly counters: MediaCounters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly listener: StreamListener;
}

export class CallStream implements StreamReceiver {
  readonly media: MediaDialect;
  readonly socket: StreamSocket;
  readonly #options: CallStreamOptions;
  readonly #startTimer: Timer;
  #phase: 'waiting' | 'open' | 'gone' = 'waiting';
  #isClosed = false;

  constructor(options: CallStreamOptions) {
    this.#options = options;
    this.media = options.media;
    this.socket = options.socket;
    this.#startTimer = options.clock.after(START_TIMEOUT_MS, () =>
      this.#break('The media stream sent no start message.', { code: 1008, reason: 'No start message' }),
    );
  }

  receiveText(text: string): void {
    if (this.#phase === 'gone') return;
    try {
      this.#receive(this.media.decode(text));
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
    if (this.#phase === 'gone') return;
    this.#options.logger.debug({ callId: this.#options.callId, code }, 'media socket closed');
    this.#go({ type: 'lost' });
  }

  /** Hears nothing more of it. The socket stays as it is. Idempotent. */
  leave(): void {
    this.#phase = 'gone';
    this.#startTimer.cancel();
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

  #receive(message: MediaMessage): void {
    const { listener, counters } = this.#options;
    if (message.type === 'connected' || message.type === 'ignored') return;
    if (message.type === 'unexpected') this.receiveUnexpected(message.reason);
    else if (message.type === 'start' && this.#phase === 'waiting') {
      this.#startTimer.cancel();
      this.#phase = 'open';
      listener.started(this, message);
    } else if (message.type === 'start') this.receiveUnexpected('A second start.');
    else if (this.#phase === 'waiting') this.receiveUnexpected('A message before start.');
    else if (message.type === 'stop') this.#go({ type: 'stop' });
    else {
      if (message.type === 'audio') counters.framesReceived += 1;
      listener.received(message);
    }
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
