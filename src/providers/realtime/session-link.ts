// What every session has in common: its connections, one after the other, each of use once the service has taken its settings; the
// caller's audio on its way there; and what of it the engine is told. What is said on them is the vendor's affair.
import { isSameFormat } from '../../audio/format.js';
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import { asBuffer } from '../../audio/pcm-bytes.js';
import type { Timer } from '../../base/clock.js';
import type { RealtimeContext, RealtimeEvents, RealtimeFormats } from '../realtime-model.js';
import { CallerOutbox } from '../wire/caller-outbox.js';
import { toProviderError, type WireFailure } from '../wire/failure.js';
import type { Json } from '../wire/json.js';
import { LastingSocket, type LastingSocketOptions } from '../wire/lasting-socket.js';
import { SessionRenewal } from '../wire/session-renewal.js';
import { createUnknownLog } from '../wire/unknown-messages.js';

export interface LinkProtocol {
  /** There is a connection, which has to be told the settings. */
  connected(): void;
  /** Taken out of here for good: it is called for every piece of audio. */
  readonly text: (text: string) => void;
  /** A ping was answered. */
  pong?(): void;
  /** The settings are taken, and nobody is told yet. `isFirst`: on no connection before. */
  ready(connection: { readonly isFirst: boolean }): void;
  /** The engine was told that the connection is ready, and has given what it had kept. */
  opened?(): void;
  /** The connection is gone, and another one is being made. `wasReady`: the settings were taken on it. Comes before the engine is told. */
  lost(connection: { readonly wasReady: boolean }): void;
  /** There will be no other one. @default the session fails */
  failed?(error: Error): void;
}

export interface SessionLinkOptions
  extends Pick<LastingSocketOptions, 'target' | 'open' | 'readClose' | 'pingMs'> {
  readonly context: RealtimeContext;
  readonly events: Required<RealtimeEvents>;
  readonly protocol: LinkProtocol;
  /** The message that carries audio of the caller. */
  readonly toAudio: (base64: string) => string;
  /** False while audio of the caller has to wait. @default it never has to */
  readonly takesAudio?: () => boolean;
  /** What becomes of a connection whose settings are not answered for so long. @default they are waited for */
  readonly unanswered?: { readonly waitMs: number; readonly act: () => void };
  /** True while nobody speaks: the time to change a session that is nearly over. @default it is never known to be */
  readonly isQuiet?: () => boolean;
}

/** Connects when it is made. */
export class SessionLink {
  readonly #options: SessionLinkOptions;
  readonly #socket: LastingSocket;
  readonly #renewal: SessionRenewal;
  /** A message of this name is not used. */
  readonly note: (name: string) => void;
  /** Those of the session, as far as it has told; else those that it is asked for. Written here alone. */
  formats: RealtimeFormats;
  /** The caller's audio. Written here alone. */
  outbox: CallerOutbox;
  #timer: Timer | undefined;
  #isReady = false;
  #wasReady = false;
  #isPlanned = false;
  #isClosed = false;

  constructor(options: SessionLinkOptions) {
    this.#options = options;
    const { context, target, open, readClose, pingMs, isQuiet, protocol, events } = options;
    const { clock, logger } = context;
    this.note = createUnknownLog({ logger });
    this.formats = context.formats;
    this.outbox = this.#createOutbox();
    this.#renewal = new SessionRenewal({
      clock,
      isQuiet: () => this.#isReady && isQuiet?.() === true,
      renew: () => {
        this.#isPlanned = true;
        this.#socket.renew('wants a new session soon', { isPlanned: true });
      },
    });
    this.#socket = new LastingSocket({
      target,
      clock,
      logger,
      open,
      pingMs,
      // A call has one model at a time, whose engine knows when somebody else has to go on.
      persists: () => true,
      ...(readClose === undefined ? {} : { readClose }),
      events: {
        connected: () => this.#connected(),
        text: protocol.text,
        pong: () => protocol.pong?.(),
        lost: (agoMs) => this.#lost(agoMs),
        // It takes longer than a silence does.
        troubled: () => {
          this.#isPlanned = false;
        },
        failed: (error) => (protocol.failed ?? events.failed)(error),
      },
    });
  }

  get isConnected(): boolean {
    return this.#socket.connected;
  }

  /** The settings are taken. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** They were, on this connection or one before. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** When the session has to be changed. */
  get renewal(): SessionRenewal {
    return this.#renewal;
  }

  /** Does nothing while there is no connection. */
  send(message: Json): void {
    this.#socket.send(JSON.stringify(message));
  }

  ping(): void {
    this.#socket.ping();
  }

  /** What follows is in these formats. */
  setFormats(formats: RealtimeFormats): void {
    const before = this.formats;
    this.formats = formats;
    const hasSameInput = isSameFormat(before.input, formats.input);
    if (!hasSameInput) {
      // What waits is in the format before.
      this.outbox.reportLoss(this.#options.context);
      this.outbox = this.#createOutbox();
    }
    if (this.#wasReady && !(hasSameInput && isSameFormat(before.output, formats.output)))
      this.#options.events.formatsChanged(formats);
  }

  /** The service has taken the settings. */
  ready(): void {
    if (this.#isReady || this.#isClosed) return;
    this.#timer?.cancel();
    const { protocol, events } = this.#options;
    const isFirst = !this.#wasReady;
    const isPlanned = this.#isPlanned;
    this.#isReady = this.#wasReady = true;
    this.#isPlanned = false;
    const gapMs = this.#socket.serves() ?? 0;
    protocol.ready({ isFirst });
    // The engine gives what it has kept as soon as it is told.
    this.outbox.restart();
    const hearsAgain = this.outbox.unheard.length > 0;
    if (isFirst) events.ready(this.formats);
    else events.reconnected({ gapMs, isPlanned, hearsAgain });
    protocol.opened?.();
    this.outbox.flush();
  }

  /** Gives the session up, for `reason`, and makes another one. */
  renew(reason: string, options: { readonly lastedMs?: number } = {}): void {
    this.#socket.renew(reason, options);
  }

  /** The service does what cannot be gone on with. */
  fail(failure: WireFailure): void {
    this.close();
    this.#options.events.failed(toProviderError(this.#options.target.names, failure));
  }

  /** Idempotent. No event follows. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#renewal.close();
    this.#socket.close();
    this.outbox.reportLoss(this.#options.context);
  }

  #connected(): void {
    const { context, protocol, unanswered } = this.#options;
    protocol.connected();
    if (unanswered !== undefined)
      this.#timer = context.clock.after(unanswered.waitMs, () => unanswered.act());
  }

  #lost(agoMs: number): void {
    this.#timer?.cancel();
    this.#renewal.close();
    const wasReady = this.#isReady;
    this.#isReady = false;
    // A connection that is changed in a silence leaves nothing unheard.
    if (this.#isPlanned) this.outbox.settle(this.outbox.sentMs);
    this.#options.protocol.lost({ wasReady });
    if (wasReady) this.#options.events.lost({ agoMs });
  }

  #createOutbox(): CallerOutbox {
    const { input: format } = this.formats;
    return new CallerOutbox({ format, keptMs: KEPT_AUDIO_MS, send: (chunk) => this.#sendAudio(chunk) });
  }

  /** Returns false when it cannot be taken now. */
  #sendAudio(chunk: Uint8Array): boolean {
    const { toAudio, takesAudio } = this.#options;
    if (!this.#isReady || this.#socket.isCongested || takesAudio?.() === false) return false;
    this.#socket.send(toAudio(asBuffer(chunk).toString('base64')));
    return true;
  }
}
