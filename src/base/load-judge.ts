// Whether the process keeps up with its calls, judged by how busy its event loop is, and how late that and the agents' frames are. Only
// sees what it is told.
import type { Logger } from './log.js';

/** A stall weighs by its length against this time: what is over for longer hardly counts. */
const MEMORY_MS = 2000;
/** No single sample weighs more, so that one stall, however long, is not yet a load. */
const HEAVIEST = 0.3;
/** Calls hear a stall that outlasts the pacer's lead of 400 ms; this is well before. */
const LATE_FRAME_MS = 100;
/** Shares of time lost, or of frames late: above one no further call is taken, below the other they are again. */
const TOO_MUCH = 0.5;
const LITTLE = 0.15;

/**
 * A loop is late only when it has no time left, and a call that was taken lasts minutes: whoever waits for lateness has taken too many.
 * So the share of time that the loop works counts, against a shorter time, as a crowd rings faster than calls end.
 */
const BUSY_MEMORY_MS = 1000;
const TOO_BUSY = 0.75;
const BUSY_LITTLE = 0.65;
/** What keeps a loop busy with fewer is not the number of calls: a process that is new to its work, or the application. */
const MIN_CALLS = 8;
/** A loop that is as busy without any call says nothing about calls. */
const BUSY_BY_OTHERS = 0.5;

export interface LoadJudgeOptions {
  readonly logger: Logger;
  /** Calls that are up. */
  readonly callsUp: () => number;
}

export class LoadJudge {
  readonly #logger: Logger;
  readonly #callsUp: () => number;
  #lostShare = 0;
  #lateShare = 0;
  #busyShare = 0;
  /** The same while no call was up. */
  #idleShare = 0;
  #frames = 0;
  #lateFrames = 0;
  #isOverloaded = false;

  constructor({ logger, callsUp }: LoadJudgeOptions) {
    this.#logger = logger;
    this.#callsUp = callsUp;
  }

  /** True while the calls that are up need all there is. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /** Forgets what was: the start of a server says nothing about calls. */
  reset(): void {
    this.#lostShare = 0;
    this.#lateShare = 0;
    this.#busyShare = 0;
    this.#idleShare = 0;
    this.#frames = 0;
    this.#lateFrames = 0;
    this.#isOverloaded = false;
  }

  /** A frame of an agent left so late. Fifty times a second for each call. */
  frameSent(lateMs: number): void {
    this.#frames += 1;
    if (lateMs > LATE_FRAME_MS) this.#lateFrames += 1;
  }

  /** The loop ran a timer of `dueMs` so late, and has worked for this share of the time (0 to 1). To be told some times a second. */
  lagged(lateMs: number, dueMs: number, busyShare: number): void {
    const passedMs = dueMs + lateMs;
    this.#busyShare += weightOf(passedMs, BUSY_MEMORY_MS) * (busyShare - this.#busyShare);
    const callsUp = this.#callsUp();
    if (callsUp === 0) this.#idleShare = this.#busyShare;
    const weight = weightOf(passedMs, MEMORY_MS);
    this.#lostShare += weight * (lateMs / passedMs - this.#lostShare);
    const lateShare = this.#frames === 0 ? 0 : this.#lateFrames / this.#frames;
    this.#lateShare += weight * (lateShare - this.#lateShare);
    this.#frames = 0;
    this.#lateFrames = 0;
    this.#decide(callsUp);
  }

  #decide(callsUp: number): void {
    const share = Math.max(this.#lostShare, this.#lateShare);
    const isCrowded = callsUp >= MIN_CALLS && this.#idleShare < BUSY_BY_OTHERS;
    const busyShare = isCrowded ? this.#busyShare : 0;
    if (!this.#isOverloaded && (share > TOO_MUCH || busyShare > TOO_BUSY)) {
      this.#isOverloaded = true;
      const fields = {
        callsUp,
        busyShare: round(this.#busyShare),
        lostShare: round(this.#lostShare),
        lateFrameShare: round(this.#lateShare),
      };
      this.#logger.warn(fields, 'overloaded: refusing new calls until live calls have room again');
    } else if (this.#isOverloaded && share < LITTLE && busyShare < BUSY_LITTLE) {
      this.#isOverloaded = false;
      this.#logger.info({}, 'no longer overloaded: accepting calls again');
    }
  }
}

/** How much a sample over that time counts beside what was before. */
function weightOf(passedMs: number, memoryMs: number): number {
  return Math.min(HEAVIEST, 1 - Math.exp(-passedMs / memoryMs));
}

function round(share: number): number {
  return Math.round(share * 100) / 100;
}
