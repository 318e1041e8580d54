// What the carrier charges for the time that a call is up: an estimate by its prices, until it tells its own figure.
import { addNanos, toNanos } from './money.js';

export interface LinePrice {
  readonly perMinute: number;
  readonly stepSeconds: number;
}

/** Time from the answer on, in milliseconds, as the carrier bills it. */
export class LineMeter {
  readonly #line: LinePrice;
  readonly #prices: readonly LinePrice[];

  /** `line`: of the direction of the call. `extras`: what is charged on top of it for the same time. */
  constructor(line: LinePrice, extras: readonly LinePrice[]) {
    this.#line = line;
    this.#prices = [line, ...extras];
  }

  /** Nano-dollars after `elapsedMs`. The first step counts from the first moment on. */
  nanos(elapsedMs: number): number {
    return this.#prices
      .map((price) => toNanos((billed(elapsedMs, price) / 60) * price.perMinute))
      .reduce(addNanos, 0);
  }

  /** Seconds that the line is charged for. */
  billedSeconds(elapsedMs: number): number {
    return billed(elapsedMs, this.#line);
  }

  /** When the next step begins, in milliseconds after the answer; undefined when no time costs anything. */
  nextStepMs(elapsedMs: number): number | undefined {
    const priced = this.#prices.filter(({ perMinute }) => perMinute > 0);
    if (priced.length === 0) return undefined;
    return Math.min(...priced.map((price) => billed(elapsedMs, price) * 1000));
  }
}

/** A moment that two steps share belongs to the first. */
function billed(elapsedMs: number, { stepSeconds }: LinePrice): number {
  return Math.max(1, Math.ceil(elapsedMs / (stepSeconds * 1000))) * stepSeconds;
}
