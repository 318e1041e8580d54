// One call's recognition at Deepgram: audio out, transcript in, over as many sockets as it takes.
import { KEPT_AUDIO_MS } from '../../../audio/kept-audio.js';
import type { Timer } from '../../../base/clock.js';
import type { ProviderError } from '../../../base/errors.js';
import type { SpeechToTextContext, SpeechToTextSession } from '../../speech-to-text.js';
import { AudioBacklog, toSeconds } from '../../wire/audio-backlog.js';
import { KeepAlive } from '../../wire/keep-alive.js';
import { LastingSocket, type VendorTarget } from '../../wire/lasting-socket.js';
import { toBytes } from '../../../audio/pcm-bytes.js';
import { createUnknownLog } from '../../wire/unknown-messages.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { type DeepgramMessage, readDeepgramMessage } from './messages.js';
import { DeepgramTurns } from './turns.js';

export interface DeepgramSessionOptions {
  readonly target: VendorTarget;
  readonly ownsTurnTaking: boolean;
  readonly open?: OpenVendorSocket | undefined;
}

/** What may wait for the first connection. */
const KEPT_BEFORE_FIRST_MS = 2000;

/** One message: a frame, or several when there is something to catch up with. */
const MAX_MESSAGE_SAMPLES = 1600;

const RETRY_SENDING_MS = 20;

/** A socket on which nothing is sent is closed after 10 s. */
const KEEP_ALIVE_MS = 4000;

/** `Finalize` is not answered when too little audio came since the last result. */
const FINALIZE_WAIT_MS = 300;

/** So much audio without a final text is always answered, with an empty text if need be. Who does not answer hears nothing any more. */
const LEAST_TO_ANSWER_S = 1;
const ANSWER_WAIT_MS = 1500;

/** Seconds of audio between two reports of usage. */
const USAGE_STEP_S = 10;

export class DeepgramSession implements SpeechToTextSession {
  readonly #context: SpeechToTextContext;
  readonly #backlog = new AudioBacklog(KEPT_AUDIO_MS);
  readonly #turns: DeepgramTurns;
  readonly #socket: LastingSocket;
  /** Second of the session at which the socket's audio begins. */
  #offsetS = 0;
  #everConnected = false;
  #sentSamples = 0;
  #reportedSamples = 0;
  readonly #keepAlive: KeepAlive;
  #sending: Timer | undefined;
  #finalizing: Timer | undefined;
  /** Asked to finalize while audio still waited to be sent. */
  #finalizeDue = false;
  readonly #noteUnknown: (name: string) => void;
  #closed = false;

  constructor(context: SpeechToTextContext, options: DeepgramSessionOptions) {
    this.#context = context;
    const { clock, logger, events } = context;
    this.#noteUnknown = createUnknownLog({ logger, known: ['Metadata'] });
    this.#turns = new DeepgramTurns(
      {
        partial: (text) => this.#tell(() => events.partial(text)),
        final: (text, language) => {
          this.#tell(() => events.settled?.(this.#turns.settledS * 1000));
          this.#tell(() => (language === undefined ? events.final(text) : events.final(text, language)));
        },
        turnEnded: () => this.#tell(() => events.turnEnded?.()),
        wantsRest: () => this.#tell(() => this.#finalize()),
      },
      options,
    );
    this.#socket = new LastingSocket({
      target: options.target,
      clock,
      logger,
      open: options.open,
      persists: context.isLast,
      events: {
        connected: (gapMs) => this.#connected(gapMs),
        text: (text) => this.#received(text),
        lost: () => this.#lost(),
        troubled: (error, trouble) => this.#tell(() => events.troubled?.(error, trouble)),
        failed: (error) => this.#failed(error),
      },
    });
    this.#keepAlive = new KeepAlive(clock, {
      everyMs: KEEP_ALIVE_MS,
      socket: this.#socket,
      text: '{"type":"KeepAlive"}',
    });
  }

  pushAudio(frame: Int16Array): void {
    if (this.#closed) return;
    const droppedBefore = this.#backlog.dropped;
    this.#backlog.push(frame);
    if (!this.#everConnected) this.#backlog.keepNewest(this.#context.keptMs ?? KEPT_BEFORE_FIRST_MS);
    // The vendor counts only what it gets: what the network made us drop is missing in its times.
    if (this.#socket.connected) this.#offsetS += toSeconds(this.#backlog.dropped - droppedBefore);
    if (this.#sending === undefined) this.#send();
  }

  finishUtterance(): void {
    if (!this.#closed) this.#finalize();
  }

  close(): void {
    if (this.#closed) return;
    this.#reportUsage();
    this.#end();
    // What it still says is for nobody: it is asked to close the books, not waited for.
    this.#socket.close('{"type":"CloseStream"}');
  }

  /** A listener may have closed the session meanwhile. */
  #tell(event: () => void): void {
    if (!this.#closed) event();
  }

  #connected(gapMs: number | null): void {
    const { logger, events } = this.#context;
    if (gapMs !== null) this.#backlog.rewindTo(Math.round(this.#turns.settledS * 16_000));
    this.#everConnected = true;
    this.#offsetS = toSeconds(this.#backlog.next);
    this.#keepAlive.start();
    const troubleMs = gapMs ?? this.#socket.lateMs;
    const lostMs = Math.round(toSeconds(this.#backlog.takeDropped()) * 1000);
    if (troubleMs !== null) {
      logger.info({ gapMs: Math.round(troubleMs), lostMs }, 'the recognizer reconnected');
      events.reconnected?.({ gapMs: troubleMs, lostMs });
    } else if (lostMs > 0)
      logger.warn({ lostMs }, 'the recognizer connected late: earlier audio was dropped');
    if (!this.#closed) this.#send();
  }

  /** Sends what waits, as fast as the network takes it. */
  #send(): void {
    this.#sending = undefined;
    if (!this.#socket.connected) return;
    while (this.#backlog.waiting > 0 && !this.#socket.isCongested) {
      const pcm = this.#backlog.take(MAX_MESSAGE_SAMPLES);
      this.#socket.send(toBytes(pcm));
      this.#sentSamples += pcm.length;
      this.#keepAlive.sent();
    }
    if (this.#backlog.waiting > 0)
      this.#sending = this.#context.clock.after(RETRY_SENDING_MS, () => this.#send());
    else if (this.#finalizeDue) this.#finalize();
    if (toSeconds(this.#sentSamples - this.#reportedSamples) >= USAGE_STEP_S) this.#reportUsage();
  }

  #finalize(): void {
    this.#turns.asked();
    this.#finalizeDue = !this.#socket.connected || this.#backlog.waiting > 0;
    if (this.#finalizeDue) return;
    this.#socket.send('{"type":"Finalize"}');
    const isOwed = toSeconds(this.#backlog.next) - this.#turns.settledS >= LEAST_TO_ANSWER_S;
    if (isOwed) this.#socket.expect(ANSWER_WAIT_MS, 'does not answer');
    this.#finalizing?.cancel();
    this.#finalizing = this.#context.clock.after(FINALIZE_WAIT_MS, () => {
      this.#tell(() => this.#context.events.unanswered?.());
      // That there was nothing to hear is for the answer to say, over the next connection if need be.
      if (!isOwed || this.#turns.isOpen) this.#settle();
    });
  }

  #settle(): void {
    this.#finalizing?.cancel();
    this.#finalizing = undefined;
    this.#turns.settle();
  }

  #received(text: string): void {
    const message = readDeepgramMessage(text);
    switch (message.type) {
      case 'results': {
        this.#turns.results(this.#toSessionTime(message));
        if (message.fromFinalize && this.#finalizing !== undefined) this.#settle();
        return;
      }
      case 'speech-started':
        this.#context.events.speechStarted?.((this.#offsetS + message.atS) * 1000);
        return;
      case 'utterance-end': {
        const { lastWordEndS } = message;
        this.#turns.utteranceEnd(lastWordEndS === undefined ? undefined : this.#offsetS + lastWordEndS);
        return;
      }
      case 'other':
        this.#noteUnknown(message.name);
    }
  }

  #toSessionTime<T extends Extract<DeepgramMessage, { type: 'results' }>>(result: T): T {
    const offsetS = this.#offsetS;
    return {
      ...result,
      startS: result.startS + offsetS,
      endS: result.endS + offsetS,
      words: result.words.map((word) => ({ ...word, startS: word.startS + offsetS })),
    };
  }

  #lost(): void {
    if (this.#finalizing !== undefined && !this.#turns.isOpen) {
      this.#finalizing.cancel();
      this.#finalizing = undefined;
      this.#finalizeDue = true;
    }
    this.#keepAlive.stop();
    this.#sending?.cancel();
    this.#sending = undefined;
  }

  #failed(error: ProviderError): void {
    if (this.#closed) return;
    this.#reportUsage();
    this.#end();
    this.#context.events.failed(error);
  }

  #reportUsage(): void {
    const seconds = toSeconds(this.#sentSamples - this.#reportedSamples);
    this.#reportedSamples = this.#sentSamples;
    if (seconds > 0) this.#context.events.usage?.({ seconds });
  }

  #end(): void {
    this.#closed = true;
    this.#keepAlive.stop();
    for (const timer of [this.#sending, this.#finalizing]) timer?.cancel();
  }
}
