// What the carrier charges for the time that a call is up: an estimate by one of its prices, until it tells its own figure.
import { toNanos } from './money.js';

export interface LinePrice {
  readonly perMinute: number;
  readonly stepSeconds: number;
}

/** Begun seconds, for a line that has no price: how the carrier counts is then not known either. */
export function begunSeconds(elapsedMs: number): number {
  return Math.max(1, Math.ceil(elapsedMs / 1000));
}

/** Time from the answer on, in milliseconds, as the carrier bills it. */
export class LineMeter {
  readonly price: LinePrice;

  constructor(price: LinePrice) {
    this.price = price;
  }

  /** Nano-dollars after `elapsedMs`. The first step counts from the first moment on. */
  nanos(elapsedMs: number): number {
    return toNanos((this.billedSeconds(elapsedMs) / 60) * this.price.perMinute);
  }

  /** Seconds that are charged for. A moment that two steps share belongs to the first. */
  billedSeconds(elapsedMs: number): number {
    const { stepSeconds } = this.price;
    return Math.max(1, Math.ceil(elapsedMs / (stepSeconds * 1000))) * stepSeconds;
  }

  /** When the next step begins, in milliseconds after the answer; never where time costs nothing. */
  nextStepMs(elapsedMs: number): number {
    return this.price.perMinute > 0 ? this.billedSeconds(elapsedMs) * 1000 : Number.POSITIVE_INFINITY;
  }
}
