// One call's recognition at AssemblyAI: audio out, turns in, over as many sockets as it takes.
import type { Timer } from '../../../base/clock.js';
import type { ProviderError } from '../../../base/errors.js';
import type { SpeechToTextContext, SpeechToTextSession } from '../../speech-to-text.js';
import { KeepAlive } from '../../wire/keep-alive.js';
import { LastingSocket, type VendorTarget } from '../../wire/lasting-socket.js';
import { toBytes } from '../../../audio/pcm-bytes.js';
import { createUnknownLog } from '../../wire/unknown-messages.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { PacedAudio } from './audio.js';
import { type AssemblyAITurn, readAssemblyAIClose, readAssemblyAIMessage } from './messages.js';

export interface AssemblyAISessionOptions {
  readonly target: VendorTarget;
  readonly ownsTurnTaking: boolean;
  readonly open?: OpenVendorSocket | undefined;
}

const RETRY_SENDING_MS = 20;

const KEEP_ALIVE_MS = 15_000;

/** A turn whose end was asked for is told within this, if there is one. */
const END_WAIT_MS = 300;

/** Time between two reports of usage. */
const USAGE_EVERY_MS = 10_000;

/** Messages that are of no use here. */
const UNUSED = ['Heartbeat', 'Silence', 'Warning', 'SpeakerRevision', 'Termination'];

export class AssemblyAISession implements SpeechToTextSession {
  readonly #context: SpeechToTextContext;
  readonly #ownsTurnTaking: boolean;
  readonly #audio: PacedAudio;
  readonly #socket: LastingSocket;
  #gapMs: number | null = null;
  #isReady = false;
  #open: Pick<AssemblyAITurn, 'order' | 'text' | 'wordsEndMs'> | undefined;
  #endedOrder = -1;
  /** The text of the last turn was told before the vendor ended it. */
  #owesEnd = false;
  #sending: Timer | undefined;
  #ending: Timer | undefined;
  /** Asked to end the turn while audio still waited to be sent. */
  #endDue = false;
  readonly #keepAlive: KeepAlive;
  #metering: Timer | undefined;
  #meteredAt: number | undefined;
  readonly #noteUnknown: (name: string) => void;
  #closed = false;

  constructor(context: SpeechToTextContext, options: AssemblyAISessionOptions) {
    const { clock, logger, events, keptMs } = context;
    this.#context = context;
    this.#ownsTurnTaking = options.ownsTurnTaking;
    this.#noteUnknown = createUnknownLog({ logger, known: UNUSED });
    this.#audio = new PacedAudio(clock, { keptMs });
    this.#socket = new LastingSocket({
      target: options.target,
      clock,
      logger,
      readClose: readAssemblyAIClose,
      open: options.open,
      persists: context.isLast,
      events: {
        connected: (gapMs) => this.#connected(gapMs),
        text: (text) => this.#received(text),
        lost: () => this.#broken(),
        troubled: (error, trouble) => {
          this.#endAsked();
          events.troubled?.(error, trouble);
        },
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
    this.#audio.push(frame);
    if (this.#sending === undefined) this.#send();
  }

  finishUtterance(): void {
    if (this.#closed) return;
    this.#endDue = !this.#isReady || this.#audio.isWaiting;
    if (!this.#endDue) this.#forceEnd();
  }

  close(): void {
    if (this.#closed) return;
    this.#end();
    // Sessions are paid for while they are open: this one is over.
    this.#socket.close('{"type":"Terminate"}');
  }

  #connected(gapMs: number | null): void {
    this.#gapMs = gapMs;
    this.#meteredAt = this.#context.clock.now();
    this.#meter();
  }

  /** Audio may be sent only from here on. */
  #began(): void {
    if (this.#isReady) return;
    const { logger, events } = this.#context;
    const gapMs = this.#gapMs ?? this.#socket.lateMs;
    const lostMs = this.#audio.begin();
    this.#isReady = true;
    this.#endedOrder = -1;
    this.#keepAlive.start();
    if (gapMs !== null) {
      logger.info({ gapMs: Math.round(gapMs), lostMs }, 'the recognizer reconnected');
      events.reconnected?.({ gapMs, lostMs });
    } else if (lostMs > 0)
      logger.warn({ lostMs }, 'the recognizer connected late: earlier audio was dropped');
    this.#send();
  }

  /** Sends what may be sent now. */
  #send(): void {
    this.#sending = undefined;
    if (!this.#isReady || this.#closed) return;
    const isBlocked = () => this.#socket.isCongested;
    while (!isBlocked()) {
      const message = this.#audio.next();
      if (message === undefined) break;
      this.#socket.send(toBytes(message));
      this.#keepAlive.sent();
    }
    if (this.#audio.isWaiting) {
      const delayMs = isBlocked() ? RETRY_SENDING_MS : this.#audio.dueInMs;
      this.#sending = this.#context.clock.after(delayMs, () => this.#send());
    } else if (this.#endDue) this.#forceEnd();
  }

  #forceEnd(): void {
    this.#endDue = false;
    this.#socket.send('{"type":"ForceEndpoint"}');
    this.#ending?.cancel();
    this.#ending = this.#context.clock.after(END_WAIT_MS, () => {
      this.#ending = undefined;
      this.#context.events.unanswered?.();
      if (!this.#closed) this.#takeOpen();
    });
  }

  /** No end came for what was asked to end: an open turn is taken as it is. */
  #takeOpen(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) {
      this.#endedOrder = open.order;
      this.#owesEnd = true;
      this.#settle(open.wordsEndMs);
    }
    this.#context.events.final(open?.text ?? '');
  }

  /** Audio up to here has its final text, and is not sent again. */
  #settle(wordsEndMs: number | undefined): void {
    if (wordsEndMs === undefined) return;
    this.#audio.settle(wordsEndMs);
    this.#context.events.settled?.(this.#audio.toSessionMs(wordsEndMs));
  }

  /** What was asked to end does not wait for another connection, which would hear it again no faster than it was spoken. */
  #endAsked(): void {
    const isEnding = this.#ending !== undefined;
    this.#ending?.cancel();
    this.#ending = undefined;
    if (isEnding && this.#open !== undefined && !this.#closed) this.#takeOpen();
    else this.#endDue ||= isEnding;
  }

  #broken(): void {
    this.#endAsked();
    this.#open = undefined;
    this.#owesEnd = false;
    this.#lost();
  }

  #received(text: string): void {
    if (this.#closed) return;
    const message = readAssemblyAIMessage(text);
    switch (message.type) {
      case 'begin':
        this.#began();
        return;
      case 'speech-started':
        this.#context.events.speechStarted?.(this.#audio.toSessionMs(message.atMs));
        return;
      case 'turn':
        this.#turn(message);
        return;
      case 'error':
        // The close that follows tells what it means.
        this.#context.logger.warn({ code: message.code }, 'the recognizer reported a problem');
        return;
      case 'other':
        this.#noteUnknown(message.name);
    }
  }

  #turn({ order, text, isEnd, wordsEndMs }: AssemblyAITurn): void {
    const { events } = this.#context;
    if (isEnd) this.#settle(wordsEndMs);
    // A turn may end twice, the second time with its text written out: what was told as final stays.
    if (order <= this.#endedOrder) {
      if (isEnd && this.#owesEnd) this.#turnEnded();
      return;
    }
    if (!isEnd) {
      if (text === '') return;
      this.#open = { order, text, wordsEndMs };
      events.partial(text);
      return;
    }
    const wasOpen = this.#open !== undefined;
    const wasAsked = this.#ending !== undefined;
    this.#ending?.cancel();
    this.#ending = undefined;
    this.#open = undefined;
    this.#endedOrder = order;
    if (text !== '' || wasOpen || wasAsked) events.final(text);
    if (text !== '') this.#turnEnded();
  }

  #turnEnded(): void {
    this.#owesEnd = false;
    if (this.#ownsTurnTaking && !this.#closed) this.#context.events.turnEnded?.();
  }

  #meter(): void {
    this.#metering = this.#context.clock.after(USAGE_EVERY_MS, () => {
      this.#reportUsage();
      this.#meter();
    });
  }

  /** The time for which a socket was open since the last report. */
  #reportUsage(): void {
    if (this.#meteredAt === undefined) return;
    const now = this.#context.clock.now();
    const seconds = (now - this.#meteredAt) / 1000;
    this.#meteredAt = now;
    if (seconds > 0) this.#context.events.usage?.({ seconds });
  }

  #lost(): void {
    this.#reportUsage();
    this.#meteredAt = undefined;
    this.#isReady = false;
    this.#audio.pause();
    this.#keepAlive.stop();
    for (const timer of [this.#sending, this.#metering]) timer?.cancel();
    this.#sending = undefined;
  }

  #failed(error: ProviderError): void {
    if (this.#closed) return;
    this.#end();
    this.#context.events.failed(error);
  }

  #end(): void {
    this.#lost();
    this.#ending?.cancel();
    this.#closed = true;
  }
}
