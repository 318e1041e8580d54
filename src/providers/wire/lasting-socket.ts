// A connection that outlives its sockets: one that drops is opened again, within a few seconds.
import type { Clock, Timer } from '../../base/clock.js';
import type { ProviderError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { VendorNames } from './access.js';
import { toProviderError, transientFailure, type WireFailure } from './failure.js';
import { RetryPlan } from './retry-plan.js';
import {
  type OpenVendorSocket,
  openVendorSocket,
  type SocketClose,
  type SocketTarget,
  type VendorSocket,
} from './vendor-socket.js';

export interface LastingSocketEvents {
  /** There is a connection. `gapMs` is how long there was none after the one before; null for the first. */
  connected(gapMs: number | null): void;
  text(text: string): void;
  /** A binary frame, where the vendor sends audio in such. @default taken as text */
  binary?(bytes: Uint8Array): void;
  /** The connection is gone since `agoMs`, and another one is being made. */
  lost(agoMs: number): void;
  /** A try did not work, or a connection ended `agoMs` ago that nobody meant to end, and another try follows. Before `lost`. */
  troubled?(error: ProviderError, trouble: { readonly agoMs: number }): void;
  /** A ping was answered. */
  pong?(): void;
  /** There will be no connection. Nothing follows. */
  failed(error: ProviderError): void;
}

export interface VendorTarget extends SocketTarget {
  /** For the sentences of errors. */
  readonly names: VendorNames;
}

export interface LastingSocketOptions {
  readonly target: VendorTarget;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: LastingSocketEvents;
  readonly readClose?: (close: SocketClose) => WireFailure | undefined;
  /** Time between two pings, in milliseconds. @default the socket's */
  readonly pingMs?: number | undefined;
  /** While it is true, tries go on until the time for them is over, and do not end with the third. @default never */
  readonly persists?: (() => boolean) | undefined;
  readonly open?: OpenVendorSocket | undefined;
}

/** Two tries, one after the other, fit into the time that a caller waits. */
const HANDSHAKE_TIMEOUT_MS = 2000;

/** A handshake that has less time than this is not begun. */
const SHORTEST_HANDSHAKE_MS = 250;

/** What a silence that was found late takes of the time for another connection: a second of it is always left. */
const LONGEST_SILENCE_MS = 3000;

/** A connection that lasted this long was a good one: what ends it is a new trouble. */
const GOOD_CONNECTION_MS = 1000;

/**
 * So many good connections lost in so short a time are one trouble after all. One over which something came, and that another one replaced at
 * once, is not counted.
 */
const MAX_LOSSES = 5;
const LOSSES_MS = 30_000;

/** Five seconds of the telephone's format, and less of any other. */
const CONGESTED_BYTES = 64 * 1024;

/** Nobody has waited for another connection that was there so soon. */
const AT_ONCE_MS = 1000;

/** So many losses in that time are a trouble, however soon each was mended: in between there is no time to be of use. */
const MAX_DROPS = 12;

/** A good connection that was lost. */
interface Loss {
  readonly at: number;
  readonly wasHeard: boolean;
  isMended: boolean;
}

/** Connects when it is made. */
export class LastingSocket {
  readonly #options: LastingSocketOptions;
  #socket: VendorSocket | undefined;
  #plan: RetryPlan;
  #connectedAt: number | undefined;
  #lostAt: number | undefined;
  /** Something has come over the connection. */
  #hasHeard = false;
  #uselessSince: number | undefined;
  #firstFailedAt: number | undefined;
  #lateMs: number | null = null;
  #losses: Loss[] = [];
  #timer: Timer | undefined;
  #expecting: Timer | undefined;
  #over = false;

  constructor(options: LastingSocketOptions) {
    this.#options = options;
    const { clock, persists } = options;
    this.#plan = new RetryPlan({ clock, startedAt: clock.now(), persists });
    this.#open();
  }

  get connected(): boolean {
    return this.#connectedAt !== undefined;
  }

  /** How long the first connection took from the first try that failed; null when none did. */
  get lateMs(): number | null {
    return this.#lateMs;
  }

  /** The network does not take what is sent: audio waits elsewhere. */
  get isCongested(): boolean {
    return (this.#socket?.bufferedBytes ?? 0) >= CONGESTED_BYTES;
  }

  /** Does nothing while there is no connection. */
  send(message: string | Uint8Array): void {
    if (this.#connectedAt !== undefined) this.#socket?.send(message);
  }

  /** Idempotent. No event follows. `lastMessage` is sent before if there is a connection. */
  close(lastMessage?: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#settled();
    this.#socket?.close(lastMessage);
    this.#connectedAt = undefined;
  }

  /** Something was asked of the vendor. Without any message within `waitMs` the connection is renewed, for `reason`. */
  expect(waitMs: number, reason: string): void {
    if (!this.connected || this.#expecting !== undefined) return;
    this.#expecting = this.#options.clock.after(waitMs, () => {
      this.#expecting = undefined;
      this.renew(reason);
    });
  }

  /**
   * The connection is of use from now on, which for some vendors is later than it is there. Returns how long none was, in milliseconds,
   * those included that were lost before they were of use; null for the first one.
   */
  serves(): number | null {
    const since = this.#uselessSince;
    this.#uselessSince = undefined;
    return since === undefined ? null : this.#options.clock.now() - since;
  }

  /** One more ping. Does nothing while there is no connection. */
  ping(): void {
    if (this.connected) this.#socket?.ping();
  }

  /**
   * Gives the connection up, for `reason`, and makes another one. Does nothing while there is none. `isPlanned`: nothing is wrong with
   * it, and nobody is warned. `lastedMs`: nobody is at its other end since then, in milliseconds.
   */
  renew(reason: string, options: { readonly isPlanned?: boolean; readonly lastedMs?: number } = {}): void {
    if (!this.connected) return;
    const { lastedMs } = options;
    if (lastedMs === undefined) this.#socket?.close();
    else this.#socket?.terminate();
    this.#ended({ ...transientFailure(reason), ...(lastedMs === undefined ? {} : { lastedMs }) }, options);
  }

  #open(): void {
    const { target, clock, readClose, pingMs, events, open = openVendorSocket } = this.#options;
    this.#socket = open({
      target,
      clock,
      // What a caller waits for is the whole of it, however the tries share the time.
      handshakeTimeoutMs: Math.min(HANDSHAKE_TIMEOUT_MS, this.#plan.leftMs),
      pingMs,
      ...(readClose === undefined ? {} : { readClose }),
      events: {
        opened: () => this.#opened(),
        text: (text) => {
          this.#heard();
          if (!this.#over) events.text(text);
        },
        ...(events.binary === undefined
          ? {}
          : {
              binary: (bytes: Uint8Array) => {
                this.#heard();
                if (!this.#over) events.binary?.(bytes);
              },
            }),
        ended: (failure) => this.#ended(failure),
        pong: () => {
          if (!this.#over) events.pong?.();
        },
      },
    });
  }

  #opened(): void {
    if (this.#over) return;
    const now = this.#options.clock.now();
    const gapMs = this.#lostAt === undefined ? null : now - this.#lostAt;
    this.#lateMs = this.#firstFailedAt === undefined ? null : now - this.#firstFailedAt;
    const loss = this.#losses.at(-1);
    if (loss?.wasHeard === true && now - loss.at <= AT_ONCE_MS) loss.isMended = true;
    this.#connectedAt = now;
    this.#hasHeard = false;
    this.#firstFailedAt = undefined;
    this.#options.events.connected(gapMs);
  }

  #heard(): void {
    this.#hasHeard = true;
    if (this.#expecting !== undefined) this.#settled();
  }

  /** What was expected has come, or will not over this connection. */
  #settled(): void {
    this.#expecting?.cancel();
    this.#expecting = undefined;
  }

  #ended(failure: WireFailure, { isPlanned = false }: { readonly isPlanned?: boolean } = {}): void {
    if (this.#over) return;
    this.#settled();
    const { clock, target, logger, events } = this.#options;
    const connectedAt = this.#connectedAt;
    this.#connectedAt = undefined;
    this.#socket = undefined;
    const error = toProviderError(target.names, failure);
    if (connectedAt !== undefined) {
      const lostAt = clock.now() - (failure.lastedMs ?? 0);
      // One that died before it could have been of use belongs to the gap before it.
      const wasOfUse = this.#hasHeard || lostAt - connectedAt >= GOOD_CONNECTION_MS;
      if (wasOfUse || this.#lostAt === undefined) this.#lostAt = lostAt;
      this.#uselessSince ??= lostAt;
      if (!isPlanned) logger.warn(describeError(error), 'the connection to a provider was lost');
    }
    const delayMs = this.#pauseAfter(failure, connectedAt);
    if (delayMs === null || delayMs + SHORTEST_HANDSHAKE_MS > this.#plan.leftMs) {
      this.#over = true;
      events.failed(error);
      return;
    }
    if (connectedAt === undefined && this.#lostAt === undefined) this.#firstFailedAt ??= clock.now();
    const agoMs = connectedAt === undefined ? 0 : (failure.lastedMs ?? 0);
    if (!isPlanned) events.troubled?.(error, { agoMs });
    if (this.#over) return;
    if (connectedAt !== undefined) events.lost(agoMs);
    if (this.#over) return;
    this.#timer = clock.after(delayMs, () => this.#open());
  }

  /** How long to wait before the next try, null when there is to be none. */
  #pauseAfter(failure: WireFailure, connectedAt: number | undefined): number | null {
    const { clock, persists } = this.#options;
    const now = clock.now();
    if (connectedAt === undefined || now - connectedAt < GOOD_CONNECTION_MS) return this.#plan.next(failure);
    const loss = { at: now, wasHeard: this.#hasHeard, isMended: false };
    this.#losses = [...this.#losses.filter(({ at }) => now - at < LOSSES_MS), loss];
    const openLosses = this.#losses.filter(({ isMended }) => !isMended).length;
    if (openLosses >= MAX_LOSSES || this.#losses.length >= MAX_DROPS) return null;
    const silentMs = Math.min(failure.lastedMs ?? 0, LONGEST_SILENCE_MS);
    this.#plan = new RetryPlan({ clock, startedAt: now - silentMs, throttledTries: 1, persists });
    // A connection that worked is reopened at once; the planned delays apply after that.
    return failure.kind === 'transient' ? 0 : this.#plan.next(failure);
  }
}
