// Moves the calls of this process to the one that takes its place: each when nobody speaks, and in any case soon.
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { REPLACING_MS } from '../streams/call-media.js';

/** How often it looks, in milliseconds. */
const LOOK_MS = 20;
/** A call in which somebody always speaks is moved after so long. */
const LONGEST_WAIT_MS = 5000;
/** A call whose stream did not come is tried again after this. */
const TRY_AGAIN_MS = 5000;
/** A call whose stream came here after all is tried again after this, and each time that happens again after twice as long. */
const RETURNED_MS = 1000;
/** Streams that are replaced at once: each costs both processes and the carrier a burst of work, and with more of them every caller waits longer. */
const AT_ONCE = 4;

/** A live call, as far as it matters to whoever moves it. */
export interface MovableCall {
  readonly callId: string;
  readonly carrierCallId: string | null;
  readonly wayOut: 'stream' | 'state' | undefined;
  readonly isQuiet: boolean;
  /** True while a stream is to come that is not there yet. */
  readonly awaitsStream: boolean;
  /** False while something is under way that this process alone knows the end of. */
  readonly mayLeave: boolean;
  renewStream(): void;
}

export interface CallMoverOptions {
  calls(): readonly MovableCall[];
  /** False while the other process stands still: no call is given to it then. */
  isReceived(): boolean;
  /** Gives the other process a call without a stream. Never throws. */
  send(call: MovableCall): void;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Move {
  /** From when on it waits for silence, on the clock. */
  from: number;
  /** Until then the other process may take it with its stream; undefined while none is asked for. */
  until: number | undefined;
  /** How often its stream came here. */
  returns: number;
}

export class CallMover {
  readonly #options: CallMoverOptions;
  readonly #moves = new Map<string, Move>();
  #timer: Timer | undefined;

  constructor(options: CallMoverOptions) {
    this.#options = options;
  }

  start(): void {
    this.#look();
  }

  /** True for a call whose next stream is to be the other process's. */
  isMoving(callId: string): boolean {
    const until = this.#moves.get(callId)?.until;
    if (until === undefined || this.#options.clock.now() >= until) return false;
    return this.#options.calls().find((call) => call.callId === callId)?.mayLeave === true;
  }

  /** The other process cannot have the call: it is not asked again. */
  keep(callId: string): void {
    this.#moves.set(callId, { from: Number.POSITIVE_INFINITY, until: undefined, returns: 0 });
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel();
    this.#moves.clear();
  }

  #look(): void {
    const { clock } = this.#options;
    const now = clock.now();
    const calls = this.#options.calls();
    const replacing = calls.filter(({ callId }) => (this.#moves.get(callId)?.until ?? now) > now);
    const isReceived = this.#options.isReceived();
    let room = isReceived ? AT_ONCE - replacing.length : 0;
    for (const call of calls) {
      const move = this.#moves.get(call.callId) ?? { from: now, until: undefined, returns: 0 };
      this.#moves.set(call.callId, move);
      if (move.until !== undefined && call.wayOut === 'stream' && !call.awaitsStream)
        this.#returned(call, move, now);
      else if (move.until !== undefined) this.#giveUp(call, move, now);
      else if (call.wayOut === 'state' && isReceived && now >= move.from) {
        move.until = now + REPLACING_MS;
        this.#options.send(call);
      } else if (call.wayOut === 'stream' && room > 0 && isReady(call, now - move.from)) {
        room -= 1;
        move.until = now + REPLACING_MS;
        call.renewStream();
      }
    }
    this.#timer = clock.after(LOOK_MS, () => this.#look());
  }

  /** Its stream came to this process, or the carrier refuses it one. Each try is a gap that the caller hears. */
  #returned({ callId }: MovableCall, move: Move, now: number): void {
    this.#keepUntil(now + RETURNED_MS * 2 ** move.returns, callId, move);
    move.returns += 1;
  }

  /** A call that was not taken in time. */
  #giveUp({ callId }: MovableCall, move: Move, now: number): void {
    if (move.until !== undefined && now >= move.until) this.#keepUntil(now + TRY_AGAIN_MS, callId, move);
  }

  #keepUntil(from: number, callId: string, move: Move): void {
    this.#options.logger.warn({ callId }, 'the call was not moved: it goes on here, and is tried again');
    move.until = undefined;
    move.from = from;
  }
}

function isReady({ isQuiet }: MovableCall, waitedMs: number): boolean {
  return waitedMs >= (isQuiet ? 0 : LONGEST_WAIT_MS);
}
