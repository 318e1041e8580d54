// The calls of a node that drains: each goes on at another node, with its next stream, which the load balancer gives to one that does not drain.
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { pause } from '../../base/pause.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import { CallMover } from '../../calls/resume/call-mover.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import { askStandings } from './requests.js';

/** A load balancer that looks every second has switched by then. */
const SWITCH_MS = 2000;
/** How often the others are asked whether one of them takes calls. */
const LOOK_MS = 1000;
/** One that takes longer to say so stands still. */
const STILL_MS = 300;

export interface LeavingCallsParts {
  readonly coordinator: Coordinator;
  readonly desk: Pick<CallDirectory, 'movableCalls' | 'liveCount'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LeavingCalls {
  readonly #parts: LeavingCallsParts;
  readonly #mover: CallMover;
  /** Another node takes calls; undefined while that is not known. */
  #isReceived: boolean | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(parts: LeavingCallsParts) {
    const { desk, clock, logger } = parts;
    this.#parts = parts;
    this.#mover = new CallMover({
      // One without a stream finishes here: no stream can bring it to another node.
      calls: () => desk.movableCalls().filter(({ wayOut }) => wayOut !== 'state'),
      isReceived: () => this.#isReceived === true,
      send: () => {},
      clock,
      logger,
    });
  }

  /** Idempotent. */
  start(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = this.#parts.clock.after(SWITCH_MS, () => this.#mover.start());
    void this.#watch();
  }

  /** No other node can have the call: it is over here, or with the drain. */
  keep(callId: string): void {
    this.#mover.keep(callId);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#mover.stop();
  }

  /** They are asked directly: a broker that is away says nothing of them. */
  async #watch(): Promise<void> {
    const { coordinator, desk, clock, logger } = this.#parts;
    while (!this.#isClosed) {
      const standings = await askStandings(coordinator, STILL_MS);
      const isReceived = standings.some(({ isDraining }) => !isDraining);
      if (isReceived !== this.#isReceived && desk.liveCount > 0) {
        const sentence = isReceived
          ? 'draining: calls go to other nodes'
          : 'draining: no other node takes calls, those that are up stay';
        logger.info({ calls: desk.liveCount }, sentence);
      }
      this.#isReceived = isReceived;
      await pause(clock, LOOK_MS);
    }
  }
}
