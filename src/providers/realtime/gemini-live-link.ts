// The connections of one call, one after the other: each set up first, and resumed where the service still knows the session.
import type { Timer } from '../../base/clock.js';
import type { RealtimeContext } from '../realtime-model.js';
import { transientFailure } from '../wire/failure.js';
import type { Json } from '../wire/json.js';
import { LastingSocket, type VendorTarget } from '../wire/lasting-socket.js';
import { SessionRenewal } from '../wire/session-renewal.js';
import type { OpenVendorSocket } from '../wire/vendor-socket.js';
import { readClose } from './gemini-live-closes.js';
import { GeminiLiveDebt } from './gemini-live-debt.js';
import { readServerMessage, type ServerPiece } from './gemini-live-messages.js';
import { type LiveSettings, toSetup } from './gemini-live-settings.js';

/** A connection on which the settings are taken. */
export interface ReadyLink {
  /** How long there was none; null for the first. */
  readonly gapMs: number | null;
  /** The service still knows the session. */
  readonly isResumed: boolean;
  /** It takes the place of one that was nearly over, in a silence, at the first try. */
  readonly isPlanned: boolean;
}

export interface GeminiLiveLinkEvents {
  ready(connection: ReadyLink): void;
  /** What is not of the connection itself. */
  received(piece: ServerPiece): void;
  /**
   * A connection on which the settings were taken is gone since `agoMs`. `isPlanned`: it was given up, in a silence. `isSilent`: it was
   * given up because nothing came that was owed.
   */
  lost(how: { readonly agoMs: number; readonly isPlanned: boolean; readonly isSilent: boolean }): void;
  failed(error: Error): void;
}

export interface GeminiLiveLinkOptions {
  readonly context: RealtimeContext;
  readonly target: VendorTarget;
  readonly settings: LiveSettings;
  readonly open?: OpenVendorSocket | undefined;
  /** True while nobody speaks: the time to change a connection that is nearly over. */
  readonly isQuiet: () => boolean;
  readonly events: GeminiLiveLinkEvents;
}

/** A connection on which the settings are not answered is of no use. */
const SETUP_WAIT_MS = 3000;

/** The service takes up to half a minute to answer a ping: what shows no sign of life for three of these is gone, also while nobody waits. */
const PING_MS = 20_000;

/** Connects when it is made. */
export class GeminiLiveLink {
  readonly #options: GeminiLiveLinkOptions;
  readonly #socket: LastingSocket;
  readonly #renewal: SessionRenewal;
  readonly #debt: GeminiLiveDebt;
  /** What the session can be resumed with, as long as nothing was said since. */
  #handle: string | undefined;
  /** What this connection was resumed with. */
  #usedHandle: string | undefined;
  #timer: Timer | undefined;
  #isReady = false;
  #isPlanned = false;
  #isSilent = false;

  constructor(options: GeminiLiveLinkOptions) {
    this.#options = options;
    const { context, target, open, isQuiet, events } = options;
    const { clock, logger } = context;
    this.#debt = new GeminiLiveDebt({
      clock,
      ping: () => this.#socket.ping(),
      unpaid: (lastedMs) => {
        this.#isSilent = true;
        this.#socket.renew('said nothing while a caller waited', { lastedMs });
      },
    });
    this.#renewal = new SessionRenewal({
      clock,
      isQuiet: () => this.#isReady && isQuiet(),
      renew: () => {
        this.#isPlanned = true;
        this.#socket.renew('wants a new connection soon', { isPlanned: true });
      },
    });
    this.#socket = new LastingSocket({
      target,
      clock,
      logger,
      pingMs: PING_MS,
      open,
      // A handle can be refused for reasons of its own: the next connection is told the conversation anew.
      readClose: (close) =>
        this.#usedHandle !== undefined && !this.#isReady
          ? transientFailure(`did not resume the session (${close.code})`)
          : readClose(close),
      events: {
        connected: () => this.#connected(),
        text: (text) => {
          this.#debt.alive();
          for (const piece of readServerMessage(text)) this.#received(piece);
        },
        pong: () => this.#debt.alive(),
        lost: (agoMs) => this.#lost(agoMs),
        // It takes longer than a silence does.
        troubled: () => {
          this.#isPlanned = false;
        },
        failed: (error) => events.failed(error),
      },
    });
  }

  /** The settings are taken. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  /** What changes the conversation makes the handle worthless, unless it is caller audio. */
  send(message: Json): void {
    this.changed();
    this.#socket.send(JSON.stringify(message));
  }

  sendAudio(message: string): void {
    this.#socket.send(message);
  }

  /** With every piece of the caller's audio. `isOwed`: they wait for something, and have to be answered before they give up. */
  watch({ isOwed }: { isOwed: boolean }): void {
    if (this.#isReady) this.#debt.watch({ isOwed });
  }

  /** The conversation goes on: what was told to resume it with is of a state before. */
  changed(): void {
    this.#handle = undefined;
  }

  /** Idempotent. No event follows. */
  close(): void {
    this.#timer?.cancel();
    this.#renewal.close();
    this.#socket.close();
  }

  #connected(): void {
    const { context, settings } = this.#options;
    this.#usedHandle = this.#handle;
    this.send(toSetup(settings, context, this.#usedHandle));
    this.#timer = context.clock.after(SETUP_WAIT_MS, () =>
      this.#socket.renew('did not take the settings in time'),
    );
  }

  #received(piece: ServerPiece): void {
    if (piece.type === 'setup-complete') this.#ready();
    else if (piece.type === 'resumption') this.#handle = piece.handle === '' ? undefined : piece.handle;
    else if (piece.type === 'go-away') this.#renewal.plan(0);
    else if (this.#isReady) this.#options.events.received(piece);
  }

  #ready(): void {
    if (this.#isReady) return;
    this.#timer?.cancel();
    this.#isReady = true;
    this.#debt.alive();
    const isPlanned = this.#isPlanned;
    this.#isPlanned = false;
    const gapMs = this.#socket.serves();
    this.#options.events.ready({ gapMs, isResumed: this.#usedHandle !== undefined, isPlanned });
  }

  #lost(agoMs: number): void {
    this.#timer?.cancel();
    this.#renewal.close();
    const wasUsed = this.#isReady;
    this.#isReady = false;
    const isSilent = this.#isSilent;
    this.#isSilent = false;
    if (wasUsed) this.#options.events.lost({ agoMs, isPlanned: this.#isPlanned, isSilent });
  }
}
